//! What a marker acts on.

use crate::source::{Language, Source};

/// Keywords that declare what a decorator, an attribute or an annotation before them belongs to.
const PYTHON: [&str; 2] = ["def", "class"];
const RUST: [&str; 7] = ["fn", "mod", "struct", "enum", "impl", "trait", "type"];
const JAVA: [&str; 5] = ["void", "class", "interface", "fun", "record"];
/// How far the declaration is looked for.
const NEAR_BYTES: usize = 600;

/// The name of the next item that is declared after the offset: what a decorator or an attribute belongs to.
pub(super) fn next_item(language: Language, source: &Source<'_>, offset: usize) -> String {
    let keywords: &[&str] = match language {
        Language::Python => &PYTHON,
        Language::Rust => &RUST,
        Language::Java => &JAVA,
        Language::JavaScript { .. } | Language::Go => return String::new(),
    };
    let near = &source.code[offset..source.code.floor_char_boundary(offset + NEAR_BYTES)];
    let mut words = near.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        if keywords.contains(&word) {
            return words.next().unwrap_or("").to_owned();
        }
    }
    String::new()
}
