use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ambit_ids::{ByteCount, Content, Digest, Scope};
use ambit_ports::blobs::{BlobBatch, BlobError, BlobStore, BlobWriter, OneByOne, one_after_another};
use async_trait::async_trait;
use bytes::Bytes;

/// Blobs that live as long as a measurement. There is only one scope in it.
#[derive(Clone, Default)]
pub(crate) struct ProbeBlobs(Arc<Mutex<BTreeMap<Digest, Bytes>>>);

impl ProbeBlobs {
    fn keep(&self, bytes: Bytes) -> Digest {
        let digest = Digest::of(&bytes);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(digest, bytes);
        digest
    }
}

#[async_trait]
impl BlobStore for ProbeBlobs {
    async fn put(&self, _: &Scope, bytes: Bytes) -> Result<Digest, BlobError> {
        Ok(self.keep(bytes))
    }

    async fn create(&self, _: &Scope) -> Result<Box<dyn BlobWriter>, BlobError> {
        Ok(Box::new(Writing { blobs: self.clone(), bytes: Vec::new() }))
    }

    async fn batch<'a>(&'a self, scope: &Scope) -> Result<Box<dyn BlobBatch + 'a>, BlobError> {
        Ok(OneByOne::over(self, scope))
    }

    async fn get(&self, _: &Scope, digest: Digest, limit: ByteCount) -> Result<Bytes, BlobError> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&digest).cloned();
        let bytes = found.ok_or(BlobError::NotFound(digest))?;
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

    async fn contains(&self, _: &Scope, digest: Digest) -> Result<bool, BlobError> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&digest))
    }
}

struct Writing {
    blobs: ProbeBlobs,
    bytes: Vec<u8>,
}

#[async_trait]
impl BlobWriter for Writing {
    async fn write(&mut self, chunk: &[u8]) -> Result<(), BlobError> {
        self.bytes.extend_from_slice(chunk);
        Ok(())
    }

    async fn finish(self: Box<Self>) -> Result<(Digest, ByteCount), BlobError> {
        let size = ByteCount::new(self.bytes.len() as u64);
        Ok((self.blobs.keep(Bytes::from(self.bytes)), size))
    }
}
