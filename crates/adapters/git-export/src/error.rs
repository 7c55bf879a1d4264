use std::io;
use std::path::PathBuf;

use ambit_ids::{ByteCount, RepoPath};
use ambit_ports::blobs::BlobError;

use crate::limits;

/// Why nothing was exported. What was written until then is not under the name that it was to have.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Something has the name already.
    #[error("{} exists; nothing was written. Name a file that does not exist", path.display())]
    Exists {
        /// The name.
        path: PathBuf,
    },
    /// There cannot be a file of this name.
    #[error("{} cannot be made; nothing was written. Name a new file in a directory where you can write", path.display())]
    NoPlace {
        /// The name.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The bytes cannot be written.
    #[error("the export cannot be written; nothing was kept. Free space, or let this user write there")]
    Unwritable(#[from] io::Error),
    /// A content cannot be read.
    #[error("the content of {path} cannot be read; nothing was kept")]
    Content {
        /// The file.
        path: RepoPath,
        /// Why.
        #[source]
        source: Box<BlobError>,
    },
    /// The tree states another size than its content has.
    #[error(
        "{path} has {found} where the tree says {stated}; nothing was kept. The tree was not imported so"
    )]
    ContentSize {
        /// The file.
        path: RepoPath,
        /// The size that the tree states.
        stated: ByteCount,
        /// The size of the content.
        found: ByteCount,
    },
    /// Git checks out no such entry.
    #[error(
        "git takes no entry such as {path}: some file system reads it as one of git's own files; nothing was kept. \
         Export a directory, or rename the file"
    )]
    Path {
        /// The entry.
        path: RepoPath,
    },
    /// The content was made to pass for another.
    #[error("{path} was made to have the SHA-1 of another content, which git refuses; nothing was kept")]
    Collision {
        /// The file.
        path: RepoPath,
    },
    /// There is nothing to mail.
    #[error("both trees are the same, and git takes no mail without a change; nothing was written")]
    NothingChanged,
    /// Past [`limits::MAIL_BYTES`].
    #[error(
        "the mail has more than {} bytes, and git applies none that is much larger; nothing was kept. Export a bundle",
        limits::MAIL_BYTES
    )]
    MailTooLarge,
}

impl ExportError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Exists { .. } => "EXPORT_EXISTS",
            Self::NoPlace { .. } => "EXPORT_NO_PLACE",
            Self::Unwritable(_) => "EXPORT_UNWRITABLE",
            Self::Content { source, .. } => source.code(),
            Self::ContentSize { .. } => "EXPORT_CONTENT_SIZE",
            Self::Path { .. } => "EXPORT_PATH_REFUSED",
            Self::Collision { .. } => "EXPORT_SHA1_COLLISION",
            Self::NothingChanged => "EXPORT_NOTHING_CHANGED",
            Self::MailTooLarge => "EXPORT_MAIL_TOO_LARGE",
        }
    }
}
