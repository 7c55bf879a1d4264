use std::fmt;

use crate::ObjectId;

/// What a git object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A commit.
    Commit,
    /// A directory.
    Tree,
    /// A content.
    Blob,
    /// An annotated tag.
    Tag,
}

impl ObjectKind {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
            Self::Blob => "blob",
            Self::Tag => "tag",
        }
    }

    pub(crate) fn of_word(word: &[u8]) -> Option<Self> {
        [Self::Commit, Self::Tree, Self::Blob, Self::Tag]
            .into_iter()
            .find(|kind| kind.word().as_bytes() == word)
    }
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The tree of a commit; `None` where the bytes are none.
pub(crate) fn tree_of_commit(bytes: &[u8]) -> Option<ObjectId> {
    let (id, rest) = bytes.strip_prefix(b"tree ")?.split_at_checked(ObjectId::DIGITS)?;
    rest.starts_with(b"\n").then(|| ObjectId::from_hex(id)).flatten()
}

/// What a tag names; `None` where the bytes are no tag.
pub(crate) fn target_of_tag(bytes: &[u8]) -> Option<(ObjectId, ObjectKind)> {
    let (id, rest) = bytes.strip_prefix(b"object ")?.split_at_checked(ObjectId::DIGITS)?;
    let rest = rest.strip_prefix(b"\ntype ")?;
    let end = rest.iter().take(8).position(|byte| *byte == b'\n')?;
    Some((ObjectId::from_hex(id)?, ObjectKind::of_word(&rest[..end])?))
}
