//! Calls, decorators and settings that keep a test from running.

use super::anchor;
use super::found::{Marker, Place};
use crate::source::{Language, Source, Tight, Word};

/// How far back the start of a statement is looked for.
const NEAR_BYTES: usize = 500;
/// What the test functions of JavaScript are called.
const JS_TESTS: [&str; 10] =
    ["test", "it", "describe", "suite", "context", "specify", "bench", "scenario", "fixture", "step"];
/// Modifiers of these functions that keep tests from running or from counting, and the names of the markers.
const JS_MODIFIERS: [(&str, &str); 9] = [
    ("skip", ".skip("),
    ("skipIf", ".skip("),
    ("runIf", ".skip("),
    ("fixme", ".skip("),
    ("ignore", ".skip("),
    ("only", ".only("),
    ("todo", ".todo("),
    ("failing", ".failing("),
    ("fails", ".failing("),
];
/// Modifiers between the function and the one that counts.
const JS_BETWEEN: [&str; 7] = ["test", "concurrent", "sequential", "serial", "parallel", "describe", "each"];
/// Test functions that skip, or leave all others out, by their name.
const JS_RENAMED: [&str; 10] = [
    "xit",
    "xtest",
    "xdescribe",
    "xcontext",
    "xspecify",
    "fit",
    "fdescribe",
    "fcontext",
    "fspecify",
    "xsuite",
];

pub(super) fn find(language: Language, tight: &Tight, source: &Source<'_>, place: Place) -> Vec<Marker> {
    let found = |word: &Word<'_>| match language {
        Language::Python => python(word, tight, source, place),
        Language::JavaScript { .. } => javascript(word, place),
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
                Language::JavaScript { .. } => anchor::next_string(source, offset),
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
    if is_imported(source, tight.offset(word.position())) || word.before.ends_with("def ") {
        return None;
    }
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
        "no_type_check" if decorates || member => Some("no_type_check"),
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

fn javascript(word: &Word<'_>, place: Place) -> Option<&'static str> {
    let goes_on = word.after.starts_with(['(', '.', '`']);
    if let Some((_, name)) = JS_MODIFIERS.iter().find(|(modifier, _)| *modifier == word.text)
        && goes_on
        && (modifies_test(word) || (place.is_test && names_test(word)))
    {
        return Some(name);
    }
    if JS_RENAMED.contains(&word.text) && goes_on && !word.before.ends_with(['.', ' ']) {
        return Some(if word.text.starts_with('f') { ".only(" } else { ".skip(" });
    }
    if !place.is_test {
        return None;
    }
    let option = word.before.ends_with(['{', ',']) && word.after.starts_with(':');
    let off = word.after.starts_with(":false") || word.after.starts_with(":undefined");
    match word.text {
        "skip" if option && !off => Some(".skip("),
        "todo" if option && !off => Some(".todo("),
        "only" if option && !off => Some(".only("),
        "skip" | "pending" if word.is_called() && matches!(word.owner(), Some("this" | "t" | "ctx")) => {
            Some(".skip(")
        }
        "exit" if word.is_called() && word.owner() == Some("process") => Some("process.exit"),
        _ => None,
    }
}

/// Whether the word is a modifier of a known test function: `it.skip`, `test.concurrent.only`.
fn modifies_test(word: &Word<'_>) -> bool {
    let mut before = word.before;
    while let Some(chain) = before.strip_suffix('.') {
        let start = chain
            .rfind(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'))
            .map_or(0, |at| at + chain[at..].chars().next().map_or(0, char::len_utf8));
        let owner = &chain[start..];
        before = &chain[..start];
        let is_first = !before.ends_with('.');
        if is_first && (JS_TESTS.contains(&owner) || owner == "Deno") {
            return true;
        }
        if !JS_BETWEEN.contains(&owner) {
            return false;
        }
    }
    false
}

/// Whether the word is a member that is called with a string first, as test functions under another name are.
fn names_test(word: &Word<'_>) -> bool {
    let named = ["(\"", "('", "(`"].iter().any(|start| word.after.starts_with(start));
    word.before.ends_with('.') && named && matches!(word.text, "skip" | "only" | "todo")
}

fn go(word: &Word<'_>, place: Place) -> Option<&'static str> {
    let skips = matches!(word.text, "Skip" | "Skipf" | "SkipNow") && word.is_called();
    if skips && word.owner().is_some_and(|owner| owner.len() <= 2) {
        return Some("t.Skip");
    }
    let ends = place.is_test && word.text == "Exit" && word.owner() == Some("os");
    // What the run of the tests gave may be kept while something is cleaned up.
    let code = word.arguments();
    let is_kept = !code.is_empty() && word.before.contains(&format!("{code}:=m.Run()"));
    (ends && !is_kept && !word.after.starts_with("(m.Run")).then_some("os.Exit")
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
