//! Pieces of code as text.

use std::collections::BTreeMap;

/// How deep values of variables are put into each other.
const DEPTH: usize = 3;
/// The longest text that values are put into.
const LENGTH: usize = 600;

/// The values that the variables of a function are bound to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings(BTreeMap<String, String>);

impl Bindings {
    /// Binds a name. A second value of the same name stands for the first where it is longer ago.
    pub(crate) fn bind(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), squeezed(value));
    }

    /// What the name is bound to.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The text with values in the place of its variables.
    pub(crate) fn resolve(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..DEPTH {
            let next = self.once(&text);
            if next == text || next.len() > LENGTH {
                break;
            }
            text = next;
        }
        text
    }

    fn once(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut quote = None;
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if let Some(end) = quote {
                quote = (first != end).then_some(end);
            } else if first == '"' {
                quote = Some('"');
            } else if first.is_alphabetic() || first == '_' {
                let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                let (word, after) = rest.split_at(length);
                let is_member = out.ends_with(['.', ':']);
                let is_called = after.starts_with(['(', '!']) || after.starts_with("::");
                match self.0.get(word).filter(|_| !is_member && !is_called) {
                    Some(value) => out.push_str(value),
                    None => out.push_str(word),
                }
                rest = after;
                continue;
            }
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
        out
    }
}

/// The text without white space outside of strings, except between words, and without a comma at the end of a list.
pub(crate) fn squeezed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.trim().chars().peekable();
    let mut quoted = false;
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'');
    while let Some(c) = chars.next() {
        if quoted {
            out.push(c);
            match c {
                '\\' => out.extend(chars.next()),
                '"' => quoted = false,
                _ => {}
            }
        } else if c.is_whitespace() {
            let next = loop {
                match chars.peek() {
                    Some(next) if next.is_whitespace() => drop(chars.next()),
                    other => break other.copied(),
                }
            };
            if out.chars().next_back().is_some_and(is_word) && next.is_some_and(is_word) {
                out.push(' ');
            }
        } else {
            quoted = c == '"' && !out.ends_with('\'');
            if matches!(c, ')' | ']' | '}') && out.ends_with(',') {
                out.pop();
            }
            out.push(c);
        }
    }
    if out.ends_with(',') {
        out.pop();
    }
    out
}

/// The parts of a piece of code between separators that stand in no bracket and no string.
pub(crate) fn top_level<'a>(code: &'a str, separators: &[&str]) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let (mut depth, mut start, mut at) = (0_usize, 0, 0);
    let bytes = code.as_bytes();
    while at < bytes.len() {
        if let Some(end) = string_end(bytes, at) {
            at = end;
            continue;
        }
        let mark = separators.iter().find(|mark| depth == 0 && bytes[at..].starts_with(mark.as_bytes()));
        if let Some(mark) = mark {
            parts.push(&code[start..at]);
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
    parts.push(&code[start..]);
    parts
}

/// Where the string or character that starts at the offset ends.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes[at] {
        b'"' | b'`' => {
            let mut end = at + 1;
            while end < bytes.len() && bytes[end] != bytes[at] {
                end += if bytes[end] == b'\\' && bytes[at] == b'"' { 2 } else { 1 };
            }
            Some((end + 1).min(bytes.len()))
        }
        b'\'' if bytes.get(at + 1) == Some(&b'\\') && bytes.get(at + 3) == Some(&b'\'') => Some(at + 4),
        b'\'' if bytes.get(at + 2) == Some(&b'\'') => Some(at + 3),
        _ => None,
    }
}

/// How many alternatives a condition or a pattern has.
pub(crate) fn alternatives(code: &str, separators: &[&str]) -> u32 {
    u32::try_from(top_level(code, separators).len()).unwrap_or(u32::MAX)
}

/// Whether the text is a literal: it names nothing of the program.
pub(crate) fn is_literal(text: &str) -> bool {
    let text = text.trim().trim_start_matches(['&', '-', '*']);
    if text.is_empty() {
        return false;
    }
    if text.starts_with(['"', '\'', '`'])
        || text.starts_with("b\"")
        || text.starts_with("r\"")
        || text.starts_with("r#")
    {
        return string_end(text.as_bytes(), text.find(['"', '\'', '`']).unwrap_or(0))
            .is_some_and(|end| end == text.len())
            || text.starts_with("r#");
    }
    text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains('(')
        || matches!(text, "true" | "false" | "nil" | "null" | "None" | "()" | "[]")
        || inner_list(text).is_some_and(|inside| {
            top_level(inside, &[","]).iter().all(|part| part.trim().is_empty() || is_literal(part))
        })
}

/// Whether the text says a value by itself: literals, constants, variants and what they are made of.
pub(super) fn is_value(text: &str) -> bool {
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '"' | ':')));
    is_literal(text)
        || (text.starts_with(|c: char| c.is_uppercase())
            && !text.contains('.')
            && words.filter(|word| !word.is_empty()).all(|word| {
                let name = word.trim_matches(':').rsplit(':').next().unwrap_or("");
                name.is_empty() || !name.starts_with(char::is_lowercase) || matches!(name, "true" | "false")
            }))
}

fn inner_list(text: &str) -> Option<&str> {
    let text = text.strip_prefix("vec!").unwrap_or(text);
    text.strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .or_else(|| text.strip_prefix('(')?.strip_suffix(')'))
}
