use std::sync::{Mutex, PoisonError};

use ambit_ids::{ByteCount, RepoPath};
use ambit_ports::blobs::{BlobBatch, BlobError};
use ambit_revision::{Tree, TreeFile};
use tokio::sync::Mutex as AsyncMutex;
use tokio::sync::mpsc::Receiver;
use tokio::try_join;

use crate::found::{Content, Found, Piece};

/// Stores the content of everything that is found, and answers what belongs into the tree.
pub(crate) async fn contents(
    blobs: &dyn BlobBatch,
    found: Receiver<Found>,
) -> Result<Vec<(RepoPath, TreeFile)>, BlobError> {
    let found = AsyncMutex::new(found);
    let files = Mutex::new(Vec::new());
    side_by_side(|| keep_found(blobs, &found, &files)).await?;
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

/// Lets some workers share one work. A store waits for the disk, and waiting for several contents at once costs as much
/// as waiting for one.
async fn side_by_side<F>(worker: impl Fn() -> F) -> Result<(), BlobError>
where
    F: Future<Output = Result<(), BlobError>>,
{
    try_join!(worker(), worker(), worker(), worker(), worker(), worker(), worker(), worker())?;
    Ok(())
}

async fn keep_found(
    blobs: &dyn BlobBatch,
    found: &AsyncMutex<Receiver<Found>>,
    files: &Mutex<Vec<(RepoPath, TreeFile)>>,
) -> Result<(), BlobError> {
    loop {
        let next = found.lock().await.recv().await;
        let Some(Found { path, kind, content }) = next else { return Ok(()) };
        let file = match content {
            Content::Whole(bytes) => {
                let size = ByteCount::new(bytes.len() as u64);
                Some(TreeFile { kind, content: blobs.put(bytes).await?, size })
            }
            Content::Streamed(pieces) => {
                keep_pieces(blobs, pieces).await?.map(|(content, size)| TreeFile { kind, content, size })
            }
        };
        let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
        files.extend(file.map(|file| (path, file)));
    }
}

/// Stores a content that comes in pieces; `None` where it did not come to its end.
async fn keep_pieces(
    blobs: &dyn BlobBatch,
    mut pieces: Receiver<Piece>,
) -> Result<Option<(ambit_ids::Digest, ByteCount)>, BlobError> {
    let mut writer = blobs.create().await?;
    while let Some(piece) = pieces.recv().await {
        match piece {
            Piece::Bytes(bytes) => writer.write(&bytes).await?,
            Piece::End => return writer.finish().await.map(Some),
        }
    }
    Ok(None)
}
