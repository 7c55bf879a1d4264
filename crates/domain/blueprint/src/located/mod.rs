//! A document as a tree in which every node knows its line and column.
//!
//! Only the part of YAML 1.2 is read that two readers cannot read differently: one document, no directive, anchor,
//! alias, tag or merge key, keys that are text and stand once. JSON is a part of it.

mod node;
mod plain;
mod source;
mod span;
mod tree;
mod unreadable;

pub(crate) use node::{Entry, Node, Value};
pub(crate) use plain::Plain;
pub(crate) use source::Source;
pub(crate) use span::Span;
pub(crate) use tree::read_tree;
pub(crate) use unreadable::is_unreadable;
