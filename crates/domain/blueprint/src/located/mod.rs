//! A document as a tree in which every node knows its line and column.
//!
//! Only the part of YAML 1.2 is read that two readers cannot read differently: one document, no directive, anchor,
//! alias, tag or merge key, keys that are text and stand once. JSON is a part of it.

mod plain;
mod source;
mod tree;

pub(crate) use plain::Plain;
pub(crate) use source::{Source, is_unreadable};
pub(crate) use tree::read_tree;

/// A count of something in a document, of which there are fewer than its bytes.
fn count(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// A place in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The line, counted from 1.
    pub(crate) line: u32,
    /// The column in characters, counted from 1.
    pub(crate) column: u32,
    /// The number of characters in that line; zero where only the place is known.
    pub(crate) width: u32,
}

impl Span {
    /// The first character of the document.
    pub(crate) const START: Self = Self { line: 1, column: 1, width: 0 };

    /// The place itself, or the end of the text where the place lies past it.
    pub(crate) fn within(self, text: &str) -> Self {
        let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
        let lines = if last.len() == text.len() { 1 } else { before.matches('\n').count() + 2 };
        if self.line as usize <= lines {
            return self;
        }
        Self { line: count(lines), column: count(last.chars().count() + 1), width: 0 }
    }
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) value: Value,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Quoted text or a block of text.
    Text(String),
    /// Text without quotes, which may mean more than its characters.
    Plain(String),
    /// A list.
    Sequence(Vec<Node>),
    /// A mapping, in the order of the document. No name stands twice.
    Mapping(Vec<Entry>),
}

/// A member of a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) name_span: Span,
    pub(crate) node: Node,
}
