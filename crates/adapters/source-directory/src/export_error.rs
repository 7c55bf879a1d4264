use std::io;
use std::path::PathBuf;

use ambit_ids::{ByteCount, RepoPath};
use ambit_ports::blobs::BlobError;

use crate::{EntryPath, ImportError};

/// Why a tree was not written. Nothing stands under the name of the directory that did not stand there before.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Something is in the directory already.
    #[error("{} is not empty; nothing was written. Name a directory that does not exist or is empty", path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// Something has the name already.
    #[error("{} exists; nothing was written. Name a directory that does not exist", path.display())]
    Exists {
        /// The name.
        path: PathBuf,
    },
    /// The directory would lie within the one that is only read.
    #[error(
        "{} lies within the directory that is read; nothing was written. Name a directory outside of it",
        path.display()
    )]
    WithinSource {
        /// The directory.
        path: PathBuf,
    },
    /// The directory that the contents come from cannot be read.
    #[error("a content could not be read from where it lies; nothing was kept")]
    Source(#[source] ImportError),
    /// There cannot be a directory of this name.
    #[error(
        "{} cannot become a directory; nothing was written. Name a new directory in one that exists; a symbolic link \
         is not followed",
        path.display()
    )]
    NotADirectory {
        /// The name.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// An entry cannot be written.
    #[error(
        "{path} cannot be written; nothing was kept. Free space, or let this user write there, and export again"
    )]
    Unwritable {
        /// The entry.
        path: EntryPath,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file system takes two names of the tree for one.
    #[error(
        "{path} is taken for another name by the file system; nothing was kept. Export to a file system that tells \
         all names apart"
    )]
    Collision {
        /// The second of the two.
        path: EntryPath,
    },
    /// A content cannot be read.
    #[error("the content of {path} cannot be read; nothing was kept")]
    Content {
        /// The file.
        path: RepoPath,
        /// Why.
        #[source]
        source: BlobError,
    },
    /// The tree states another size than its content has.
    #[error(
        "{path} has {found} where the tree says {stated}; nothing was kept. The tree is not one that was imported"
    )]
    ContentSize {
        /// The file.
        path: RepoPath,
        /// The size that the tree states.
        stated: ByteCount,
        /// The size of the content.
        found: ByteCount,
    },
    /// The export was stopped.
    #[error("the export was stopped before its end; nothing was kept. Export again")]
    Interrupted,
}

impl ExportError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotEmpty { .. } => "EXPORT_NOT_EMPTY",
            Self::Exists { .. } => "EXPORT_EXISTS",
            Self::WithinSource { .. } => "EXPORT_WITHIN_SOURCE",
            Self::Source(source) => source.code(),
            Self::NotADirectory { .. } => "EXPORT_NOT_A_DIRECTORY",
            Self::Unwritable { .. } => "EXPORT_UNWRITABLE",
            Self::Collision { .. } => "EXPORT_COLLISION",
            Self::Content { source, .. } => source.code(),
            Self::ContentSize { .. } => "EXPORT_CONTENT_SIZE",
            Self::Interrupted => "EXPORT_INTERRUPTED",
        }
    }
}
