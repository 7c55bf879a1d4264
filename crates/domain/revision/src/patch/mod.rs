//! What an agent may propose, and how it is understood.

mod body;
mod fault;
mod header;
mod name;
mod outside;
mod parse;
mod policy;
mod set;

pub use fault::{Form, NameFault, PatchError, PatchFault};
pub use name::quote;
pub use parse::parse;
pub use set::{FileMode, FilePatch, Hunk, LineKind, Operation, PatchSet, PatchWarning, StatedLines};
