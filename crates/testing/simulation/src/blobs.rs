use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ambit_ids::{ByteCount, Content, Digest, Scope};
use ambit_ports::blobs::{BlobBatch, BlobError, BlobStore, BlobWriter, OneByOne, one_after_another};
use async_trait::async_trait;
use bytes::Bytes;

type Kept = BTreeMap<(Scope, Digest), Bytes>;

/// Blobs in memory. A clone is the same blobs.
#[derive(Clone, Default)]
pub struct MemoryBlobs(Arc<Mutex<Kept>>);

impl MemoryBlobs {
    fn with<T>(&self, act: impl FnOnce(&mut Kept) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Every blob, whoever owns it.
    #[must_use]
    pub fn all(&self) -> Vec<(Scope, Digest, Bytes)> {
        self.with(|kept| {
            kept.iter().map(|((scope, digest), bytes)| (scope.clone(), *digest, bytes.clone())).collect()
        })
    }

    /// Puts other bytes where a blob lies, as somebody with access to the disk would.
    pub fn tamper(&self, scope: &Scope, digest: Digest, bytes: Bytes) {
        self.with(|kept| kept.insert((scope.clone(), digest), bytes));
    }

    /// Removes a blob.
    pub fn remove(&self, scope: &Scope, digest: Digest) {
        self.with(|kept| kept.remove(&(scope.clone(), digest)));
    }
}

#[async_trait]
impl BlobStore for MemoryBlobs {
    async fn put(&self, scope: &Scope, bytes: Bytes) -> Result<Digest, BlobError> {
        let digest = Digest::of(&bytes);
        self.with(|kept| kept.insert((scope.clone(), digest), bytes));
        Ok(digest)
    }

    async fn create(&self, scope: &Scope) -> Result<Box<dyn BlobWriter>, BlobError> {
        Ok(Box::new(MemoryWriter { blobs: self.clone(), scope: scope.clone(), written: Vec::new() }))
    }

    async fn batch<'a>(&'a self, scope: &Scope) -> Result<Box<dyn BlobBatch + 'a>, BlobError> {
        Ok(OneByOne::over(self, scope))
    }

    async fn get(&self, scope: &Scope, digest: Digest, limit: ByteCount) -> Result<Bytes, BlobError> {
        let bytes = self
            .with(|kept| kept.get(&(scope.clone(), digest)).cloned())
            .ok_or(BlobError::NotFound(digest))?;
        let found = ByteCount::new(bytes.len() as u64);
        if found > limit {
            return Err(BlobError::TooLarge { digest, found, limit });
        }
        if Digest::of(&bytes) != digest {
            return Err(BlobError::Corrupt(digest));
        }
        Ok(bytes)
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
        Ok(self.with(|kept| kept.contains_key(&(scope.clone(), digest))))
    }
}

struct MemoryWriter {
    blobs: MemoryBlobs,
    scope: Scope,
    written: Vec<u8>,
}

#[async_trait]
impl BlobWriter for MemoryWriter {
    async fn write(&mut self, chunk: &[u8]) -> Result<(), BlobError> {
        self.written.extend_from_slice(chunk);
        Ok(())
    }

    async fn finish(self: Box<Self>) -> Result<(Digest, ByteCount), BlobError> {
        let size = ByteCount::new(self.written.len() as u64);
        let digest = self.blobs.put(&self.scope, self.written.into()).await?;
        Ok((digest, size))
    }
}
