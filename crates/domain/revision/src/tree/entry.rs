use std::fmt;
use std::sync::Arc;

use ambit_ids::{ByteCount, Digest, PathError, RepoPath};
use serde::{Deserialize, Serialize};

/// What a file of a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// A file.
    File,
    /// A file that can be executed.
    Executable,
    /// A symbolic link. Its content is its target; nothing here ever follows it.
    Link,
}

impl FileKind {
    /// The mode that git writes for it, in octal.
    #[must_use]
    pub const fn git_mode(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
        }
    }
}

/// A file, executable or link of a tree, without its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TreeFile {
    /// What it is.
    pub kind: FileKind,
    /// The digest of its bytes, or of a link's target.
    pub content: Digest,
    /// The number of those bytes.
    pub size: ByteCount,
}

impl TreeFile {
    /// The file that holds exactly `bytes`, or the link whose target they are.
    #[must_use]
    pub fn of(kind: FileKind, bytes: &[u8]) -> Self {
        Self { kind, content: Digest::of(bytes), size: ByteCount::new(bytes.len() as u64) }
    }
}

/// The name of one entry of a directory: a [`RepoPath`] of a single component.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryName(Arc<[u8]>);

impl EntryName {
    /// Validates the bytes of a name.
    ///
    /// # Errors
    /// [`PathError`] where the bytes are not a path of exactly one component.
    pub fn new(bytes: &[u8]) -> Result<Self, PathError> {
        RepoPath::from_bytes(bytes)?;
        if bytes.contains(&b'/') {
            return Err(PathError::NotNormal);
        }
        Ok(Self(bytes.into()))
    }

    /// The name that a component of a valid path is.
    pub(crate) fn of_component(component: &[u8]) -> Self {
        Self(component.into())
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}
