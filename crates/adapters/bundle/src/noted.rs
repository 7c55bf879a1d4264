//! What stands before a store while a run is verified, and notes what was read: so a bundle holds what verification needs
//! because it is what verification took.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ambit_canonical::CanonicalBytes;
use ambit_ids::{ByteCount, Content, Digest, RunId, Scope};
use ambit_ports::blobs::{BlobBatch, BlobError, BlobStore, BlobWriter};
use ambit_ports::store::{
    Commit, InboxEntry, OutboxEntry, Seq, SignedHead, Store, StoreError, StoredRecord, StreamId,
};
use async_trait::async_trait;
use bytes::Bytes;

use crate::refused;

/// A stream as it was read.
#[derive(Clone, Debug, Default)]
pub struct NotedStream {
    /// Its head, where it has one.
    pub head: Option<SignedHead>,
    /// The bytes of its records by position.
    pub records: BTreeMap<u64, Vec<u8>>,
}

/// A store that is only read, and that keeps what was.
pub struct NotedStore {
    inner: Arc<dyn Store>,
    streams: Mutex<BTreeMap<StreamId, NotedStream>>,
}

impl NotedStore {
    /// Stands before a store.
    #[must_use]
    pub fn over(inner: Arc<dyn Store>) -> Self {
        Self { inner, streams: Mutex::default() }
    }

    /// Every stream of which the head was asked for, as it was read last. Of a stream that was only looked into nothing is
    /// kept.
    #[must_use]
    pub fn streams(&self) -> BTreeMap<StreamId, NotedStream> {
        self.noted().clone()
    }

    fn noted(&self) -> MutexGuard<'_, BTreeMap<StreamId, NotedStream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Store for NotedStore {
    async fn commit(&self, _: Commit) -> Result<(), StoreError> {
        refused::store()
    }

    async fn read(
        &self,
        stream: &StreamId,
        from: Seq,
        limit: usize,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        let rows = self.inner.read(stream, from, limit).await?;
        if let Some(noted) = self.noted().get_mut(stream) {
            noted.records.extend(rows.iter().map(|row| (row.seq.0, row.bytes.clone())));
        }
        Ok(rows)
    }

    async fn head(&self, stream: &StreamId) -> Result<Option<SignedHead>, StoreError> {
        let head = self.inner.head(stream).await?;
        // Whoever asks for the head reads the stream anew from there on.
        let noted = NotedStream { head: head.clone(), records: BTreeMap::new() };
        self.noted().insert(stream.clone(), noted);
        Ok(head)
    }

    async fn runs(
        &self,
        scope: &Scope,
        after: Option<&RunId>,
        limit: usize,
    ) -> Result<Vec<RunId>, StoreError> {
        self.inner.runs(scope, after, limit).await
    }

    async fn claim(&self, scope: &Scope, key: &str) -> Result<Option<String>, StoreError> {
        self.inner.claim(scope, key).await
    }

    async fn outbox(&self, scope: &Scope, after: u64, limit: usize) -> Result<Vec<OutboxEntry>, StoreError> {
        self.inner.outbox(scope, after, limit).await
    }

    async fn send(&self, _: &StreamId, _: CanonicalBytes) -> Result<u64, StoreError> {
        refused::store()
    }

    async fn inbox(&self, stream: &StreamId) -> Result<Vec<InboxEntry>, StoreError> {
        self.inner.inbox(stream).await
    }

    async fn dismiss(&self, _: &StreamId, _: u64) -> Result<(), StoreError> {
        refused::store()
    }

    async fn change_mark(&self) -> Result<u64, StoreError> {
        self.inner.change_mark().await
    }
}

/// Blobs that are only read, and that keep the digests of those that were.
pub struct NotedBlobs {
    inner: Arc<dyn BlobStore>,
    read: Mutex<BTreeSet<Digest>>,
}

impl NotedBlobs {
    /// Stands before blobs.
    #[must_use]
    pub fn over(inner: Arc<dyn BlobStore>) -> Self {
        Self { inner, read: Mutex::default() }
    }

    /// The digests of all that were handed out.
    #[must_use]
    pub fn read(&self) -> BTreeSet<Digest> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, digest: Digest) {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).insert(digest);
    }
}

#[async_trait]
impl BlobStore for NotedBlobs {
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
        let bytes = self.inner.get(scope, digest, limit).await?;
        self.note(digest);
        Ok(bytes)
    }

    async fn get_many(
        &self,
        scope: &Scope,
        digests: &[Digest],
        limit: ByteCount,
    ) -> Vec<Result<Content, BlobError>> {
        let answers = self.inner.get_many(scope, digests, limit).await;
        for content in answers.iter().flatten() {
            self.note(content.digest());
        }
        answers
    }

    async fn contains(&self, scope: &Scope, digest: Digest) -> Result<bool, BlobError> {
        let is_there = self.inner.contains(scope, digest).await?;
        if is_there {
            self.note(digest);
        }
        Ok(is_there)
    }
}
