use super::span::Span;

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
