use std::fmt;
use std::io;
use std::path::PathBuf;

use ambit_ids::{ByteCount, GivenPath, PathError, RepoPath, limits};
use ambit_ports::blobs::BlobError;
use ambit_revision::TreeError;

use crate::limits::{PACKS, UNPACKED_BYTES};
use crate::tree_object::TreeFault;
use crate::{CommitId, ObjectId, ObjectKind};

/// Why a commit was not imported. There is no tree then; contents that were stored until then belong to none.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The directory is no repository of git.
    #[error(
        "{} is no repository of git; nothing was imported. Name the directory that holds `.git`, or a bare repository",
        path.display()
    )]
    NotARepository {
        /// What was named.
        path: PathBuf,
        /// Why, where the system told.
        #[source]
        source: Option<io::Error>,
    },
    /// `.git` leads to another directory, and that one does not lead back.
    #[error(
        "{} leads to a repository elsewhere that does not name it; nothing was imported. Name that repository itself",
        path.display()
    )]
    Elsewhere {
        /// What leads there.
        path: PathBuf,
    },
    /// The repository has a format that is not understood.
    #[error("the repository uses {format}, which is not understood; nothing was imported")]
    Format {
        /// The format, in git's words.
        format: &'static str,
    },
    /// Something in the repository cannot be read or is not what it should be.
    #[error(
        "{} cannot be read; nothing was imported. Let this user read it; a symbolic link is not followed",
        path.display()
    )]
    Unreadable {
        /// What was read.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There are too many packs.
    #[error(
        "the repository has more than {PACKS} packs; nothing was imported. `git gc` there makes them one"
    )]
    TooManyPacks,
    /// Nothing has this name.
    #[error(
        "there is no branch, tag or commit {rev}; nothing was imported. `git log --all` lists the commits"
    )]
    RevisionNotFound {
        /// The name.
        rev: String,
    },
    /// Several things have this name.
    #[error("{rev} could be {}; nothing was imported. Use a longer name", found.join(" or "))]
    Ambiguous {
        /// The name.
        rev: String,
        /// What it could be.
        found: Vec<String>,
    },
    /// The branch that is checked out has no commit yet.
    #[error("nothing was committed yet; nothing was imported. Commit, or import the directory itself")]
    NoCommit,
    /// The name is that of something else.
    #[error("{id} is a {kind} and no commit; nothing was imported. Name a commit")]
    NotACommit {
        /// The object.
        id: ObjectId,
        /// What it is.
        kind: ObjectKind,
    },
    /// An object is not there.
    #[error("the {kind} {id} is missing{}; nothing was imported. {absence}", at(path))]
    Missing {
        /// The object.
        id: ObjectId,
        /// What it should be.
        kind: ObjectKind,
        /// Where in the tree it would stand; empty at the top.
        path: String,
        /// What the repository tells about it.
        absence: Absence,
    },
    /// An object is not what its name says.
    #[error("the {kind} {id} is corrupt{}; nothing was imported. `git fsck` there tells more", at(path))]
    Corrupt {
        /// The object.
        id: ObjectId,
        /// What it should be.
        kind: ObjectKind,
        /// Where in the tree it stands; empty at the top.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A directory is none that git writes.
    #[error("the tree {id} is malformed{}; nothing was imported", at(path))]
    TreeMalformed {
        /// The object.
        id: ObjectId,
        /// Where in the tree it stands; empty at the top.
        path: String,
        /// Why.
        #[source]
        source: TreeFault,
    },
    /// A submodule.
    #[error(
        "{path} is a submodule at {commit} of another repository; nothing was imported. Leave submodules out, or \
         import a directory that has them checked out"
    )]
    Submodule {
        /// Where it is.
        path: RepoPath,
        /// The commit that it names.
        commit: CommitId,
    },
    /// The path of an entry is none that a tree can hold.
    #[error("{path} cannot be in a source tree; nothing was imported. Rename it in a commit of its own")]
    PathRefused {
        /// The path.
        path: String,
        /// Why.
        #[source]
        source: PathError,
    },
    /// A file has more bytes than a file of a tree may have.
    #[error(
        "{path} has {size}, and a file may have {limit}; nothing was imported",
        limit = ByteCount::new(limits::FILE_BYTES)
    )]
    FileTooLarge {
        /// The file.
        path: RepoPath,
        /// Its size.
        size: ByteCount,
    },
    /// There are more entries than may be met.
    #[error("the commit has more than {limit} entries; nothing was imported")]
    TooManyEntries {
        /// The limit.
        limit: usize,
    },
    /// All files together have too many bytes.
    #[error("the files have more than {limit} together, {path} among them; nothing was imported")]
    TooMuchContent {
        /// The file that passed the limit.
        path: RepoPath,
        /// The limit.
        limit: ByteCount,
    },
    /// Deltas need too much.
    #[error(
        "more than {} would have to be unpacked, at {path}; nothing was imported. `git repack -adf` there makes \
         shorter chains of deltas",
        ByteCount::new(UNPACKED_BYTES)
    )]
    TooCostly {
        /// The file or directory that passed the limit.
        path: String,
    },
    /// The entries make no tree.
    #[error("the commit makes no source tree; nothing was imported")]
    Tree(#[from] TreeError),
    /// A content could not be stored.
    #[error("a content could not be stored; nothing was imported")]
    Blob(#[from] BlobError),
    /// The import was stopped.
    #[error("the import was stopped before its end; nothing was imported. Import again")]
    Interrupted,
}

/// What a repository tells about an object that it does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// Nothing: it should be there.
    Unexplained,
    /// It was cloned in part, and git would fetch the object. Nothing is fetched here.
    PartialClone,
    /// It is shallow, and ends before this commit.
    Shallow,
    /// It borrows objects from another repository, which is not opened.
    Alternates,
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unexplained => "`git fsck` there tells more",
            Self::PartialClone => "This is a partial clone: `git checkout` of the commit fetches what it needs",
            Self::Shallow => "This is a shallow clone: `git fetch --unshallow` completes it",
            Self::Alternates => {
                "This repository borrows objects from another one, which is not opened: `git repack -ad` copies them"
            }
        })
    }
}

fn at(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(" at {path}") }
}

/// The bytes of a path as text: that of a [`RepoPath`] where it is one, of a [`GivenPath`] where it is not.
pub(crate) fn shown(path: &[u8]) -> String {
    RepoPath::from_bytes(path).map_or_else(|_| GivenPath::of(path).to_string(), |path| path.to_string())
}

impl ImportError {
    /// The entry of the commit that it is about, as text, where it is about one.
    #[must_use]
    pub fn entry(&self) -> Option<String> {
        match self {
            Self::Missing { path, .. } | Self::Corrupt { path, .. } | Self::TreeMalformed { path, .. } => {
                (!path.is_empty()).then(|| path.clone())
            }
            Self::Submodule { path, .. }
            | Self::FileTooLarge { path, .. }
            | Self::TooMuchContent { path, .. } => Some(path.to_string()),
            Self::PathRefused { path, .. } | Self::TooCostly { path } => Some(path.clone()),
            Self::Tree(error) => error.path().map(RepoPath::to_string),
            _ => None,
        }
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotARepository { .. } => "IMPORT_NOT_A_REPOSITORY",
            Self::Elsewhere { .. } => "IMPORT_REPOSITORY_ELSEWHERE",
            Self::Format { .. } => "IMPORT_REPOSITORY_FORMAT",
            Self::Unreadable { .. } => "IMPORT_UNREADABLE",
            Self::TooManyPacks => "IMPORT_TOO_MANY_PACKS",
            Self::RevisionNotFound { .. } => "IMPORT_REVISION_NOT_FOUND",
            Self::Ambiguous { .. } => "IMPORT_REVISION_AMBIGUOUS",
            Self::NoCommit => "IMPORT_NO_COMMIT",
            Self::NotACommit { .. } => "IMPORT_NOT_A_COMMIT",
            Self::Missing { absence, .. } => match absence {
                Absence::Unexplained => "IMPORT_OBJECT_MISSING",
                Absence::PartialClone => "IMPORT_PARTIAL_CLONE",
                Absence::Shallow => "IMPORT_SHALLOW",
                Absence::Alternates => "IMPORT_ALTERNATES",
            },
            Self::Corrupt { .. } => "IMPORT_OBJECT_CORRUPT",
            Self::TreeMalformed { .. } => "IMPORT_TREE_MALFORMED",
            Self::Submodule { .. } => "IMPORT_SUBMODULE",
            Self::PathRefused { .. } => "IMPORT_PATH_REFUSED",
            Self::FileTooLarge { .. } => "IMPORT_FILE_TOO_LARGE",
            Self::TooManyEntries { .. } => "IMPORT_TOO_MANY_ENTRIES",
            Self::TooMuchContent { .. } => "IMPORT_TOO_LARGE",
            Self::TooCostly { .. } => "IMPORT_TOO_COSTLY",
            Self::Tree(error) => error.code(),
            Self::Blob(error) => error.code(),
            Self::Interrupted => "IMPORT_INTERRUPTED",
        }
    }
}
