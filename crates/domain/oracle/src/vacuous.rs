//! Tells expressions that can never fail a test.

use std::ops::Range;

use crate::source::Source;

/// Words that name no thing of the program.
const CONSTANT_WORDS: [&str; 15] = [
    "True",
    "False",
    "None",
    "true",
    "false",
    "null",
    "undefined",
    "NaN",
    "Infinity",
    "nil",
    "not",
    "and",
    "or",
    "is",
    "in",
];
/// Constants that do not make an alternative true.
const FALSE: [&str; 8] = ["False", "None", "false", "null", "undefined", "nil", "0", "0.0"];

/// Assertions that look at nothing but what they are given, in lower case and without underscores. A helper of the
/// project's own may do anything, and an assertion of a thing (`spy.assert_not_called()`) looks at the thing.
const PURE: [&str; 34] = [
    "assert",
    "asserttrue",
    "assertfalse",
    "assertequal",
    "assertequals",
    "assertnotequal",
    "assertnotequals",
    "assertis",
    "assertisnot",
    "assertisnone",
    "assertisnotnone",
    "assertin",
    "assertnotin",
    "assertgreater",
    "assertless",
    "assertnull",
    "assertnotnull",
    "assertsame",
    "asserteq",
    "assertne",
    "propassert",
    "propasserteq",
    "ok",
    "equal",
    "equals",
    "notequal",
    "strictequal",
    "deepequal",
    "deepstrictequal",
    "is",
    "istrue",
    "true",
    "truthy",
    "same",
];
/// Whose methods these assertions are, where they are methods at all.
const PURE_OWNERS: [&str; 8] = ["self", "cls", "this", "super", "assert", "Assert", "Assertions", "t"];

/// Whether an assertion by this name, as a method of `owner` where it is one, looks at nothing but its arguments.
pub(crate) fn is_pure(name: &str, owner: Option<&str>) -> bool {
    let plain: String = name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect();
    PURE.contains(&plain.as_str()) && owner.is_none_or(|owner| PURE_OWNERS.contains(&owner))
}

/// Whether the text names nothing of the program: literals alone.
pub(crate) fn is_constant(code: &str) -> bool {
    code.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')))
        .filter(|word| !word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit()))
        .all(|word| CONSTANT_WORDS.contains(&word))
}

/// Whether a condition can never be false: a constant, an alternative to a constant, or a comparison of a text with
/// itself.
pub(crate) fn always_holds(source: &Source<'_>, condition: Range<usize>) -> bool {
    let code = &source.code[condition.clone()];
    if is_constant(code) {
        return true;
    }
    let alternatives = split(code, &[" or ", "||"]);
    let forced = |part: &Range<usize>| {
        let part = code[part.clone()].trim();
        is_constant(part) && !part.is_empty() && !FALSE.contains(&part)
    };
    if alternatives.len() > 1 && alternatives.iter().any(forced) {
        return true;
    }
    let sides = split(code, &["===", "==", " is "]);
    matches!(&sides[..], [one, other] if same_text(source, condition.start, one, other))
}

/// Whether a call compares what it is given with itself, or is given constants alone.
pub(crate) fn call_always_holds(source: &Source<'_>, name: &str, arguments: Range<usize>) -> bool {
    let code = &source.code[arguments.clone()];
    let mut parts = split(code, &[","]);
    // JUnit 4 takes a message before the condition.
    if parts.len() > 1
        && code[parts[0].clone()].trim().starts_with('"')
        && is_constant(&code[parts[0].clone()])
    {
        parts.remove(0);
    }
    match &parts[..] {
        [one, other, ..] if same_text(source, arguments.start, one, other) => true,
        [first, ..] if is_condition(name) => {
            always_holds(source, arguments.start + first.start..arguments.start + first.end)
        }
        _ => is_constant(code),
    }
}

/// Whether the first argument of a call by this name is a condition.
fn is_condition(name: &str) -> bool {
    ["assert", "assert_", "ok", "True", "true"].iter().any(|end| name.ends_with(end))
}

/// Whether two parts of a piece of code that starts at `base` are the same text, white space apart.
fn same_text(source: &Source<'_>, base: usize, one: &Range<usize>, other: &Range<usize>) -> bool {
    let text = |part: &Range<usize>| {
        let text = source.text.get(base + part.start..base + part.end).unwrap_or("");
        text.split_whitespace().collect::<String>()
    };
    let one = text(one);
    !one.is_empty() && one == text(other)
}

/// The parts between separators that stand in no bracket.
fn split(code: &str, separators: &[&str]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut depth, mut start, mut at) = (0_usize, 0, 0);
    let bytes = code.as_bytes();
    while at < bytes.len() {
        let separator = separators.iter().find(|mark| depth == 0 && bytes[at..].starts_with(mark.as_bytes()));
        if let Some(mark) = separator {
            parts.push(start..at);
            at += mark.len();
            start = at;
            continue;
        }
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    parts.push(start..code.len());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Language;

    #[test]
    fn a_condition_that_cannot_be_false_is_told_from_one_that_can() {
        let holds = |text: &str| always_holds(&Source::read(Language::Python, text), 0..text.len());
        for text in [
            "True",
            "1 == 1",
            "x == 3 or True",
            "f(x) or 1",
            "f(x, 1)  ==  f(x,1)",
            "'a'.join(x) == 'a'.join(x)",
        ] {
            assert!(holds(text), "{text}");
        }
        for text in [
            "x",
            "x == 3",
            "x == 3 or y",
            "x or False",
            "f(x or True)",
            "f('a') == f('b')",
            "x == y == x",
            "f(x)",
        ] {
            assert!(!holds(text), "{text}");
        }
    }

    #[test]
    fn a_call_that_compares_a_thing_with_itself_is_told_from_one_that_does_not() {
        let holds = |name: &str, text: &str| {
            call_always_holds(&Source::read(Language::Rust, text), name, 0..text.len())
        };
        for (name, text) in [
            ("assert_eq", "f(x), f(x)"),
            ("assert", "x > 1 || true, \"m\""),
            ("assertEqual", "1, 2"),
            ("assertTrue", "\"message\", true"),
        ] {
            assert!(holds(name, text), "{name}({text})");
        }
        for (name, text) in [
            ("assert_eq", "f(x), f(y)"),
            ("assert_eq", "f(\"x\"), f(\"y\")"),
            ("assert_eq", "x || true, y"),
            ("assertTrue", "\"message\", f()"),
            ("equal", "1, f()"),
        ] {
            assert!(!holds(name, text), "{name}({text})");
        }
    }
}
