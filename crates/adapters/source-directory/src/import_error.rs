use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use ambit_ids::{ByteCount, PathError, RepoPath, limits};
use ambit_ports::blobs::BlobError;
use ambit_revision::TreeError;

use crate::EntryPath;
use crate::limits::{IGNORE_FILE_BYTES, IGNORE_RULES};

/// Why a directory was not read as a source tree. There is no tree then; contents that were stored until then belong to none.
///
/// A directory is read for an import, a patch, a digest or a sandbox. The messages say what is wrong with it and what mends
/// that; whoever asked for it says what became of what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// What is to be imported is no directory.
    #[error("{}", no_directory(path, source))]
    NotADirectory {
        /// What was named.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// An entry cannot be read.
    #[error("{path} cannot be read. Let this user read it, or name it in a .gitignore")]
    Unreadable {
        /// The entry.
        path: EntryPath,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// An entry is no file, link or directory.
    #[error("{path} is a {kind}, and a source tree cannot hold one. Remove it, or name it in a .gitignore")]
    SpecialFile {
        /// The entry.
        path: EntryPath,
        /// What it is.
        kind: SpecialFile,
    },
    /// A file has more bytes than a file of a tree may have. Nothing of it was read.
    #[error(
        "{path} has {size}, and a file may have {limit}. Take it out of the directory, or name it in a .gitignore",
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
        "the directory has more than {limit} entries. Name those that are no source, such as what a build makes, in a \
         .gitignore: a directory that is left out counts once"
    )]
    TooManyEntries {
        /// The limit.
        limit: usize,
    },
    /// All files together have too many bytes.
    #[error(
        "the files have more than {limit} together, {path} among them. Name those that are no source in a .gitignore"
    )]
    TooMuchContent {
        /// The file that passed the limit.
        path: EntryPath,
        /// The limit.
        limit: ByteCount,
    },
    /// The path of an entry is none that a tree can hold.
    #[error("{path} cannot be in a source tree. Rename it, or name it in a .gitignore")]
    PathRefused {
        /// The path.
        path: EntryPath,
        /// Why.
        #[source]
        source: PathError,
    },
    /// A `.gitignore` file is too large.
    #[error(
        "{path} has more than {limit}. Make it shorter",
        limit = ByteCount::new(IGNORE_FILE_BYTES as u64)
    )]
    IgnoreFileTooLarge {
        /// The file.
        path: EntryPath,
    },
    /// Too many rules of `.gitignore` files are in force.
    #[error("{path} and those above it have more than {IGNORE_RULES} rules. Use fewer")]
    TooManyIgnoreRules {
        /// The file that passed the limit.
        path: EntryPath,
    },
    /// An entry changed while it was read, twice.
    #[error("{path} changed while it was read. Do the same again once nothing writes there")]
    Changed {
        /// The entry.
        path: EntryPath,
    },
    /// The entries make no tree.
    #[error("the directory makes no source tree")]
    Tree(#[from] TreeError),
    /// A content could not be stored.
    #[error("a content could not be stored")]
    Blob(#[from] BlobError),
    /// The reading was stopped.
    #[error("the reading was stopped before its end. Do the same again")]
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
    /// The entry of the directory that it is about, as text, where it is about one.
    #[must_use]
    pub fn entry(&self) -> Option<String> {
        match self {
            Self::Unreadable { path, .. }
            | Self::SpecialFile { path, .. }
            | Self::FileTooLarge { path, .. }
            | Self::TooMuchContent { path, .. }
            | Self::PathRefused { path, .. }
            | Self::IgnoreFileTooLarge { path }
            | Self::TooManyIgnoreRules { path }
            | Self::Changed { path } => Some(path.to_string()),
            Self::Tree(error) => error.path().map(RepoPath::to_string),
            Self::NotADirectory { .. } | Self::TooManyEntries { .. } | Self::Blob(_) | Self::Interrupted => {
                None
            }
        }
    }

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

/// Why a path is no directory that is read.
fn no_directory(path: &Path, source: &io::Error) -> String {
    let path = path.display();
    if source.kind() == io::ErrorKind::NotFound {
        return format!("{path} does not exist. Name a directory that does");
    }
    format!("{path} is no directory. Name a directory: a symbolic link is not followed")
}
