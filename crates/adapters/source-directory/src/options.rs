use ambit_ids::{ByteCount, limits};

use crate::limits::CONTENT_BYTES;

/// How a directory is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportOptions {
    /// What `.gitignore` files do.
    pub ignore_files: IgnoreFiles,
    /// The most entries that may be met: files, links and directories, those left out among them.
    pub entry_limit: usize,
    /// The most bytes that all files may have together.
    pub content_limit: ByteCount,
}

/// What `.gitignore` files do. They are files of the tree in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IgnoreFiles {
    /// What they leave out is left out, and so are directories that a package manager or a build made.
    Honoured,
    /// Nothing.
    Disregarded,
}

impl Default for ImportOptions {
    /// `.gitignore` files are honoured, with the limits of a tree and [`CONTENT_BYTES`].
    fn default() -> Self {
        Self {
            ignore_files: IgnoreFiles::Honoured,
            entry_limit: limits::TREE_ENTRIES,
            content_limit: ByteCount::new(CONTENT_BYTES),
        }
    }
}
