use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ambit_ids::{ByteCount, Content, Digest, Scope};
use ambit_ports::blobs::{BlobBatch, BlobError, BlobStore, BlobWriter, OneByOne, one_after_another};
use async_trait::async_trait;
use bytes::Bytes;

type Kept = Arc<Mutex<BTreeMap<(Scope, Digest), Bytes>>>;

/// Blobs in memory, apart for every scope.
#[derive(Clone, Default)]
pub struct MemoryBlobs(Kept);

#[async_trait]
impl BlobStore for MemoryBlobs {
    async fn put(&self, scope: &Scope, bytes: Bytes) -> Result<Digest, BlobError> {
        let digest = Digest::of(&bytes);
        self.0.lock().unwrap().insert((scope.clone(), digest), bytes);
        Ok(digest)
    }

    async fn create(&self, scope: &Scope) -> Result<Box<dyn BlobWriter>, BlobError> {
        Ok(Box::new(Writing { kept: Arc::clone(&self.0), scope: scope.clone(), bytes: Vec::new() }))
    }

    async fn batch<'a>(&'a self, scope: &Scope) -> Result<Box<dyn BlobBatch + 'a>, BlobError> {
        Ok(OneByOne::over(self, scope))
    }

    async fn get(&self, scope: &Scope, digest: Digest, limit: ByteCount) -> Result<Bytes, BlobError> {
        let bytes = self.0.lock().unwrap().get(&(scope.clone(), digest)).cloned();
        let bytes = bytes.ok_or(BlobError::NotFound(digest))?;
        let found = ByteCount::new(bytes.len() as u64);
        if found > limit { Err(BlobError::TooLarge { digest, found, limit }) } else { Ok(bytes) }
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
        Ok(self.0.lock().unwrap().contains_key(&(scope.clone(), digest)))
    }
}

struct Writing {
    kept: Kept,
    scope: Scope,
    bytes: Vec<u8>,
}

#[async_trait]
impl BlobWriter for Writing {
    async fn write(&mut self, chunk: &[u8]) -> Result<(), BlobError> {
        self.bytes.extend_from_slice(chunk);
        Ok(())
    }

    async fn finish(self: Box<Self>) -> Result<(Digest, ByteCount), BlobError> {
        let digest = Digest::of(&self.bytes);
        let size = ByteCount::new(self.bytes.len() as u64);
        self.kept.lock().unwrap().insert((self.scope, digest), Bytes::from(self.bytes));
        Ok((digest, size))
    }
}
