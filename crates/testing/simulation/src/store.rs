mod tables;

use std::sync::{Arc, Mutex, PoisonError};

use ambit_canonical::CanonicalBytes;
use ambit_ids::{DurationMs, RunId, Scope, UnixMs, limits};
use ambit_ports::leases::{LeaseError, StreamLease, StreamLeases};
use ambit_ports::store::{
    Commit, InboxEntry, OutboxEntry, Seq, SignedHead, Store, StoreError, StoredRecord, StreamId,
};
use async_trait::async_trait;

use tables::Tables;

/// A store and its leases in memory. A clone is the same store, as another process would open it.
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<Tables>>);

impl MemoryStore {
    fn with<T>(&self, act: impl FnOnce(&mut Tables) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Every stream that has a record.
    #[must_use]
    pub fn streams(&self) -> Vec<StreamId> {
        self.with(|tables| tables.streams())
    }

    /// The streams that have a lease, live or not.
    #[must_use]
    pub fn leased(&self) -> Vec<StreamLease> {
        self.with(|tables| tables.leased())
    }

    /// Puts other bytes in the place of a record, as somebody with access to the disk would.
    pub fn tamper(&self, stream: &StreamId, seq: u64, bytes: Vec<u8>) {
        self.with(|tables| tables.tamper(stream, seq, bytes));
    }

    /// Cuts the newest records of a stream off and leaves its head as it is.
    pub fn truncate(&self, stream: &StreamId, records: usize) {
        self.with(|tables| tables.truncate(stream, records));
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn commit(&self, commit: Commit) -> Result<(), StoreError> {
        commit.check()?;
        self.with(|tables| tables.commit(commit))
    }

    async fn read(
        &self,
        stream: &StreamId,
        from: Seq,
        limit: usize,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        Ok(self.with(|tables| tables.page(stream, from, limit)))
    }

    async fn head(&self, stream: &StreamId) -> Result<Option<SignedHead>, StoreError> {
        Ok(self.with(|tables| tables.head(stream)))
    }

    async fn runs(
        &self,
        scope: &Scope,
        after: Option<&RunId>,
        limit: usize,
    ) -> Result<Vec<RunId>, StoreError> {
        Ok(self.with(|tables| tables.runs(scope, after, limit)))
    }

    async fn claim(&self, scope: &Scope, key: &str) -> Result<Option<String>, StoreError> {
        Ok(self.with(|tables| tables.holder(&StreamId::Project(scope.clone()), key)))
    }

    async fn outbox(&self, scope: &Scope, after: u64, limit: usize) -> Result<Vec<OutboxEntry>, StoreError> {
        Ok(self.with(|tables| tables.outbox(scope, after, limit)))
    }

    async fn send(&self, stream: &StreamId, command: CanonicalBytes) -> Result<u64, StoreError> {
        if command.as_bytes().len() > limits::RECORD_BYTES {
            return Err(StoreError::Malformed("the command is too large"));
        }
        self.with(|tables| tables.leave(stream, command.into_bytes()))
    }

    async fn inbox(&self, stream: &StreamId) -> Result<Vec<InboxEntry>, StoreError> {
        Ok(self.with(|tables| tables.waiting(stream)))
    }

    async fn dismiss(&self, stream: &StreamId, id: u64) -> Result<(), StoreError> {
        self.with(|tables| tables.dismiss(stream, id));
        Ok(())
    }

    async fn change_mark(&self) -> Result<u64, StoreError> {
        Ok(self.with(|tables| tables.changes()))
    }
}

#[async_trait]
impl StreamLeases for MemoryStore {
    async fn acquire(
        &self,
        stream: &StreamId,
        owner: &str,
        now: UnixMs,
        ttl: DurationMs,
    ) -> Result<StreamLease, LeaseError> {
        if !(1..=limits::LABEL_BYTES).contains(&owner.len()) {
            return Err(StoreError::Malformed("the owner of a lease is empty or too long").into());
        }
        self.with(|tables| tables.acquire(stream, owner, now, ttl))
    }

    async fn renew(
        &self,
        lease: &StreamLease,
        now: UnixMs,
        ttl: DurationMs,
    ) -> Result<StreamLease, LeaseError> {
        self.with(|tables| tables.renew(lease, now, ttl))
    }

    async fn holder(&self, stream: &StreamId, now: UnixMs) -> Result<Option<StreamLease>, LeaseError> {
        let newest = self.with(|tables| tables.leased()).into_iter().find(|lease| lease.stream == *stream);
        Ok(newest.filter(|lease| now < lease.expires))
    }

    async fn release(&self, lease: &StreamLease) -> Result<(), LeaseError> {
        self.with(|tables| tables.release(lease));
        Ok(())
    }
}
