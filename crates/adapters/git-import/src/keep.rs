//! What the walk hands over, and how it is stored.

use std::sync::{Mutex, PoisonError};

use ambit_ids::{ByteCount, Digest, RepoPath};
use ambit_ports::blobs::{BlobBatch, BlobError};
use ambit_revision::{FileKind, Tree, TreeFile};
use bytes::Bytes;
use tokio::sync::Mutex as AsyncMutex;
use tokio::sync::mpsc::Receiver;
use tokio::try_join;

/// A file or link of the commit.
pub(crate) struct Found {
    pub(crate) path: RepoPath,
    pub(crate) kind: FileKind,
    pub(crate) content: Content,
}

/// The bytes of a file, or the target of a link.
pub(crate) enum Content {
    /// All of them.
    Whole(Bytes),
    /// Piece by piece. Where the last piece does not come, none of them counts.
    Streamed(Receiver<Piece>),
}

/// A piece of a content.
pub(crate) enum Piece {
    /// Some bytes.
    Bytes(Bytes),
    /// There are no more, and the object has the name under which it lay.
    End,
}

/// Stores the content of everything that is found, and answers what belongs into the tree.
pub(crate) async fn contents(
    blobs: &dyn BlobBatch,
    found: Receiver<Found>,
) -> Result<Vec<(RepoPath, TreeFile)>, BlobError> {
    let found = AsyncMutex::new(found);
    let files = Mutex::new(Vec::new());
    let worker = || keep_found(blobs, &found, &files);
    // Handing a content to a thread that may wait takes longer than reading the next one.
    try_join!(worker(), worker(), worker(), worker())?;
    Ok(files.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Stores the objects of all directories of a tree, but for the root, which is answered.
pub(crate) async fn objects(blobs: &dyn BlobBatch, tree: &Tree) -> Result<Vec<u8>, BlobError> {
    let mut root = Vec::new();
    for object in tree.objects() {
        if object.digest == tree.digest() {
            root = object.bytes;
        } else {
            blobs.put(object.bytes.into()).await?;
        }
    }
    Ok(root)
}

async fn keep_found(
    blobs: &dyn BlobBatch,
    found: &AsyncMutex<Receiver<Found>>,
    files: &Mutex<Vec<(RepoPath, TreeFile)>>,
) -> Result<(), BlobError> {
    loop {
        let next = found.lock().await.recv().await;
        let Some(Found { path, kind, content }) = next else { return Ok(()) };
        let stored = match content {
            Content::Whole(bytes) => {
                let size = ByteCount::new(bytes.len() as u64);
                Some((blobs.put(bytes).await?, size))
            }
            Content::Streamed(pieces) => keep_pieces(blobs, pieces).await?,
        };
        let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
        files.extend(stored.map(|(content, size)| (path, TreeFile { kind, content, size })));
    }
}

/// Stores a content that comes in pieces; `None` where it did not come to its end.
async fn keep_pieces(
    blobs: &dyn BlobBatch,
    mut pieces: Receiver<Piece>,
) -> Result<Option<(Digest, ByteCount)>, BlobError> {
    let mut writer = blobs.create().await?;
    while let Some(piece) = pieces.recv().await {
        match piece {
            Piece::Bytes(bytes) => writer.write(&bytes).await?,
            Piece::End => return writer.finish().await.map(Some),
        }
    }
    Ok(None)
}
