//! What an agent may propose, and how it is understood.

mod body;
mod fault;
mod forms;
mod header;
mod lines;
mod name;
mod once;
mod outside;
mod parse;
mod policy;
mod range;
mod sections;
mod set;

pub use fault::{Form, LinkFault, ModeFault, NameFault, PatchError, PatchFault};
pub use name::quote;
pub use parse::parse;
pub(crate) use set::OtherReading;
pub use set::{FileMode, FilePatch, Hunk, LineKind, Operation, PatchSet, PatchWarning, StatedLines};
