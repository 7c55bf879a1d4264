use std::sync::Arc;

use ambit_ids::{ByteCount, Content, Digest, Scope};
use ambit_ports::blobs::{BlobBatch, BlobError, BlobStore, BlobWriter, one_after_another};
use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::{Semaphore, watch};

use super::MemoryBlobs;

/// The blobs of the bench behind a gate: whoever reads one waits until it is open.
#[derive(Clone)]
pub(super) struct Gated {
    blobs: MemoryBlobs,
    waiting: Arc<Semaphore>,
    open: watch::Sender<bool>,
}

impl Gated {
    pub(super) fn around(blobs: &MemoryBlobs) -> Self {
        Self { blobs: blobs.clone(), waiting: Arc::new(Semaphore::new(0)), open: watch::Sender::new(false) }
    }

    /// Waits until so many more wait.
    pub(super) async fn reached(&self, by: u32) {
        self.waiting.acquire_many(by).await.unwrap().forget();
    }

    pub(super) fn open(&self) {
        self.open.send_replace(true);
    }
}

#[async_trait]
impl BlobStore for Gated {
    async fn put(&self, scope: &Scope, bytes: Bytes) -> Result<Digest, BlobError> {
        self.blobs.put(scope, bytes).await
    }

    async fn create(&self, scope: &Scope) -> Result<Box<dyn BlobWriter>, BlobError> {
        self.blobs.create(scope).await
    }

    async fn batch<'a>(&'a self, scope: &Scope) -> Result<Box<dyn BlobBatch + 'a>, BlobError> {
        self.blobs.batch(scope).await
    }

    async fn get(&self, scope: &Scope, digest: Digest, limit: ByteCount) -> Result<Bytes, BlobError> {
        self.waiting.add_permits(1);
        let _ = self.open.subscribe().wait_for(|is_open| *is_open).await;
        self.blobs.get(scope, digest, limit).await
    }

    async fn get_many(
        &self,
        scope: &Scope,
        digests: &[Digest],
        limit: ByteCount,
    ) -> Vec<Result<Content, BlobError>> {
        one_after_another(self, scope, digests, limit).await
    }

    async fn contains(&self, scope: &Scope, digest: Digest) -> Result<bool, BlobError> {
        self.blobs.contains(scope, digest).await
    }
}
