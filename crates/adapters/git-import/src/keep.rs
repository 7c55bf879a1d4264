//! What the walk hands over, and how it is stored.

use ambit_ids::{ByteCount, Digest, RepoPath};
use ambit_ports::blobs::{BlobBatch, BlobError};
use ambit_revision::{FileKind, Tree, TreeFile};
use bytes::Bytes;
use tokio::sync::mpsc::Receiver;

/// Files and links of the commit. Whoever stores them gets many at once: handing one from thread to thread takes longer than
/// storing it.
pub(crate) enum Found {
    /// Small ones, each with all of its bytes.
    Several(Vec<(Entry, Bytes)>),
    /// One whose bytes come in pieces. Where the last piece does not come, none of them counts.
    Streamed(Entry, Receiver<Piece>),
}

/// A file or link.
pub(crate) struct Entry {
    pub(crate) path: RepoPath,
    pub(crate) kind: FileKind,
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
    mut found: Receiver<Found>,
) -> Result<Vec<(RepoPath, TreeFile)>, BlobError> {
    let mut files = Vec::new();
    while let Some(found) = found.recv().await {
        match found {
            Found::Several(several) => {
                let (entries, contents): (Vec<Entry>, Vec<Bytes>) = several.into_iter().unzip();
                let sizes: Vec<u64> = contents.iter().map(|bytes| bytes.len() as u64).collect();
                let digests = blobs.put_all(contents).await?;
                let stored = digests.into_iter().zip(sizes.into_iter().map(ByteCount::new));
                files.extend(entries.into_iter().zip(stored).map(|(entry, stored)| entry.with(stored)));
            }
            Found::Streamed(entry, pieces) => {
                files.extend(keep_pieces(blobs, pieces).await?.map(|stored| entry.with(stored)));
            }
        }
    }
    Ok(files)
}

impl Entry {
    fn with(self, (content, size): (Digest, ByteCount)) -> (RepoPath, TreeFile) {
        (self.path, TreeFile { kind: self.kind, content, size })
    }
}

/// Stores the objects of all directories of a tree, but for the root, which is answered.
pub(crate) async fn objects(blobs: &dyn BlobBatch, tree: &Tree) -> Result<Vec<u8>, BlobError> {
    let mut objects = tree.objects();
    let root = objects.iter().position(|object| object.digest == tree.digest());
    let root = root.map(|root| objects.swap_remove(root).bytes).unwrap_or_default();
    blobs.put_all(objects.into_iter().map(|object| object.bytes.into()).collect()).await?;
    Ok(root)
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
