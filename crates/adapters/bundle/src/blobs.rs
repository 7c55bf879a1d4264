use std::sync::Arc;

use ambit_ids::{ByteCount, Content, Digest, Scope};
use ambit_ports::blobs::{BlobBatch, BlobError, BlobStore, BlobWriter, one_after_another};
use async_trait::async_trait;
use bytes::Bytes;

use crate::error::BundleError;
use crate::source::Contents;
use crate::{BLOBS, refused};

/// The blobs of a bundle, of the one project that it is about.
#[derive(Debug)]
pub struct BundleBlobs {
    contents: Arc<Contents>,
    scope: Scope,
}

/// Where a blob lies.
pub(crate) fn place(digest: Digest) -> String {
    format!("{BLOBS}/{}", digest.to_hex())
}

impl BundleBlobs {
    pub(crate) fn new(contents: Arc<Contents>, scope: Scope) -> Self {
        Self { contents, scope }
    }
}

#[async_trait]
impl BlobStore for BundleBlobs {
    async fn put(&self, _: &Scope, _: Bytes) -> Result<Digest, BlobError> {
        refused::blobs()
    }

    async fn create(&self, _: &Scope) -> Result<Box<dyn BlobWriter>, BlobError> {
        refused::blobs()
    }

    async fn batch<'a>(&'a self, _: &Scope) -> Result<Box<dyn BlobBatch + 'a>, BlobError> {
        refused::blobs()
    }

    async fn get(&self, scope: &Scope, digest: Digest, limit: ByteCount) -> Result<Bytes, BlobError> {
        if *scope != self.scope {
            return Err(BlobError::NotFound(digest));
        }
        let bytes = self.contents.whole(&place(digest), limit.get()).map_err(|error| match error {
            BundleError::Absent(_) => BlobError::NotFound(digest),
            BundleError::TooLarge { found, most, .. } => BlobError::TooLarge { digest, found, limit: most },
            BundleError::Altered { .. } => BlobError::Corrupt(digest),
            other => BlobError::Io(std::io::Error::other(other)),
        })?;
        if Digest::of(&bytes) == digest { Ok(bytes.into()) } else { Err(BlobError::Corrupt(digest)) }
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
        Ok(*scope == self.scope && self.contents.find(&place(digest)).is_some())
    }
}
