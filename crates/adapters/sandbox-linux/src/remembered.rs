use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use ambit_ids::{ByteCount, Content, Digest, Scope};
use ambit_ports::blobs::{BlobBatch, BlobError, BlobStore, BlobWriter};
use async_trait::async_trait;
use bytes::Bytes;

/// So many blobs are remembered, the latest; the others are put again, which costs a little and changes nothing.
const REMEMBERED: usize = 64;
/// And for so many scopes.
const SCOPES: usize = 64;

/// The digests of blobs that are kept, the newest last.
type Kept = Arc<Mutex<VecDeque<Digest>>>;

/// What the leases of a backend have kept so far.
#[derive(Default)]
pub(crate) struct Memory(Mutex<VecDeque<Scoped>>);

struct Scoped {
    /// Nothing is known of another store, even at the same place: this one's is not given away while it is named here.
    store: Weak<dyn BlobStore>,
    scope: Scope,
    kept: Kept,
}

impl Memory {
    /// A store that is not asked twice to keep the same bytes of this scope.
    pub(crate) fn over(&self, store: Arc<dyn BlobStore>, scope: &Scope) -> Arc<dyn BlobStore> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &Scoped| {
            std::ptr::addr_eq(known.store.as_ptr(), Arc::as_ptr(&store)) && known.scope == *scope
        };
        let kept = match all.iter().find(|known| is_it(known)) {
            Some(known) => Arc::clone(&known.kept),
            None => {
                let kept = Kept::default();
                let store = Arc::downgrade(&store);
                all.push_back(Scoped { store, scope: scope.clone(), kept: Arc::clone(&kept) });
                if all.len() > SCOPES {
                    all.pop_front();
                }
                kept
            }
        };
        Arc::new(Remembered { store, scope: scope.clone(), kept })
    }
}

/// A store that is not asked twice to keep the same bytes: most commands say nothing on one of their streams, and many
/// say the same every time.
struct Remembered {
    store: Arc<dyn BlobStore>,
    scope: Scope,
    kept: Kept,
}

impl Remembered {
    fn kept(&self) -> std::sync::MutexGuard<'_, VecDeque<Digest>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl BlobStore for Remembered {
    async fn put(&self, scope: &Scope, bytes: Bytes) -> Result<Digest, BlobError> {
        let digest = Digest::of(&bytes);
        if *scope == self.scope && self.kept().contains(&digest) {
            return Ok(digest);
        }
        let digest = self.store.put(scope, bytes).await?;
        if *scope == self.scope {
            let mut kept = self.kept();
            if kept.len() >= REMEMBERED {
                kept.pop_front();
            }
            kept.push_back(digest);
        }
        Ok(digest)
    }

    async fn create(&self, scope: &Scope) -> Result<Box<dyn BlobWriter>, BlobError> {
        self.store.create(scope).await
    }

    async fn batch<'a>(&'a self, scope: &Scope) -> Result<Box<dyn BlobBatch + 'a>, BlobError> {
        self.store.batch(scope).await
    }

    async fn get(&self, scope: &Scope, digest: Digest, limit: ByteCount) -> Result<Bytes, BlobError> {
        self.store.get(scope, digest, limit).await
    }

    async fn get_many(
        &self,
        scope: &Scope,
        digests: &[Digest],
        limit: ByteCount,
    ) -> Vec<Result<Content, BlobError>> {
        self.store.get_many(scope, digests, limit).await
    }

    async fn contains(&self, scope: &Scope, digest: Digest) -> Result<bool, BlobError> {
        self.store.contains(scope, digest).await
    }
}
