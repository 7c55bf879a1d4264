//! Calls, decorators and settings that keep a test from running.

use super::anchor;
use super::found::{Marker, Place};
use crate::source::{Language, Source, Tight, Word};

/// How far back the start of a statement is looked for.
const NEAR_BYTES: usize = 500;

/// Whether any marker may stand in a source at all. Each is one of these words or begins or ends with it, however it is spaced.
pub(super) fn may_stand(language: Language, source: &Source<'_>) -> bool {
    let words: &[&str] = match language {
        Language::Python => {
            &["skip", "Skip", "xfail", "expectedFailure", "__test__", "collect_ignore", "exit"]
        }
        Language::Rust => &["ignore", "cfg", "should_panic", "exit"],
        Language::Go => &["Skip", "Exit"],
        Language::Java => &["assum", "exit", "halt", "Disabled", "Ignore", "EnabledIf"],
        // Read from their trees.
        Language::JavaScript { .. } => &[],
    };
    words.iter().any(|word| source.code.contains(word))
}

pub(super) fn find(language: Language, tight: &Tight, source: &Source<'_>, place: Place) -> Vec<Marker> {
    let found = |word: &Word<'_>| match language {
        Language::Python => python(word, tight, source, place),
        // Read from their trees.
        Language::JavaScript { .. } => None,
        Language::Rust => exits(word, place, &[("process", "exit", "process::exit")]),
        Language::Go => go(word, place),
        Language::Java => java(word, place),
    };
    tight
        .words()
        .filter_map(|word| {
            let name = found(&word)?;
            let offset = tight.offset(word.position());
            let anchor = match language {
                Language::Python if is_decorator(source, offset) => {
                    anchor::next_item(language, source, offset)
                }
                _ => String::new(),
            };
            Some(Marker { name, offset, anchor, fits_new_tests: name == "xfail" })
        })
        .collect()
}

fn is_decorator(source: &Source<'_>, offset: usize) -> bool {
    source.line_text(offset).starts_with('@')
}

fn python(word: &Word<'_>, tight: &Tight, source: &Source<'_>, place: Place) -> Option<&'static str> {
    let name = python_name(word, place)?;
    let is_declared = word.before.ends_with("def ") || is_imported(source, tight.offset(word.position()));
    (!is_declared).then_some(name)
}

fn python_name(word: &Word<'_>, place: Place) -> Option<&'static str> {
    let member = word.before.ends_with('.');
    let of_runner = matches!(word.owner(), Some("mark" | "pytest" | "unittest" | "case" | "nose"));
    let decorates = word.before.ends_with('@');
    // In a test file whatever is a member of that name, or is called by it, is taken for it.
    let as_member = of_runner || decorates || (place.is_test && (member || word.is_called()));
    match word.text {
        "skip" if as_member => {
            Some(if word.owner() == Some("unittest") { "unittest.skip" } else { "pytest.skip" })
        }
        "skipif" | "skipIf" | "skipUnless" if as_member => Some("skipIf"),
        "xfail" if as_member => Some("xfail"),
        "expectedFailure" if member || decorates => Some("unittest.expectedFailure"),
        "skipTest" | "importorskip" if word.is_called() => Some("skipTest"),
        "SkipTest" if !word.before.ends_with("except ") && !word.before.ends_with("class ") => {
            (place.is_test || is_raised(word)).then_some("SkipTest")
        }
        "__test__" | "__unittest_skip__" if word.after.starts_with("=") => Some("__test__"),
        "collect_ignore" | "collect_ignore_glob" => Some("collect_ignore"),
        "_exit" if place.is_test && word.owner() == Some("os") => Some("os._exit"),
        "exit" if place.is_test && word.owner() == Some("pytest") => Some("pytest.exit"),
        _ => None,
    }
}

/// Whether the statement that the offset lies in, as far as it stands on the same line, is an import.
fn is_imported(source: &Source<'_>, offset: usize) -> bool {
    let near = source.code.floor_char_boundary(offset.saturating_sub(NEAR_BYTES));
    let before = &source.code[near..offset];
    let start = before.rfind(['\n', ';']).map_or(0, |at| at + 1);
    let statement = before[start..].trim_start();
    statement.starts_with("import ") || statement.starts_with("from ")
}

fn is_raised(word: &Word<'_>) -> bool {
    let chain = word.before.rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')));
    chain.is_some_and(|at| word.before[..=at].ends_with("raise "))
}

fn go(word: &Word<'_>, place: Place) -> Option<&'static str> {
    let skips = matches!(word.text, "Skip" | "Skipf" | "SkipNow") && word.is_called();
    if skips && word.owner().is_some_and(|owner| owner.len() <= 2) {
        return Some("t.Skip");
    }
    if !(place.is_test && word.text == "Exit" && word.owner() == Some("os")) {
        return None;
    }
    // What the run of the tests gave may be kept while something is cleaned up.
    let code = word.arguments();
    let is_kept = !code.is_empty() && word.before.contains(&format!("{code}:=m.Run()"));
    (!is_kept && !word.after.starts_with("(m.Run")).then_some("os.Exit")
}

fn java(word: &Word<'_>, place: Place) -> Option<&'static str> {
    match word.text {
        "assumeTrue" | "assumeFalse" | "assumeThat" | "assumingThat" if word.is_called() => Some("assume"),
        _ => exits(word, place, &[("System", "exit", "System.exit"), ("Runtime", "halt", "System.exit")]),
    }
}

/// Calls that end the process, and the tests with it.
fn exits(word: &Word<'_>, place: Place, known: &[(&str, &str, &'static str)]) -> Option<&'static str> {
    let owner = word.owner().or_else(|| word.before.strip_suffix("::"));
    known
        .iter()
        .find(|(of, name, _)| word.text == *name && owner.is_some_and(|owner| owner.ends_with(of)))
        .filter(|_| place.is_test && word.is_called())
        .map(|(_, _, known_as)| *known_as)
}
