use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, Mode, OFlags, fstat, fsync, mkdir, mkdirat, open, openat, statat};
use rustix::io::Errno;

/// Where blobs are written before they have their names. Stands for the format of the whole directory.
const INCOMING: &str = ".incoming-v1";
/// What every format's name for it begins with.
const ANY_INCOMING: &[u8] = b".incoming-";
/// The same name where case does not count.
const FOLDED: &str = ".INCOMING-V1";

pub(crate) const TO_DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Why a directory is not used for blobs. Nothing in it was changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenBlobsError {
    /// Others than its owner, or the program, can get at it.
    #[error(
        "others can read {path} or own it; nothing was changed: make this user its owner and `chmod 700` it"
    )]
    NotPrivate {
        /// The directory.
        path: PathBuf,
    },
    /// There is something else in it.
    #[error("{path} holds something else than blobs; nothing was changed: name a new or an empty directory")]
    Foreign {
        /// The directory.
        path: PathBuf,
    },
    /// A newer version wrote to it.
    #[error("{path} was written by a newer version; nothing was changed: use that version")]
    NewerFormat {
        /// The directory.
        path: PathBuf,
    },
    /// Two organisations whose names differ in case alone would be one.
    #[error(
        "the file system of {path} does not tell upper from lower case: name a directory on one that does"
    )]
    FoldsCase {
        /// The directory.
        path: PathBuf,
    },
    /// The file system failed.
    #[error("{path} could not be opened for blobs")]
    Io {
        /// The directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl OpenBlobsError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotPrivate { .. } => "BLOBS_NOT_PRIVATE",
            Self::Foreign { .. } => "BLOBS_FOREIGN",
            Self::NewerFormat { .. } => "BLOBS_NEWER_FORMAT",
            Self::FoldsCase { .. } => "BLOBS_FOLD_CASE",
            Self::Io { .. } => "BLOBS_UNREACHABLE",
        }
    }
}

/// A directory of blobs, and the one in it where they come in.
pub(crate) struct Root {
    pub(crate) directory: OwnedFd,
    pub(crate) incoming: OwnedFd,
}

impl Root {
    /// Opens the directory, or makes it where there is none in a directory that exists.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenBlobsError> {
        let named = || path.to_owned();
        let failed = |errno: Errno| OpenBlobsError::Io { path: named(), source: errno.into() };
        let directory = open_or_make(path).map_err(failed)?;
        let found = fstat(&directory).map_err(failed)?;
        if found.st_mode & 0o077 != 0 || found.st_uid != rustix::process::geteuid().as_raw() {
            return Err(OpenBlobsError::NotPrivate { path: named() });
        }
        match content(&directory).map_err(failed)? {
            Content::Blobs => {}
            Content::Nothing => match mkdirat(&directory, INCOMING, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => fsync(&directory).map_err(failed)?,
                Err(errno) => return Err(failed(errno)),
            },
            Content::NewerBlobs => return Err(OpenBlobsError::NewerFormat { path: named() }),
            Content::Other => return Err(OpenBlobsError::Foreign { path: named() }),
        }
        if statat(&directory, FOLDED, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            return Err(OpenBlobsError::FoldsCase { path: named() });
        }
        let incoming = openat(&directory, INCOMING, TO_DIRECTORY, Mode::empty()).map_err(failed)?;
        Ok(Self { directory, incoming })
    }
}

fn open_or_make(path: &Path) -> Result<OwnedFd, Errno> {
    match mkdir(path, Mode::RWXU) {
        Ok(()) => {
            let parent = match path.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent,
                _ => Path::new("."),
            };
            fsync(open(parent, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)?;
        }
        Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno),
    }
    open(path, TO_DIRECTORY, Mode::empty())
}

enum Content {
    Nothing,
    Blobs,
    NewerBlobs,
    Other,
}

fn content(directory: &OwnedFd) -> Result<Content, Errno> {
    let mut content = Content::Nothing;
    for entry in Dir::read_from(directory)? {
        match entry?.file_name().to_bytes() {
            b"." | b".." => {}
            name if name == INCOMING.as_bytes() => content = Content::Blobs,
            name if name.starts_with(ANY_INCOMING) => return Ok(Content::NewerBlobs),
            _ if matches!(content, Content::Nothing) => content = Content::Other,
            _ => {}
        }
    }
    Ok(content)
}
