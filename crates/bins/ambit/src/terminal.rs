//! What a terminal gets to see, of whatever it is made.

use std::fmt::Write as _;

use serde_json::Value;

/// The text without what a terminal would obey: control characters, and marks that turn the direction of reading round.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if is_obeyed(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// JSON in which the same characters are escaped, so that nothing is lost for a program.
pub(crate) fn printable_json(value: &Value) -> String {
    let mut text = String::new();
    for c in format!("{value:#}\n").chars() {
        if is_obeyed(c) {
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
    }
    text
}

fn is_obeyed(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A number of things.
pub(crate) fn counted(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}
