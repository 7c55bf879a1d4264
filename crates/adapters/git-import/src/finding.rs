use std::fmt;

use ambit_ids::RepoPath;

use crate::CommitId;

/// Something that whoever imports should know, and that did not stop the import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The file is a pointer of Git LFS, and that is what was imported: the content lies on a server.
    LfsPointer {
        /// The file.
        path: RepoPath,
    },
    /// A submodule was left out.
    Submodule {
        /// Where it would be.
        path: RepoPath,
        /// The commit of the other repository.
        commit: CommitId,
    },
}

impl Finding {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::LfsPointer { .. } => "LFS_POINTER",
            Self::Submodule { .. } => "SUBMODULE_LEFT_OUT",
        }
    }

    /// The entry that it is about.
    #[must_use]
    pub const fn path(&self) -> &RepoPath {
        match self {
            Self::LfsPointer { path } | Self::Submodule { path, .. } => path,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LfsPointer { path } => {
                write!(f, "{path} is a pointer of Git LFS; its content was not imported")
            }
            Self::Submodule { path, commit } => {
                write!(f, "the submodule {path} at {commit} was left out")
            }
        }
    }
}

/// The longest pointer that Git LFS takes for one.
pub(crate) const LFS_POINTER_BYTES: usize = 1024;

/// Whether a content is a pointer of Git LFS (its specification, version 1).
pub(crate) fn is_lfs_pointer(content: &[u8]) -> bool {
    content.len() < LFS_POINTER_BYTES
        && content.starts_with(b"version https://git-lfs.github.com/spec/v1\n")
        && content.windows(12).any(|part| part == b"\noid sha256:")
}
