use ambit_canonical::CanonicalBytes;
use ambit_ids::{ByteCount, Content, Digest, DurationMs, RunId, Scope, UnixMs};
use ambit_ports::blobs::{BlobBatch, BlobError, BlobStore, BlobWriter, OneByOne, one_after_another};
use ambit_ports::leases::{LeaseError, StreamLease, StreamLeases};
use ambit_ports::store::{
    Commit, InboxEntry, OutboxEntry, Seq, SignedHead, Store, StoreError, StoredRecord, StreamId,
};
use async_trait::async_trait;
use bytes::Bytes;

use crate::{Cut, Fault, Faults};

/// A port between which and its callers things go wrong as planned.
#[derive(Clone)]
pub struct Faulty<P> {
    port: P,
    faults: Faults,
}

impl<P> Faulty<P> {
    /// A port with a plan.
    pub const fn new(port: P, faults: Faults) -> Self {
        Self { port, faults }
    }
}

fn stumble() -> std::io::Error {
    std::io::Error::other("planned")
}

fn store_error(fault: Fault, commit: &Commit) -> StoreError {
    match fault {
        Fault::NoSpace => StoreError::NoSpace(stumble().into()),
        Fault::Moved => {
            let found = Seq(commit.expected.0 + 1);
            StoreError::Moved { stream: commit.stream.clone(), expected: commit.expected, found }
        }
        Fault::Fail | Fault::Stolen => StoreError::Failed(stumble().into()),
    }
}

fn blob_error(fault: Fault) -> BlobError {
    match fault {
        Fault::NoSpace => BlobError::NoSpace(stumble()),
        Fault::Fail | Fault::Moved | Fault::Stolen => BlobError::Io(stumble()),
    }
}

impl<S: Store> Faulty<S> {
    async fn reading(&self) -> Result<(), StoreError> {
        match self.faults.pass(Cut::StoreRead).await {
            Some(_) => Err(StoreError::Failed(stumble().into())),
            None => Ok(()),
        }
    }
}

impl<L: StreamLeases> Faulty<L> {
    /// Another process takes the lease of a stream over, at a moment when nobody could deny it to it, and is gone again.
    async fn steal(&self, stream: &StreamId) -> Result<(), StoreError> {
        let late = UnixMs::new(u64::MAX / 4);
        let stolen = self.port.acquire(stream, "thief", late, DurationMs::new(1)).await;
        if let Ok(lease) = stolen {
            self.port.release(&lease).await.ok();
        }
        Ok(())
    }
}

#[async_trait]
impl<S: Store + StreamLeases> Store for Faulty<S> {
    async fn commit(&self, commit: Commit) -> Result<(), StoreError> {
        match self.faults.pass(Cut::CommitBefore).await {
            Some(Fault::Stolen) => self.steal(&commit.stream).await?,
            Some(fault) => return Err(store_error(fault, &commit)),
            None => {}
        }
        let told = commit.clone();
        self.port.commit(commit).await?;
        match self.faults.pass(Cut::CommitAfter).await {
            Some(fault) => Err(store_error(fault, &told)),
            None => Ok(()),
        }
    }

    async fn read(
        &self,
        stream: &StreamId,
        from: Seq,
        limit: usize,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        self.reading().await?;
        self.port.read(stream, from, limit).await
    }

    async fn head(&self, stream: &StreamId) -> Result<Option<SignedHead>, StoreError> {
        self.reading().await?;
        self.port.head(stream).await
    }

    async fn runs(
        &self,
        scope: &Scope,
        after: Option<&RunId>,
        limit: usize,
    ) -> Result<Vec<RunId>, StoreError> {
        self.reading().await?;
        self.port.runs(scope, after, limit).await
    }

    async fn claim(&self, scope: &Scope, key: &str) -> Result<Option<String>, StoreError> {
        self.reading().await?;
        self.port.claim(scope, key).await
    }

    async fn outbox(&self, scope: &Scope, after: u64, limit: usize) -> Result<Vec<OutboxEntry>, StoreError> {
        self.reading().await?;
        self.port.outbox(scope, after, limit).await
    }

    async fn send(&self, stream: &StreamId, command: CanonicalBytes) -> Result<u64, StoreError> {
        self.port.send(stream, command).await
    }

    async fn inbox(&self, stream: &StreamId) -> Result<Vec<InboxEntry>, StoreError> {
        self.reading().await?;
        self.port.inbox(stream).await
    }

    async fn dismiss(&self, stream: &StreamId, id: u64) -> Result<(), StoreError> {
        self.port.dismiss(stream, id).await
    }

    async fn change_mark(&self) -> Result<u64, StoreError> {
        self.reading().await?;
        self.port.change_mark().await
    }
}

#[async_trait]
impl<L: StreamLeases> StreamLeases for Faulty<L> {
    async fn acquire(
        &self,
        stream: &StreamId,
        owner: &str,
        now: UnixMs,
        ttl: DurationMs,
    ) -> Result<StreamLease, LeaseError> {
        self.port.acquire(stream, owner, now, ttl).await
    }

    async fn renew(
        &self,
        lease: &StreamLease,
        now: UnixMs,
        ttl: DurationMs,
    ) -> Result<StreamLease, LeaseError> {
        match self.faults.pass(Cut::LeaseRenew).await {
            Some(Fault::Stolen) => self.steal(&lease.stream).await?,
            Some(Fault::NoSpace) => return Err(StoreError::NoSpace(stumble().into()).into()),
            Some(Fault::Fail | Fault::Moved) => return Err(StoreError::Failed(stumble().into()).into()),
            None => {}
        }
        self.port.renew(lease, now, ttl).await
    }

    async fn holder(&self, stream: &StreamId, now: UnixMs) -> Result<Option<StreamLease>, LeaseError> {
        self.port.holder(stream, now).await
    }

    async fn release(&self, lease: &StreamLease) -> Result<(), LeaseError> {
        self.port.release(lease).await
    }
}

#[async_trait]
impl<B: BlobStore> BlobStore for Faulty<B> {
    async fn put(&self, scope: &Scope, bytes: Bytes) -> Result<Digest, BlobError> {
        match self.faults.pass(Cut::BlobPut).await {
            Some(fault) => Err(blob_error(fault)),
            None => self.port.put(scope, bytes).await,
        }
    }

    async fn create(&self, scope: &Scope) -> Result<Box<dyn BlobWriter>, BlobError> {
        match self.faults.pass(Cut::BlobPut).await {
            Some(fault) => Err(blob_error(fault)),
            None => self.port.create(scope).await,
        }
    }

    async fn batch<'a>(&'a self, scope: &Scope) -> Result<Box<dyn BlobBatch + 'a>, BlobError> {
        Ok(OneByOne::over(self, scope))
    }

    async fn get(&self, scope: &Scope, digest: Digest, limit: ByteCount) -> Result<Bytes, BlobError> {
        match self.faults.pass(Cut::BlobGet).await {
            Some(fault) => Err(blob_error(fault)),
            None => self.port.get(scope, digest, limit).await,
        }
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
        self.port.contains(scope, digest).await
    }
}
