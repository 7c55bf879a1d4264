//! Blobs in a real directory, which also count what is asked of them.

use std::sync::Mutex;

use ambit_blobs::DirectoryBlobs;
use ambit_ids::{ByteCount, Content, Digest, Scope};
use ambit_ports::blobs::{BlobBatch, BlobError, BlobStore, BlobWriter, OneByOne};
use async_trait::async_trait;
use bytes::Bytes;
use tempfile::TempDir;

/// What was asked of the blobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// How often the blobs were asked for some of them: each time costs a wait.
    pub(crate) waits: usize,
    pub(crate) gets: usize,
    pub(crate) read_bytes: usize,
    pub(crate) puts: usize,
    pub(crate) put_bytes: usize,
}

pub(crate) struct CountingBlobs {
    blobs: DirectoryBlobs,
    asked: Mutex<Asked>,
    _directory: TempDir,
}

impl CountingBlobs {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let blobs = DirectoryBlobs::open(&directory.path().join("blobs")).unwrap();
        Self { blobs, asked: Mutex::default(), _directory: directory }
    }

    /// What was asked since it was last told.
    pub(crate) fn take(&self) -> Asked {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

#[async_trait]
impl BlobStore for CountingBlobs {
    async fn put(&self, scope: &Scope, bytes: Bytes) -> Result<Digest, BlobError> {
        {
            let mut asked = self.asked.lock().unwrap();
            asked.puts += 1;
            asked.put_bytes += bytes.len();
        }
        self.blobs.put(scope, bytes).await
    }

    async fn create(&self, _: &Scope) -> Result<Box<dyn BlobWriter>, BlobError> {
        panic!("a tree and its contents are put whole")
    }

    async fn batch<'a>(&'a self, scope: &Scope) -> Result<Box<dyn BlobBatch + 'a>, BlobError> {
        Ok(OneByOne::over(self, scope))
    }

    async fn get(&self, scope: &Scope, digest: Digest, limit: ByteCount) -> Result<Bytes, BlobError> {
        let bytes = self.blobs.get(scope, digest, limit).await?;
        let mut asked = self.asked.lock().unwrap();
        asked.waits += 1;
        asked.gets += 1;
        asked.read_bytes += bytes.len();
        Ok(bytes)
    }

    async fn get_many(
        &self,
        scope: &Scope,
        digests: &[Digest],
        limit: ByteCount,
    ) -> Vec<Result<Content, BlobError>> {
        let read = self.blobs.get_many(scope, digests, limit).await;
        let mut asked = self.asked.lock().unwrap();
        asked.waits += 1;
        asked.gets += read.len();
        asked.read_bytes += read.iter().flatten().map(|content| content.bytes().len()).sum::<usize>();
        read
    }

    async fn contains(&self, scope: &Scope, digest: Digest) -> Result<bool, BlobError> {
        self.blobs.contains(scope, digest).await
    }
}
