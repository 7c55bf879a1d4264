//! Source trees, patches and lineage.
//!
//! - [`Tree`] is a content-addressed tree of files: a value with a digest. [`tree`] says how the digest comes about.
//! - [`parse`] understands a patch that an agent proposes, and [`apply`] makes a new tree from it: in memory, byte for
//!   byte, all or nothing.
//! - [`diff`] tells the difference of two trees: the canonical diff, and the same in numbers.
//! - [`Revision`] is a tree with its place in the history of a project.
//!
//! Contents of files are handed in by their digest; nothing here reads or writes anything.

#![forbid(unsafe_code)]

mod apply;
mod compare;
mod contents;
mod diff;
mod lineage;
mod patch;
pub mod tree;

pub use apply::{
    Applied, Effect, Excerpt, HunkMatch, MatchedBy, Mismatch, PatchRefusal, Reason, apply, reads,
};
pub use compare::{Comparison, FileComparison, LineCounts, Totals};
pub use contents::Contents;
pub use diff::{Diff, DiffError, diff};
pub use lineage::{LineageError, Revision};
pub use patch::{
    FileMode, FilePatch, Form, Hunk, LineKind, LinkFault, ModeFault, NameFault, Operation, PatchError,
    PatchFault, PatchSet, PatchWarning, StatedLines, parse,
};
pub use tree::{Change, FileKind, Place, Tree, TreeError, TreeFile};
