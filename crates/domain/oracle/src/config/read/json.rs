use std::collections::BTreeSet;

use crate::change::Unreadable;
use crate::config::node::{Lines, MAX_DEPTH, MAX_NODES, Node};

/// A document of JSON, with the comments and the trailing commas that tools allow in their configuration. A name that
/// stands twice in one object is an error, since readers differ in which one counts.
pub(in crate::config) fn json(text: &str) -> Result<Node, Unreadable> {
    let mut reader = Reader { text, at: 0, lines: Lines::of(text), left: MAX_NODES };
    reader.blank()?;
    let node = reader.value(0)?;
    reader.blank()?;
    if reader.at == text.len() { Ok(node) } else { Err(Unreadable::Syntax) }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    lines: Lines,
    left: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn blank(&mut self) -> Result<(), Unreadable> {
        loop {
            let rest = &self.text[self.at..];
            let comment = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if let Some(comment) = rest.strip_prefix("/*") {
                comment.find("*/").ok_or(Unreadable::Unended)? + 4
            } else {
                rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len()
            };
            if comment == 0 {
                return Ok(());
            }
            self.at += comment;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Unreadable> {
        self.left = self.left.checked_sub(1).filter(|_| depth <= MAX_DEPTH).ok_or(Unreadable::Nesting)?;
        let line = self.lines.line(self.at);
        match self.peek().ok_or(Unreadable::Syntax)? {
            b'{' => self.object(line, depth),
            b'[' => self.array(line, depth),
            b'"' => Ok(Node::scalar(line, self.string()?)),
            _ => {
                let rest = &self.text[self.at..];
                let end = rest.find([',', ']', '}', ' ', '\t', '\r', '\n', '/']).unwrap_or(rest.len());
                let word = &rest[..end];
                let is_word = matches!(word, "true" | "false" | "null");
                if !is_word && serde_json::from_str::<serde_json::Number>(word).is_err() {
                    return Err(Unreadable::Syntax);
                }
                self.at += end;
                Ok(Node::scalar(line, word))
            }
        }
    }

    fn object(&mut self, line: u32, depth: usize) -> Result<Node, Unreadable> {
        let mut entries = Vec::new();
        let mut names = BTreeSet::new();
        self.at += 1;
        loop {
            self.blank()?;
            if self.eat(b'}') {
                return Ok(Node::map(line, entries));
            }
            let name = self.string()?;
            if !names.insert(name.clone()) {
                return Err(Unreadable::Twice);
            }
            self.blank()?;
            if !self.eat(b':') {
                return Err(Unreadable::Syntax);
            }
            self.blank()?;
            entries.push((name, self.value(depth + 1)?));
            self.blank()?;
            if !self.eat(b',') && self.peek() != Some(b'}') {
                return Err(Unreadable::Syntax);
            }
        }
    }

    fn array(&mut self, line: u32, depth: usize) -> Result<Node, Unreadable> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.blank()?;
            if self.eat(b']') {
                return Ok(Node::list(line, items));
            }
            items.push(self.value(depth + 1)?);
            self.blank()?;
            if !self.eat(b',') && self.peek() != Some(b']') {
                return Err(Unreadable::Syntax);
            }
        }
    }

    fn string(&mut self) -> Result<String, Unreadable> {
        let rest = self.text[self.at..].strip_prefix('"').ok_or(Unreadable::Syntax)?;
        let mut is_escaped = false;
        let end = rest.bytes().position(|byte| {
            let ends = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            ends
        });
        let whole = &self.text[self.at..self.at + end.ok_or(Unreadable::Unended)? + 2];
        self.at += whole.len();
        serde_json::from_str(whole).map_err(|_| Unreadable::Syntax)
    }
}
