//! Records made durable by the store, of one run or of many at the same time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_canonical::{CanonicalBytes, encode};
use ambit_ids::{Digest, DurationMs, RunId, Scope, UnixMs};
use ambit_ports::leases::{Fence, StreamLeases as _};
use ambit_ports::runtime::Clock as _;
use ambit_ports::signer::Signature;
use ambit_ports::store::{Commit, NewRecord, Seq, SignedHead, Store as _, StreamId, leaf_hash};
use ambit_runtime_system::SystemClock;
use ambit_store_sqlite::{SqliteStore, StoreOptions};
use async_trait::async_trait;
use serde_json::json;
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::failed;
use crate::failure::Failure;
use crate::protocol::{Arm, answer};

/// With the letters around it, 450 bytes: about the average of a run's records.
const TEXT_BYTES: usize = 439;
/// Longer than any measurement.
const LEASE: DurationMs = DurationMs::new(3_600_000);

pub(crate) async fn commit(runs: usize) -> Result<(), Failure> {
    let directory = tempfile::tempdir_in(".").map_err(failed)?;
    let path = directory.path().join("store.sqlite");
    let store = Arc::new(SqliteStore::open(&path, StoreOptions::default()).map_err(failed)?);
    let scope =
        Scope { organization: "bench".parse().map_err(failed)?, project: "store".parse().map_err(failed)? };
    let mut streams = Vec::with_capacity(runs);
    for number in 0..runs {
        let run = RunId::new(format!("run_bench-{number}")).map_err(failed)?;
        let stream = StreamId::Run(scope.clone(), run);
        let lease = store.acquire(&stream, "bench", SystemClock.now(), LEASE).await.map_err(failed)?;
        streams.push((stream, lease.fence));
    }
    let bytes = encode(&json!({ "text": "x".repeat(TEXT_BYTES) })).map_err(failed)?;
    answer(&mut Commits { store, streams, next: 0, bytes, _directory: directory }).await
}

struct Commits {
    store: Arc<SqliteStore>,
    streams: Vec<(StreamId, Fence)>,
    /// The position that the next record of every stream takes.
    next: u64,
    bytes: CanonicalBytes,
    _directory: TempDir,
}

impl Commits {
    fn next_of(&self, stream: &StreamId, fence: Fence) -> Commit {
        let leaf = leaf_hash(self.bytes.as_bytes());
        let record = NewRecord {
            bytes: self.bytes.clone(),
            leaf,
            time: UnixMs::new(1_800_000_000_000),
            kind: "bench.committed".to_owned(),
        };
        // A store keeps signatures and does not check them.
        let signature = Signature { key: Digest::of(b"a key"), bytes: [7; 64] };
        Commit {
            stream: stream.clone(),
            expected: Seq(self.next),
            fence: Some(fence),
            records: vec![record],
            head: SignedHead { seq: Seq(self.next), leaf, signature },
            claims: Vec::new(),
            vacant: Vec::new(),
            outbox: Vec::new(),
            answered: Vec::new(),
        }
    }
}

#[async_trait]
impl Arm for Commits {
    async fn operate(&mut self) -> Result<Duration, Failure> {
        let mut commits: Vec<Commit> =
            self.streams.iter().map(|(stream, fence)| self.next_of(stream, *fence)).collect();
        self.next += 1;
        let started = Instant::now();
        if commits.len() == 1 {
            for commit in commits.drain(..) {
                self.store.commit(commit).await.map_err(failed)?;
            }
        }
        let mut running = JoinSet::new();
        for commit in commits {
            let store = Arc::clone(&self.store);
            running.spawn(async move { store.commit(commit).await });
        }
        while let Some(joined) = running.join_next().await {
            joined.map_err(failed)?.map_err(failed)?;
        }
        Ok(started.elapsed())
    }
}
