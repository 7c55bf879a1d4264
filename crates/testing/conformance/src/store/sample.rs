//! Small commits that a store takes, and everything that it then holds.

use ambit_canonical::{CanonicalBytes, encode};
use ambit_ids::{Digest, DurationMs, OrganizationId, ProjectId, RunId, Scope, UnixMs};
use ambit_ports::leases::{Fence, StreamLeases};
use ambit_ports::signer::Signature;
use ambit_ports::store::{
    Claim, Commit, InboxEntry, NewRecord, OutboxEntry, OutboxMessage, Seq, SignedHead, Store, StoredRecord,
    StreamId, leaf_hash,
};
use serde_json::json;

/// More than any check writes.
const ALL: usize = 10_000;

/// A scope by its two names.
#[must_use]
pub fn scope(organization: &str, project: &str) -> Scope {
    Scope {
        organization: OrganizationId::new(organization).unwrap(),
        project: ProjectId::new(project).unwrap(),
    }
}

/// A run id with a number in it.
#[must_use]
pub fn run(number: usize) -> RunId {
    RunId::new(format!("run_{number:08}")).unwrap()
}

/// The stream of a run of `acme/shop`.
#[must_use]
pub fn run_stream(number: usize) -> StreamId {
    StreamId::Run(scope("acme", "shop"), run(number))
}

/// The stream of the project `acme/shop`, which needs no lease.
#[must_use]
pub fn project_stream() -> StreamId {
    StreamId::Project(scope("acme", "shop"))
}

/// Canonical bytes that hold a text.
#[must_use]
pub fn canonical(text: &str) -> CanonicalBytes {
    encode(&json!({ "text": text })).unwrap()
}

/// A record that holds a text.
#[must_use]
pub fn record(text: &str) -> NewRecord {
    let bytes = canonical(text);
    NewRecord {
        leaf: leaf_hash(bytes.as_bytes()),
        bytes,
        time: UnixMs::new(1_800_000_000_000),
        kind: "sample.taken".to_owned(),
    }
}

/// A commit of one record per text, with the head that belongs to it.
#[must_use]
pub fn commit(stream: &StreamId, expected: u64, fence: Option<Fence>, texts: &[&str]) -> Commit {
    let records: Vec<NewRecord> = texts.iter().map(|text| record(text)).collect();
    let mut commit = Commit {
        stream: stream.clone(),
        expected: Seq(expected),
        fence,
        head: head(Seq(0), Digest::of(b"")),
        records,
        claims: Vec::new(),
        vacant: Vec::new(),
        outbox: Vec::new(),
        answered: Vec::new(),
    };
    renew_head(&mut commit);
    commit
}

/// Makes the head fit the records again, after a check changed them.
pub fn renew_head(commit: &mut Commit) {
    if let Some(last) = commit.records.last() {
        commit.head = head(Seq(commit.expected.0 + commit.records.len() as u64 - 1), last.leaf);
    }
}

/// A head with a signature that nobody checks: that is not a store's business.
fn head(seq: Seq, leaf: Digest) -> SignedHead {
    let mut bytes = [7; 64];
    bytes[..32].copy_from_slice(leaf.as_bytes());
    SignedHead { seq, leaf, signature: Signature { key: Digest::of(b"a key"), bytes } }
}

/// A claim.
#[must_use]
pub fn claim(key: &str, value: &str) -> Claim {
    Claim { key: key.to_owned(), value: value.to_owned() }
}

/// A message for others.
#[must_use]
pub fn message(text: &str) -> OutboxMessage {
    OutboxMessage { event_type: "SampleTaken.v1".to_owned(), body: canonical(text) }
}

/// The fence of a lease on `stream` that `owner` takes at `now`, for a second.
pub async fn fence<S: StreamLeases>(store: &S, stream: &StreamId, owner: &str, now: u64) -> Fence {
    store.acquire(stream, owner, UnixMs::new(now), DurationMs::new(1_000)).await.unwrap().fence
}

/// Everything that a store answers about some streams and claims.
#[derive(Debug, PartialEq, Eq)]
pub struct Dump {
    heads: Vec<Option<SignedHead>>,
    records: Vec<Vec<StoredRecord>>,
    inboxes: Vec<Vec<InboxEntry>>,
    runs: Vec<Vec<RunId>>,
    outboxes: Vec<Vec<OutboxEntry>>,
    claims: Vec<Option<String>>,
}

impl Dump {
    /// Asks for everything.
    pub async fn of<S: Store>(store: &S, streams: &[StreamId], scopes: &[Scope], keys: &[&str]) -> Self {
        let mut dump = Self {
            heads: Vec::new(),
            records: Vec::new(),
            inboxes: Vec::new(),
            runs: Vec::new(),
            outboxes: Vec::new(),
            claims: Vec::new(),
        };
        for stream in streams {
            dump.heads.push(store.head(stream).await.unwrap());
            dump.records.push(store.read(stream, Seq(0), ALL).await.unwrap());
            dump.inboxes.push(store.inbox(stream).await.unwrap());
        }
        for scope in scopes {
            dump.runs.push(store.runs(scope, None, ALL).await.unwrap());
            dump.outboxes.push(store.outbox(scope, 0, ALL).await.unwrap());
            for key in keys {
                dump.claims.push(store.claim(scope, key).await.unwrap());
            }
        }
        dump
    }

    /// Whether nothing at all is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heads.iter().all(Option::is_none)
            && self.records.iter().all(Vec::is_empty)
            && self.inboxes.iter().all(Vec::is_empty)
            && self.runs.iter().all(Vec::is_empty)
            && self.outboxes.iter().all(Vec::is_empty)
            && self.claims.iter().all(Option::is_none)
    }
}
