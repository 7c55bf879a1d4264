use std::cell::RefCell;

use super::report::{Read, Report, Reported};
use crate::located::{Node, Plain, Source, Span, Value, read_tree};
use crate::problem::{DocumentError, Finding, ProblemCode};

/// Reads a document, from its bytes to a typed value.
pub(crate) fn read_document<T>(
    file: &str,
    bytes: &[u8],
    read: impl FnOnce(&Cursor<'_>) -> Read<T>,
) -> Result<T, DocumentError> {
    let source = Source::admit(file, bytes)?;
    let root = read_tree(&source)?;
    let report = Report { source, problems: RefCell::new(Vec::new()) };
    let cursor = Cursor { node: &root, key: None, path: String::new(), report: &report };
    let value = read(&cursor);
    match (value, DocumentError::several(file, report.problems.take())) {
        (Ok(value), None) => Ok(value),
        (_, Some(error)) => Err(error),
        // INVARIANT: `Reported` is made by `Report::tell` alone. Should that ever break, the document is still refused.
        (Err(Reported), None) => {
            let finding = Finding::new(ProblemCode::Syntax, "the document cannot be read", "");
            Err(source.error(finding, Span::START))
        }
    }
}

/// A node of the document, where it stands, and where its problems are told.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    pub(super) node: &'a Node,
    /// The key that leads to it, unless it stands in a list.
    key: Option<Span>,
    path: String,
    pub(super) report: &'a Report<'a>,
}

impl<'a> Cursor<'a> {
    /// The place of the node in the document, as a message names it.
    pub(crate) fn name(&self) -> String {
        if self.path.is_empty() { "the document".to_owned() } else { format!("`{}`", self.path) }
    }

    /// Tells that the node is wrong.
    pub(crate) fn refuse(&self, finding: Finding) -> Reported {
        self.report.tell(finding, self.span())
    }

    /// The node itself.
    pub(crate) fn node(&self) -> &'a Node {
        self.node
    }

    /// Tells that a node below this one is wrong.
    pub(crate) fn refuse_at(&self, node: &Node, finding: Finding) -> Reported {
        self.report.tell(finding, node.span)
    }

    /// Tells that the key of the node is wrong.
    pub(crate) fn refuse_key(&self, finding: Finding) -> Reported {
        self.report.tell(finding, self.key.unwrap_or(self.node.span))
    }

    /// The node itself where it is one line of text; the key that leads to it where it is more.
    fn span(&self) -> Span {
        match (&self.node.value, self.key) {
            (Value::Text(_) | Value::Plain(_), _) | (_, None) => self.node.span,
            (Value::Sequence(_) | Value::Mapping(_), Some(key)) => key,
        }
    }

    pub(super) fn child(&self, node: &'a Node, key: Option<Span>, step: &str) -> Self {
        let separator = if self.path.is_empty() || step.starts_with('[') { "" } else { "." };
        Self { node, key, path: format!("{}{separator}{step}", self.path), report: self.report }
    }

    /// The characters of a scalar, for a message.
    pub(super) fn raw(&self) -> &'a str {
        match &self.node.value {
            Value::Text(text) | Value::Plain(text) => text,
            Value::Sequence(_) | Value::Mapping(_) => "",
        }
    }

    /// What the node is, as a message says it.
    fn described(&self) -> &'static str {
        match &self.node.value {
            Value::Text(_) => "text in quotes",
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a mapping",
            Value::Plain(text) => match Plain::of(text) {
                Plain::Null => "nothing",
                Plain::Boolean(_) => "a boolean",
                Plain::Integer => "an integer",
                Plain::Decimal => "a number with decimals",
                Plain::Ambiguous => "something that readers of YAML disagree about",
                Plain::Text => "text",
            },
        }
    }

    pub(super) fn wrong_type(&self, wanted: &str, label: impl Into<String>) -> Reported {
        let message = format!("{} must be {wanted}, and is {}", self.name(), self.described());
        self.refuse(Finding::new(ProblemCode::WrongType, message, label))
    }
}
