//! Names of a repository in patterns and commands.

use ambit_ids::is_unprintable;

use crate::limits;

/// A path as a pattern that matches exactly it. `None` where it cannot be told to people, or is too long for one.
pub(crate) fn pattern(path: &str) -> Option<String> {
    let mut text = String::new();
    for c in path.chars() {
        match c {
            c if is_unprintable(c) => return None,
            '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!' => text.extend(['\\', c]),
            c => text.push(c),
        }
    }
    (text.len() + "/**".len() <= limits::PATTERN_BYTES).then_some(text)
}

/// Everything below a directory.
pub(crate) fn below(directory: &str) -> Option<String> {
    pattern(directory).map(|pattern| format!("{pattern}/**"))
}

/// Whether a name can be an argument: it shows, and no program would take it for an option.
pub(crate) fn is_argument(name: &str) -> bool {
    !name.starts_with('-') && name.len() <= 255 && !name.chars().any(is_unprintable)
}

/// The last component.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The first component, and whether there is more.
pub(crate) fn top(path: &str) -> (&str, bool) {
    path.split_once('/').map_or((path, false), |(top, _)| (top, true))
}
