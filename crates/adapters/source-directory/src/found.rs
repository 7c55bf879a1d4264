//! What the walk hands over to be stored.

use ambit_ids::RepoPath;
use ambit_revision::FileKind;
use bytes::Bytes;
use tokio::sync::mpsc::Receiver;

/// A file or link that was found.
pub(crate) struct Found {
    pub(crate) path: RepoPath,
    pub(crate) kind: FileKind,
    pub(crate) content: Content,
}

/// The bytes of a file, or the target of a link.
pub(crate) enum Content {
    /// All of them.
    Whole(Bytes),
    /// Piece by piece. Where the last piece does not come, the file changed meanwhile and none of them counts.
    Streamed(Receiver<Piece>),
}

/// A piece of a content.
pub(crate) enum Piece {
    /// Some bytes.
    Bytes(Bytes),
    /// There are no more, and the file did not change while they were read.
    End,
}
