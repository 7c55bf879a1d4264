//! Blobs in memory, which also tell what was done to them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ambit_ids::{ByteCount, Content, Digest, Scope};
use ambit_ports::blobs::{BlobBatch, BlobError, BlobStore, BlobWriter, OneByOne, one_after_another};
use async_trait::async_trait;
use bytes::Bytes;

#[derive(Default)]
pub(crate) struct MemoryBlobs {
    state: Arc<Mutex<State>>,
    /// How many blobs there is room for; no limit where there is none.
    room: Option<usize>,
}

#[derive(Default)]
struct State {
    blobs: BTreeMap<(Scope, Digest), Bytes>,
    /// Every digest in the order in which it was stored first.
    order: Vec<Digest>,
    /// The largest part that was handed over at once.
    largest_part_bytes: usize,
    /// Writers that were neither finished nor dropped.
    open_writers: usize,
    /// Writers that were ever made.
    writers: usize,
}

impl MemoryBlobs {
    pub(crate) fn with_room(room: usize) -> Self {
        Self { room: Some(room), ..Self::default() }
    }

    pub(crate) fn order(&self) -> Vec<Digest> {
        self.state.lock().unwrap().order.clone()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.state.lock().unwrap().blobs.is_empty()
    }

    pub(crate) fn content(&self, scope: &Scope, digest: Digest) -> Option<Bytes> {
        self.state.lock().unwrap().blobs.get(&(scope.clone(), digest)).cloned()
    }

    pub(crate) fn hold(&self, needle: &[u8]) -> bool {
        let state = self.state.lock().unwrap();
        state.blobs.values().any(|blob| blob.windows(needle.len()).any(|part| part == needle))
    }

    pub(crate) fn largest_part_bytes(&self) -> usize {
        self.state.lock().unwrap().largest_part_bytes
    }

    pub(crate) fn writers(&self) -> usize {
        self.state.lock().unwrap().writers
    }

    pub(crate) fn open_writers(&self) -> usize {
        self.state.lock().unwrap().open_writers
    }
}

impl State {
    fn keep(&mut self, scope: &Scope, bytes: Bytes, room: Option<usize>) -> Result<Digest, BlobError> {
        let digest = Digest::of(&bytes);
        let key = (scope.clone(), digest);
        if !self.blobs.contains_key(&key) {
            if room.is_some_and(|room| self.blobs.len() >= room) {
                return Err(BlobError::NoSpace(std::io::ErrorKind::StorageFull.into()));
            }
            self.blobs.insert(key, bytes);
            self.order.push(digest);
        }
        Ok(digest)
    }
}

#[async_trait]
impl BlobStore for MemoryBlobs {
    async fn put(&self, scope: &Scope, bytes: Bytes) -> Result<Digest, BlobError> {
        // A store waits for the disk, and others go on meanwhile.
        tokio::task::yield_now().await;
        let mut state = self.state.lock().unwrap();
        state.largest_part_bytes = state.largest_part_bytes.max(bytes.len());
        state.keep(scope, bytes, self.room)
    }

    async fn create(&self, scope: &Scope) -> Result<Box<dyn BlobWriter>, BlobError> {
        let mut state = self.state.lock().unwrap();
        state.writers += 1;
        state.open_writers += 1;
        Ok(Box::new(MemoryWriter {
            state: Arc::clone(&self.state),
            scope: scope.clone(),
            bytes: Vec::new(),
            room: self.room,
        }))
    }

    async fn batch<'a>(&'a self, scope: &Scope) -> Result<Box<dyn BlobBatch + 'a>, BlobError> {
        Ok(OneByOne::over(self, scope))
    }

    async fn get(&self, scope: &Scope, digest: Digest, limit: ByteCount) -> Result<Bytes, BlobError> {
        let bytes = self.content(scope, digest).ok_or(BlobError::NotFound(digest))?;
        let found = ByteCount::new(bytes.len() as u64);
        if found > limit {
            return Err(BlobError::TooLarge { digest, found, limit });
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
        Ok(self.content(scope, digest).is_some())
    }
}

struct MemoryWriter {
    state: Arc<Mutex<State>>,
    scope: Scope,
    bytes: Vec<u8>,
    room: Option<usize>,
}

#[async_trait]
impl BlobWriter for MemoryWriter {
    async fn write(&mut self, chunk: &[u8]) -> Result<(), BlobError> {
        let mut state = self.state.lock().unwrap();
        state.largest_part_bytes = state.largest_part_bytes.max(chunk.len());
        self.bytes.extend_from_slice(chunk);
        Ok(())
    }

    async fn finish(mut self: Box<Self>) -> Result<(Digest, ByteCount), BlobError> {
        let bytes = Bytes::from(std::mem::take(&mut self.bytes));
        let size = ByteCount::new(bytes.len() as u64);
        let digest = self.state.lock().unwrap().keep(&self.scope, bytes, self.room)?;
        Ok((digest, size))
    }
}

impl Drop for MemoryWriter {
    fn drop(&mut self) {
        self.state.lock().unwrap().open_writers -= 1;
    }
}
