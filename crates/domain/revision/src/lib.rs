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
mod lines;
mod patch;
mod touched;
pub mod tree;

pub use apply::{
    Applied, Effect, Excerpt, HunkMatch, Judged, Listing, MatchedBy, Mismatch, Outcome, PatchRefusal, Reason,
    Sight, View, ViewError, apply, reads, touched,
};
pub use compare::{Comparison, FileComparison, LineCounts, Rename, Totals};
pub use contents::Contents;
pub use diff::{Diff, DiffError, FileSection, HunkSection, LineSpan, diff, hunks};
pub use lineage::{LineageError, Relation, Revision};
pub use patch::{
    FileMode, FilePatch, Form, Hunk, LineKind, LinkFault, ModeFault, NameFault, Operation, PatchError,
    PatchFault, PatchSet, PatchWarning, StatedLines, parse, quote,
};
pub use touched::{Touch, TouchedFile};
pub use tree::{Change, FileKind, Place, Tree, TreeError, TreeFile};
