//! What a terminal gets to see, of whatever it is made.

use std::fmt::Write as _;

use ambit_ids::is_unprintable;
use serde_json::Value;

/// The text without what a terminal would obey or nobody would see: control characters, marks that turn the direction of
/// reading round, and invisible characters.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut chars = text.chars().peekable();
    let mut shown = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        // A line that ends as those of DOS do is one line, and a patch of it must stay one that applies.
        let ends_line = c == '\r' && chars.peek() == Some(&'\n');
        shown.push(if is_obeyed(c) && !ends_line { char::REPLACEMENT_CHARACTER } else { c });
    }
    shown
}

/// JSON in which the same characters are escaped, so that nothing is lost for a program.
#[must_use]
pub fn printable_json(value: &Value) -> String {
    escaped(&format!("{:#}\n", in_order(value)))
}

/// The same on one line.
#[must_use]
pub fn printable_json_line(value: &Value) -> String {
    escaped(&format!("{}\n", in_order(value)))
}

/// The value with the members of every object in the order of their names. What is printed must not depend on how the maps
/// of this build keep them.
fn in_order(value: &Value) -> Value {
    let mut value = value.clone();
    value.sort_all_objects();
    value
}

fn escaped(json: &str) -> String {
    let mut text = String::new();
    for c in json.chars() {
        if is_obeyed(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}

fn is_obeyed(c: char) -> bool {
    is_unprintable(c) && !matches!(c, '\n' | '\t')
}
