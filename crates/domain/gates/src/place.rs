//! Places in the project that output speaks of.

use ambit_ids::RepoPath;
use serde::{Deserialize, Serialize};

/// Where a gate sees the project.
const WORKSPACE: &str = "/workspace/";
/// Directories of other people's code, wherever they lie.
const FOREIGN: [&[u8]; 4] = [b"site-packages", b"dist-packages", b"node_modules", b".cargo"];

/// A place in the project's source, as output tells it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Place {
    /// The file, relative to the project.
    pub path: RepoPath,
    /// The line, counted from 1. For people: a line moves with every edit above it.
    pub line: Option<u32>,
    /// The function, where the format tells it.
    pub function: Option<String>,
}

/// The path within the project that `text` names; `None` for a path elsewhere and for what is no path.
pub(crate) fn workspace_path(text: &str) -> Option<RepoPath> {
    let text = text.strip_prefix("file://").unwrap_or(text);
    let mut relative = match text.strip_prefix(WORKSPACE) {
        Some(inside) => inside,
        None if text.starts_with('/') || text.starts_with('<') || text.starts_with("node:") => return None,
        None => text,
    };
    while let Some(shorter) = relative.strip_prefix("./") {
        relative = shorter;
    }
    let path = RepoPath::from_bytes(relative.as_bytes()).ok()?;
    let own = !path.components().any(|component| FOREIGN.contains(&component));
    own.then_some(path)
}

/// Splits `path:line`, `path:line:column` and what follows them. The colon of `file://` is part of the path.
pub(crate) fn split_position(text: &str) -> Option<(&str, u32, &str)> {
    for (colon, _) in text.match_indices(':') {
        let after = &text[colon + 1..];
        let digits = digit_count(after);
        let ends = !after[digits..].starts_with(|c: char| c.is_alphanumeric());
        if colon == 0 {
            return None;
        }
        if digits == 0 || !ends {
            continue;
        }
        let Ok(line) = after[..digits].parse() else { continue };
        let rest = &after[digits..];
        let column = rest.strip_prefix(':').map_or(0, digit_count);
        let rest = if column > 0 { &rest[1 + column..] } else { rest };
        return Some((&text[..colon], line, rest));
    }
    None
}

fn digit_count(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// The place that `path:line` and perhaps a column name at the start of `text`, if it lies within the project.
pub(crate) fn place(text: &str, function: Option<&str>) -> Option<Place> {
    let (path, line, _) = split_position(text)?;
    Some(Place { path: workspace_path(path)?, line: Some(line), function: function.map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_projects_own_files_are_places() {
        for (text, path) in [
            ("/workspace/app/a.py", Some("app/a.py")),
            ("file:///workspace/src/a.js", Some("src/a.js")),
            ("./src/a.go", Some("src/a.go")),
            ("src/a.rs", Some("src/a.rs")),
            ("/usr/lib/python3.11/unittest/case.py", None),
            ("/workspace/../etc/passwd", None),
            ("/workspace/node_modules/x/i.js", None),
            ("node:internal/test_runner", None),
            ("<frozen importlib._bootstrap>", None),
            ("", None),
        ] {
            assert_eq!(workspace_path(text).map(|path| path.to_string()).as_deref(), path, "{text}");
        }
    }

    #[test]
    fn positions_split_at_the_line_number() {
        assert_eq!(split_position("a.c:3:5: error: x"), Some(("a.c", 3, ": error: x")));
        assert_eq!(split_position("file:///a.js:1:41"), Some(("file:///a.js", 1, "")));
        assert_eq!(split_position("a.java:12: error"), Some(("a.java", 12, ": error")));
        for not in ["a.c", ":3:5", "a:b", "a:99999999999", "12:30x", ""] {
            assert_eq!(split_position(not), None, "{not}");
        }
    }
}
