//! What an agent may propose, and how it is understood.
//!
//! Understood are plain unified diffs and those that git writes, of one or many files: creation, deletion, change of
//! content, and change between the modes 100644 and 100755. A patch is understood as a whole or refused as a whole;
//! each form that is not understood has a code of its own.
//!
//! - Paths are judged before any content: see [`PatchFault`] for what is refused.
//! - The prefixes `a/` and `b/` are recognised by both sides of a header, or by its `diff --git` line. Without either the
//!   paths are as they stand. What could be read both ways is refused.
//! - The line counts of a hunk are taken from its body. Where its header says otherwise that is a warning, unless it
//!   cannot be told then where the body ends.
//! - Around files are admitted: blank lines, `Index:` lines, `diff -...` command lines, the mail header of `git
//!   format-patch` up to its first `diff --git` line, and its signature.
//! - The object names of `index` lines are not read; its mode is.

mod body;
mod fault;
mod header;
mod name;
mod outside;
mod parse;
mod policy;
mod set;

pub use fault::{Form, NameFault, PatchError, PatchFault};
pub(crate) use name::quote;
pub use parse::parse;
pub use set::{FileMode, FilePatch, Hunk, LineKind, Operation, PatchSet, PatchWarning, StatedLines};
