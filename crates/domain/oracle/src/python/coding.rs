//! The line by which a file of Python says how its bytes are read.

/// Encodings in which every byte below 128 stands for itself, without what decides nothing in their names.
const KNOWN: [&str; 14] = [
    "utf8",
    "utf8sig",
    "u8",
    "ascii",
    "usascii",
    "latin",
    "latin1",
    "l1",
    "iso88591",
    "iso885915",
    "latin9",
    "cp1252",
    "windows1252",
    "iso8859",
];

/// Whether Python reads the text as it stands here. Another encoding may make code of what is a comment here.
pub(crate) fn is_known(text: &str) -> bool {
    // A line ends for Python where a form feed does not end it; the first two lines alone are looked at.
    text.split('\n').take(2).filter_map(named).all(|name| {
        let name: String = name.to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        KNOWN.contains(&name.as_str())
    })
}

/// What stands behind `coding:` or `coding=` in a comment that is the whole line.
fn named(line: &str) -> Option<&str> {
    let comment = line.trim_start_matches([' ', '\t', '\x0c']).strip_prefix('#')?;
    let rest = comment.match_indices("coding").find_map(|(at, word)| {
        let rest = &comment[at + word.len()..];
        rest.strip_prefix([':', '='])
    })?;
    let rest = rest.trim_start_matches([' ', '\t']);
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')));
    let name = &rest[..end.unwrap_or(rest.len())];
    (!name.is_empty()).then_some(name)
}
