//! What an agent may propose, and how it is understood.

mod body;
mod fault;
mod forms;
mod header;
mod name;
mod outside;
mod parse;
mod policy;
mod sections;
mod set;

pub use fault::{Form, NameFault, PatchError, PatchFault};
pub(crate) use name::quote;
pub use parse::parse;
pub use set::{FileMode, FilePatch, Hunk, LineKind, Operation, PatchSet, PatchWarning, StatedLines};
