use std::sync::{Mutex, PoisonError};

use ambit_ids::{ByteCount, RepoPath, Scope};
use ambit_ports::blobs::{BlobError, BlobStore};
use ambit_revision::tree::DirectoryObject;
use ambit_revision::{Tree, TreeFile};
use tokio::sync::Mutex as AsyncMutex;
use tokio::sync::mpsc::Receiver;
use tokio::try_join;

use crate::found::{Content, Found, Piece};

/// Stores the content of everything that is found, and answers what belongs into the tree.
pub(crate) async fn contents(
    scope: &Scope,
    blobs: &dyn BlobStore,
    found: Receiver<Found>,
) -> Result<Vec<(RepoPath, TreeFile)>, BlobError> {
    let found = AsyncMutex::new(found);
    let files = Mutex::new(Vec::new());
    side_by_side(|| keep_found(scope, blobs, &found, &files)).await?;
    Ok(files.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Stores the objects of all directories of a tree, the root last.
pub(crate) async fn objects(scope: &Scope, blobs: &dyn BlobStore, tree: &Tree) -> Result<(), BlobError> {
    let (root, below): (Vec<_>, Vec<_>) =
        tree.objects().into_iter().partition(|object| object.digest == tree.digest());
    for objects in [below, root] {
        let objects = Mutex::new(objects);
        side_by_side(|| keep_objects(scope, blobs, &objects)).await?;
    }
    Ok(())
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
    scope: &Scope,
    blobs: &dyn BlobStore,
    found: &AsyncMutex<Receiver<Found>>,
    files: &Mutex<Vec<(RepoPath, TreeFile)>>,
) -> Result<(), BlobError> {
    loop {
        let next = found.lock().await.recv().await;
        let Some(Found { path, kind, content }) = next else { return Ok(()) };
        let file = match content {
            Content::Whole(bytes) => {
                let size = ByteCount::new(bytes.len() as u64);
                Some(TreeFile { kind, content: blobs.put(scope, bytes).await?, size })
            }
            Content::Streamed(pieces) => keep_pieces(scope, blobs, pieces)
                .await?
                .map(|(content, size)| TreeFile { kind, content, size }),
        };
        let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
        files.extend(file.map(|file| (path, file)));
    }
}

/// Stores a content that comes in pieces; `None` where it did not come to its end.
async fn keep_pieces(
    scope: &Scope,
    blobs: &dyn BlobStore,
    mut pieces: Receiver<Piece>,
) -> Result<Option<(ambit_ids::Digest, ByteCount)>, BlobError> {
    let mut writer = blobs.create(scope).await?;
    while let Some(piece) = pieces.recv().await {
        match piece {
            Piece::Bytes(bytes) => writer.write(&bytes).await?,
            Piece::End => return writer.finish().await.map(Some),
        }
    }
    Ok(None)
}

async fn keep_objects(
    scope: &Scope,
    blobs: &dyn BlobStore,
    objects: &Mutex<Vec<DirectoryObject>>,
) -> Result<(), BlobError> {
    loop {
        let next = objects.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(object) = next else { return Ok(()) };
        blobs.put(scope, object.bytes.into()).await?;
    }
}
