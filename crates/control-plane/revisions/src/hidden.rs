//! The files of hidden checks. They lie in the blobs like a tree of source, and in no revision.

use std::collections::BTreeSet;

use ambit_ids::{ByteCount, Digest, PathPattern, Scope, limits};
use ambit_revision::{FileKind, Tree};

use crate::{RevisionError, Revisions};

/// Why files of a hidden check cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HiddenFilesError {
    /// They are not what the blueprint says.
    #[error("the hidden files are {found}, and the blueprint names {named}")]
    Differ {
        /// What the blueprint says.
        named: Digest,
        /// What they are.
        found: Digest,
    },
    /// There is none, or there are too many.
    #[error(
        "a hidden check has 1 to {files} files of {bytes} together; these are {0} of {1}",
        files = limits::HIDDEN_FILES,
        bytes = ByteCount::new(limits::HIDDEN_BYTES)
    )]
    Size(usize, ByteCount),
    /// One of them is a link, or its name is no text.
    #[error("{0} is a link, or its name is no text; hidden files are plain files")]
    Unplain(String),
    /// Whoever reads the source can read them.
    #[error("every one of the hidden files lies in the source as well, where an agent reads it")]
    InSource,
    /// One of them is gone or altered.
    #[error("the hidden files {digest} cannot be read whole")]
    Missing {
        /// What the blueprint says.
        digest: Digest,
        /// Why.
        #[source]
        source: Box<RevisionError>,
    },
}

impl HiddenFilesError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Differ { .. } => "HIDDEN_FILES_DIFFER",
            Self::Size(..) => "HIDDEN_FILES_SIZE",
            Self::Unplain(_) => "HIDDEN_FILES_NOT_PLAIN",
            Self::InSource => "HIDDEN_FILES_IN_SOURCE",
            Self::Missing { .. } => "HIDDEN_FILES_MISSING",
        }
    }
}

impl Revisions {
    /// Reads the files of a hidden check: all of them, or none.
    ///
    /// # Errors
    /// [`HiddenFilesError`].
    pub async fn hidden(&self, scope: &Scope, named: Digest) -> Result<Tree, HiddenFilesError> {
        let missing = |source| HiddenFilesError::Missing { digest: named, source: Box::new(source) };
        let tree = self.load(scope, named).await.map_err(missing)?;
        admit_hidden(named, &tree)?;
        for (path, file) in tree.files() {
            self.content(scope, &path, file).await.map_err(missing)?;
        }
        Ok(tree)
    }
}

/// Whether a tree can be the files of a hidden check, and is the one that a blueprint names.
///
/// # Errors
/// [`HiddenFilesError`].
pub fn admit_hidden(named: Digest, tree: &Tree) -> Result<(), HiddenFilesError> {
    let (files, bytes, found) = (tree.file_count(), tree.content_bytes(), tree.digest());
    if !(1..=limits::HIDDEN_FILES).contains(&files) || bytes.get() > limits::HIDDEN_BYTES {
        return Err(HiddenFilesError::Size(files, bytes));
    }
    let mut unplain =
        tree.files().filter(|(path, file)| file.kind == FileKind::Link || PathPattern::of(path).is_none());
    match unplain.next() {
        Some((path, _)) => Err(HiddenFilesError::Unplain(path.to_string())),
        None if found != named => Err(HiddenFilesError::Differ { named, found }),
        None => Ok(()),
    }
}

/// Refuses hidden files of which every one lies in a source, wherever.
///
/// # Errors
/// [`HiddenFilesError::InSource`].
pub fn not_in_source(hidden: &Tree, source: &Tree) -> Result<(), HiddenFilesError> {
    let mut left: BTreeSet<Digest> = hidden.files().map(|(_, file)| file.content).collect();
    for (_, file) in source.files() {
        left.remove(&file.content);
    }
    if left.is_empty() { Err(HiddenFilesError::InSource) } else { Ok(()) }
}
