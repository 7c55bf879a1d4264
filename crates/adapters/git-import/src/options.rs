use ambit_ids::{ByteCount, limits};

use crate::limits::CONTENT_BYTES;

/// How a commit is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportOptions {
    /// What becomes of submodules.
    pub submodules: Submodules,
    /// The most entries of all directories together.
    pub entry_limit: usize,
    /// The most bytes that all files may have together.
    pub content_limit: ByteCount,
}

/// What becomes of submodules. The commit only names a commit of another repository, so none has a content to import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submodules {
    /// The first one is refused by its path.
    Refused,
    /// They are left out, and told as findings.
    LeftOut,
}

impl Default for ImportOptions {
    /// Submodules are refused, with the limits of a tree and [`CONTENT_BYTES`].
    fn default() -> Self {
        Self {
            submodules: Submodules::Refused,
            entry_limit: limits::TREE_ENTRIES,
            content_limit: ByteCount::new(CONTENT_BYTES),
        }
    }
}
