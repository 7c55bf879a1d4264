//! Counts the assertions of a source file.
//!
//! An assertion is a form that fails a test: an `assert` statement, a call or macro whose name starts with `assert`,
//! `pytest.raises`, `t.Fatal`, and their like. Comments and strings hold none. One that
//! can never fail (`assert True`, `assert x or True`, `assert_eq!(x, x)`) is not counted, so that it
//! cannot stand in for one that was taken away; neither is `debug_assert!`, which some builds leave out.

use std::ops::Range;

use crate::source::{Language, Source, Tight, Word};
use crate::vacuous::{always_holds, call_always_holds, is_pure};

/// How far the end of an `assert` statement is looked for.
const STATEMENT_BYTES: usize = 400;
/// A source file as the forms of its language see it.
struct Forms<'a> {
    source: &'a Source<'a>,
    tight: &'a Tight,
}

/// How many assertions the source holds.
pub(crate) fn count(language: Language, source: &Source<'_>) -> u32 {
    let tight = Tight::of(source);
    let forms = Forms { source, tight: &tight };
    let asserts = |word: &Word<'_>| match language {
        Language::Python => forms.python(word),
        // Their trees are read.
        Language::JavaScript { .. } | Language::Rust | Language::Go => false,
        Language::Java => forms.java(word),
    };
    u32::try_from(tight.words().filter(asserts).count()).unwrap_or(u32::MAX)
}

impl Forms<'_> {
    fn python(&self, word: &Word<'_>) -> bool {
        match word.text {
            "assert" => !always_holds(self.source, statement(&self.source.code, self.offset(word))),
            "raises" | "warns" | "deprecated_call" => word.is_called() && !is_defined(word, &["def"]),
            "fail" => word.is_called() && matches!(word.owner(), Some("self" | "cls" | "pytest")),
            _ => self.is_named_assertion(word) && !is_defined(word, &["def", "import", "class"]),
        }
    }

    fn java(&self, word: &Word<'_>) -> bool {
        match word.text {
            "assert" if !word.is_called() => word.after.starts_with([' ', '!']),
            "verify" | "expectThrows" | "expectError" => word.is_called(),
            "fail" => word.is_called() && matches!(word.owner(), None | Some("Assert" | "Assertions")),
            _ => self.is_named_assertion(word) && !is_defined(word, &["void", "fun"]),
        }
    }

    /// A call whose name starts with `assert`, in either case of its first letter.
    fn is_named_assertion(&self, word: &Word<'_>) -> bool {
        let name = word.text.trim_start_matches('_');
        let named = name.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("assert"));
        named && word.is_called() && self.can_fail(word)
    }

    /// Whether the call of the word, or of the method that follows it, can fail.
    fn can_fail(&self, word: &Word<'_>) -> bool {
        let Some(open) = word.after.find(['(', '[', '{']) else { return false };
        let method =
            word.after[..open].trim_end_matches('!').rsplit('.').next().filter(|name| !name.is_empty());
        let name = method.unwrap_or(word.text);
        if !is_pure(name, word.owner()) {
            return true;
        }
        let start = word.position() + word.text.len() + open + 1;
        let range = self.tight.offset(start)..self.tight.offset(start + word.arguments().len());
        range.start > range.end || !call_always_holds(self.source, name, range)
    }

    fn offset(&self, word: &Word<'_>) -> usize {
        self.tight.offset(word.position())
    }
}

/// Whether the word is declared here, by a keyword before it.
fn is_defined(word: &Word<'_>, keywords: &[&str]) -> bool {
    word.before
        .strip_suffix(' ')
        .is_some_and(|before| keywords.iter().any(|keyword| before.ends_with(keyword)))
}

/// What the `assert` at the offset asserts: the rest of its logical line, without its message.
fn statement(code: &str, offset: usize) -> Range<usize> {
    let start = offset + "assert".len();
    let mut depth = 0_usize;
    let mut escaped = false;
    let end = code.floor_char_boundary(start + STATEMENT_BYTES);
    for (at, byte) in (start..).zip(code[start..end].bytes()) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'\n' if depth == 0 && !escaped => return start..at,
            b',' | b';' if depth == 0 => return start..at,
            _ => {}
        }
        escaped = byte == b'\\';
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(language: Language, text: &str) -> u32 {
        count(language, &Source::read(language, text))
    }

    #[test]
    fn python_forms_are_counted_and_look_alikes_are_not() {
        for (text, number) in [
            ("assert x == 1\n    assert(y)", 2),
            ("assert (\n    total(\n  x) == 3)", 1),
            ("self.assertEqual(a, 1); self.assert_(b); cls.assertTrue(c)", 3),
            ("with pytest.raises(ValueError):\n    f()", 1),
            (
                "mock.assert_called_once_with(3)\nself.assertOptionError('x')\nnp.testing.assert_allclose(a, b)",
                3,
            ),
            ("pytest.fail('no')\nself.fail('no')", 2),
            ("# assert x\n'assert y'\n\"\"\"\nassert z\n\"\"\"\nx = 'a' # assert", 0),
            (
                "assert x or True\nassert f(x) == f(x)\nassert True\nassert 1 == 1, x\nassert 'a'\nself.assertTrue(True)\nassert not None",
                0,
            ),
            ("def assert_total(x):\n    pass\nfrom a import assert_total\nx.assertion = 1\nreassert(x)", 0),
        ] {
            assert_eq!(counted(Language::Python, text), number, "{text}");
        }
    }

    #[test]
    fn forms_of_the_other_languages_are_counted() {
        for (language, text, number) in [
            (
                Language::Java,
                "assertEquals(1, f()); assertThat(x).isTrue(); assert x > 1; Assert.fail(\"x\");",
                4,
            ),
            (Language::Java, "void assertTotal(int x) {} String s = \"\"\"\nassertTrue(x)\n\"\"\";", 0),
        ] {
            assert_eq!(counted(language, text), number, "{text}");
        }
    }
}
