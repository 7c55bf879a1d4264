use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use ambit_ids::{ByteCount, Content, Digest, Scope};
use ambit_ports::blobs::{BlobBatch, BlobError, BlobStore, BlobWriter};
use async_trait::async_trait;
use bytes::Bytes;

use crate::batch::DirectoryBatch;
use crate::disk::{blocking, failed, refused};
use crate::incoming::{Home, Incoming, is_stored};
use crate::layout::{BlobName, Found, Layout};
use crate::read::{get, get_many};
use crate::root::{OpenBlobsError, Root};
use crate::stale::remove_stale;
use crate::writer::DirectoryWriter;

/// Blobs in a directory. Any number of processes may use one; it needs a tokio runtime for what waits for the disk.
///
/// A blob has no limit here but the disk's: whoever writes one bounds it.
pub struct DirectoryBlobs(Arc<Layout>);

impl DirectoryBlobs {
    /// Opens the blobs at `path`, or makes the directory there with mode 0700; the one above it must exist. Removes
    /// what crashes left unfinished.
    ///
    /// # Errors
    /// [`OpenBlobsError`] where the directory is not private, not ours, of a newer format, or fails.
    pub fn open(path: &Path) -> Result<Self, OpenBlobsError> {
        let layout = Layout::new(Root::open(path)?);
        remove_stale(&layout, SystemTime::now())
            .map_err(|errno| OpenBlobsError::Io { path: path.to_owned(), source: errno.into() })?;
        Ok(Self(Arc::new(layout)))
    }
}

#[async_trait]
impl BlobStore for DirectoryBlobs {
    async fn put(&self, scope: &Scope, bytes: Bytes) -> Result<Digest, BlobError> {
        let (layout, scope) = (Arc::clone(&self.0), scope.clone());
        blocking(move || put(layout, &scope, &bytes)).await
    }

    async fn create(&self, scope: &Scope) -> Result<Box<dyn BlobWriter>, BlobError> {
        Ok(Box::new(DirectoryWriter::create(Home::Alone(Arc::clone(&self.0), scope.clone())).await?))
    }

    async fn batch<'a>(&'a self, scope: &Scope) -> Result<Box<dyn BlobBatch + 'a>, BlobError> {
        Ok(Box::new(DirectoryBatch::open(Arc::clone(&self.0), scope.clone()).await?))
    }

    async fn get(&self, scope: &Scope, digest: Digest, limit: ByteCount) -> Result<Bytes, BlobError> {
        let (layout, scope) = (Arc::clone(&self.0), scope.clone());
        blocking(move || get(&layout, &scope, digest, limit)).await.map(|content| content.into_bytes().into())
    }

    async fn get_many(
        &self,
        scope: &Scope,
        digests: &[Digest],
        limit: ByteCount,
    ) -> Vec<Result<Content, BlobError>> {
        get_many(&self.0, scope, digests, limit).await
    }

    async fn contains(&self, scope: &Scope, digest: Digest) -> Result<bool, BlobError> {
        let (layout, scope) = (Arc::clone(&self.0), scope.clone());
        blocking(move || match layout.open(&scope, &BlobName::of(digest)).map_err(failed)? {
            Found::Nothing => Ok(false),
            Found::File(..) => Ok(true),
            Found::Other => Err(BlobError::Corrupt(digest)),
        })
        .await
    }
}

fn put(layout: Arc<Layout>, scope: &Scope, bytes: &[u8]) -> Result<Digest, BlobError> {
    let digest = Digest::of(bytes);
    let name = BlobName::of(digest);
    let shard = layout.ensure(scope, &name).map_err(failed)?;
    if is_stored(&layout, scope, &shard, digest, bytes.len() as u64)? {
        return Ok(digest);
    }
    let mut incoming = Incoming::create(Home::Alone(layout, scope.clone())).map_err(refused)?;
    incoming.append(bytes).map_err(refused)?;
    let (digest, _) = incoming.publish()?;
    Ok(digest)
}
