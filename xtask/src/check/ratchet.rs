//! Lengths of files and functions. What is over today stands in `xtask/ratchet.toml` with its exact number, and that
//! number may only shrink: one line more fails, and so does an entry that is no longer true.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::finding::Finding;
use crate::failure::Failure;
use crate::rust_text::Code;
use crate::workspace::Workspace;

const FILE_LINES: usize = 400;
const TEST_FILE_LINES: usize = 600;
const FUNCTION_LINES: usize = 70;
const LIST: &str = "xtask/ratchet.toml";

/// Something that has a length: its place for people, its length and its limit, by its key in the list.
struct Measured {
    place: String,
    lines: usize,
    limit: usize,
}

pub(super) fn findings(workspace: &Workspace) -> Result<Vec<Finding>, Failure> {
    let list = workspace.texts.get(LIST).map_or("", String::as_str);
    let list: Table = list
        .parse()
        .map_err(|cause: toml::de::Error| Failure::caused(format!("{LIST} is not TOML"), cause))?;
    let mut found = compare("files", &list, &files(workspace));
    found.extend(compare("functions", &list, &functions(workspace)));
    Ok(found)
}

fn files(workspace: &Workspace) -> BTreeMap<String, Measured> {
    workspace
        .sources()
        .map(|(path, text)| {
            let limit = if is_test_file(path) { TEST_FILE_LINES } else { FILE_LINES };
            (path.to_owned(), Measured { place: path.to_owned(), lines: text.lines().count(), limit })
        })
        .collect()
}

/// From the line of `fn` to the line of the closing brace. Functions of one name in one file share a key: the longest.
fn functions(workspace: &Workspace) -> BTreeMap<String, Measured> {
    let mut measured: BTreeMap<String, Measured> = BTreeMap::new();
    for (path, text) in workspace.sources() {
        let code = Code::of(text);
        for function in code.items("fn") {
            let Some(body) = function.body else { continue };
            let first = code.line_of(function.start);
            let lines = code.line_of(body.end) + 1 - first;
            let key = format!("{path}::{}", function.name);
            let longest = measured.get(&key).is_none_or(|known| known.lines < lines);
            if longest {
                measured
                    .insert(key, Measured { place: format!("{path}:{first}"), lines, limit: FUNCTION_LINES });
            }
        }
    }
    measured
}

fn is_test_file(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.starts_with("crates/testing/")
}

fn compare(section: &str, list: &Table, measured: &BTreeMap<String, Measured>) -> Vec<Finding> {
    let empty = Table::new();
    let entries = list.get(section).and_then(Value::as_table).unwrap_or(&empty);
    let keys: BTreeSet<&String> = entries.keys().chain(measured.keys()).collect();
    keys.into_iter().filter_map(|key| judge(key, entries.get(key), measured.get(key))).collect()
}

fn judge(key: &str, entry: Option<&Value>, measured: Option<&Measured>) -> Option<Finding> {
    let Some(entry) = entry else {
        let over = measured.filter(|it| it.lines > it.limit)?;
        let says = format!("{} lines, over the limit of {}: divide it ({key})", over.lines, over.limit);
        return Some(Finding::new(&over.place, says));
    };
    let allowed = entry.as_integer().and_then(|lines| usize::try_from(lines).ok());
    let says = match (allowed, measured) {
        (None, _) => format!("{key}: not a number of lines"),
        (_, None) => format!("{key} no longer exists: remove the entry"),
        (_, Some(it)) if it.lines <= it.limit => format!("{key} is within its limit now: remove the entry"),
        (Some(allowed), Some(it)) if it.lines > allowed => {
            format!("{key} grew from {allowed} to {} lines: it may only shrink", it.lines)
        }
        (Some(allowed), Some(it)) if it.lines < allowed => {
            format!("{key} shrank from {allowed} to {} lines: lower the entry", it.lines)
        }
        _ => return None,
    };
    Some(Finding::new(LIST, says))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::of;

    fn says(texts: &[(&str, &str)]) -> Vec<String> {
        findings(&of(texts, Vec::new())).unwrap().iter().map(ToString::to_string).collect()
    }

    fn function_of(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    \"fn x() {\";\n".repeat(lines - 2))
    }

    #[test]
    fn a_function_may_have_seventy_lines() {
        assert_eq!(says(&[("a.rs", &function_of(70))]), Vec::<String>::new());
        assert_eq!(
            says(&[("a.rs", &function_of(71))]),
            ["a.rs:1: 71 lines, over the limit of 70: divide it (a.rs::long)"]
        );
    }

    #[test]
    fn a_file_may_have_four_hundred_lines_and_a_test_six_hundred() {
        let lines = |count: usize| "//\n".repeat(count);
        assert!(says(&[("a.rs", &lines(400)), ("a/tests/it/b.rs", &lines(600))]).is_empty());
        assert_eq!(says(&[("a.rs", &lines(401)), ("a/tests/it/b.rs", &lines(601))]).len(), 2);
        assert!(says(&[("a.md", &lines(2000))]).is_empty());
    }

    #[test]
    fn an_exception_holds_at_exactly_its_number() {
        let list = |lines: usize| format!("[functions]\n\"a.rs::long\" = {lines}\n");
        let with =
            |entry: usize, actual: usize| says(&[(LIST, &list(entry)), ("a.rs", &function_of(actual))]);
        assert!(with(80, 80).is_empty());
        assert!(with(80, 81)[0].contains("only shrink"));
        assert!(with(80, 79)[0].contains("lower the entry"));
        assert!(with(80, 60)[0].contains("remove the entry"));
        assert!(says(&[(LIST, &list(80))])[0].contains("no longer exists"));
    }
}
