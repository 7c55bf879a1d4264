use std::fmt;
use std::io;
use std::path::PathBuf;

use ambit_ids::{ByteCount, PathError, limits};
use ambit_ports::blobs::BlobError;
use ambit_revision::TreeError;

use crate::EntryPath;
use crate::limits::{IGNORE_FILE_BYTES, IGNORE_RULES};

/// Why a directory was not imported. There is no tree then; contents that were stored until then belong to none.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// What is to be imported is no directory.
    #[error(
        "{} is no directory; nothing was imported. Name a directory: a symbolic link is not followed",
        path.display()
    )]
    NotADirectory {
        /// What was named.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// An entry cannot be read.
    #[error("{path} cannot be read; nothing was imported. Let this user read it, or name it in a .gitignore")]
    Unreadable {
        /// The entry.
        path: EntryPath,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// An entry is no file, link or directory.
    #[error(
        "{path} is a {kind}, and a source tree cannot hold one; nothing was imported. Remove it, or name it in a \
         .gitignore"
    )]
    SpecialFile {
        /// The entry.
        path: EntryPath,
        /// What it is.
        kind: SpecialFile,
    },
    /// A file has more bytes than a file of a tree may have. Nothing of it was read.
    #[error(
        "{path} has {size}, and a file may have {limit}; nothing was imported. Take it out of the directory, or name \
         it in a .gitignore",
        limit = ByteCount::new(limits::FILE_BYTES)
    )]
    FileTooLarge {
        /// The file.
        path: EntryPath,
        /// Its size.
        size: ByteCount,
    },
    /// There are more entries than may be met.
    #[error(
        "the directory has more than {limit} entries; nothing was imported. Name those that are no source, such as \
         what a build makes, in a .gitignore: a directory that is left out counts once"
    )]
    TooManyEntries {
        /// The limit.
        limit: usize,
    },
    /// All files together have too many bytes.
    #[error(
        "the files have more than {limit} together, {path} among them; nothing was imported. Name those that are no \
         source in a .gitignore"
    )]
    TooMuchContent {
        /// The file that passed the limit.
        path: EntryPath,
        /// The limit.
        limit: ByteCount,
    },
    /// The path of an entry is none that a tree can hold.
    #[error("{path} cannot be in a source tree; nothing was imported. Rename it, or name it in a .gitignore")]
    PathRefused {
        /// The path.
        path: EntryPath,
        /// Why.
        #[source]
        source: PathError,
    },
    /// A `.gitignore` file is too large.
    #[error(
        "{path} has more than {limit}; nothing was imported. Make it shorter",
        limit = ByteCount::new(IGNORE_FILE_BYTES as u64)
    )]
    IgnoreFileTooLarge {
        /// The file.
        path: EntryPath,
    },
    /// Too many rules of `.gitignore` files are in force.
    #[error("{path} and those above it have more than {IGNORE_RULES} rules; nothing was imported. Use fewer")]
    TooManyIgnoreRules {
        /// The file that passed the limit.
        path: EntryPath,
    },
    /// An entry changed while it was read, twice.
    #[error("{path} changed while it was read; nothing was imported. Import again once nothing writes there")]
    Changed {
        /// The entry.
        path: EntryPath,
    },
    /// The entries make no tree.
    #[error("the directory makes no source tree; nothing was imported")]
    Tree(#[from] TreeError),
    /// A content could not be stored.
    #[error("a content could not be stored; nothing was imported")]
    Blob(#[from] BlobError),
    /// The import was stopped.
    #[error("the import was stopped before its end; nothing was imported. Import again")]
    Interrupted,
}

/// An entry that is no file, link or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialFile {
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A character device.
    CharacterDevice,
    /// A block device.
    BlockDevice,
    /// Something of which this system does not tell what it is.
    Unknown,
}

impl fmt::Display for SpecialFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pipe => "named pipe",
            Self::Socket => "socket",
            Self::CharacterDevice => "character device",
            Self::BlockDevice => "block device",
            Self::Unknown => "file of an unknown kind",
        })
    }
}

impl ImportError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotADirectory { .. } => "IMPORT_NOT_A_DIRECTORY",
            Self::Unreadable { .. } => "IMPORT_UNREADABLE",
            Self::SpecialFile { .. } => "IMPORT_SPECIAL_FILE",
            Self::FileTooLarge { .. } => "IMPORT_FILE_TOO_LARGE",
            Self::TooManyEntries { .. } => "IMPORT_TOO_MANY_ENTRIES",
            Self::TooMuchContent { .. } => "IMPORT_TOO_LARGE",
            Self::PathRefused { .. } => "IMPORT_PATH_REFUSED",
            Self::IgnoreFileTooLarge { .. } => "IMPORT_IGNORE_FILE_TOO_LARGE",
            Self::TooManyIgnoreRules { .. } => "IMPORT_TOO_MANY_IGNORE_RULES",
            Self::Changed { .. } => "IMPORT_CHANGED",
            Self::Tree(error) => error.code(),
            Self::Blob(error) => error.code(),
            Self::Interrupted => "IMPORT_INTERRUPTED",
        }
    }
}
