//! The one place where anything becomes true: append-only streams of records, one commit at a time.

use std::collections::BTreeSet;

use ambit_canonical::CanonicalBytes;
pub use ambit_canonical::leaf_hash;
use ambit_ids::{Digest, RunId, Scope, UnixMs, limits};
use async_trait::async_trait;

use crate::signer::Signature;
use crate::stream::Fence;
pub use crate::stream::{RunRef, Seq, StreamId};

/// A record as it lies in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    /// Its position.
    pub seq: Seq,
    /// Its canonical bytes, exactly as they were committed.
    pub bytes: Vec<u8>,
    /// The leaf hash that was committed with it (RFC 6962: SHA-256 of 0x00 and the bytes). A claim until recomputed.
    pub leaf: Digest,
}

/// The newest position of a stream, signed by a key outside of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedHead {
    /// The position of the last record.
    pub seq: Seq,
    /// The leaf hash of the last record, which holds the hash of the one before it, and so on.
    pub leaf: Digest,
    /// The signature over the stream, the position and the hash.
    pub signature: Signature,
}

/// A record to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRecord {
    /// Its canonical bytes.
    pub bytes: CanonicalBytes,
    /// Its leaf hash.
    pub leaf: Digest,
    /// When it was made; stands in the bytes too and is kept apart only for looking records up.
    pub time: UnixMs,
    /// Its kind, likewise.
    pub kind: String,
}

/// A key that can be taken once in its organisation and project: a run name, a revision number, a single use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    /// What is claimed: a kind, `/` and a key.
    pub key: String,
    /// What the claim points to, for whoever finds it taken.
    pub value: String,
}

/// A message for other services, handed over in the same transaction as the records that justify it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxMessage {
    /// The type and version, such as `RunCompleted.v1`.
    pub event_type: String,
    /// The message.
    pub body: CanonicalBytes,
}

/// A message as it lies in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEntry {
    /// Its place: greater than that of every earlier message of the store, and not gapless within a project.
    pub id: u64,
    /// The type and version.
    pub event_type: String,
    /// The message, as canonical bytes.
    pub bytes: Vec<u8>,
}

/// A command that another process left for the owner of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxEntry {
    /// Its identity: the order of arrival in the whole store. Never used twice.
    pub id: u64,
    /// The command, as canonical bytes.
    pub bytes: Vec<u8>,
}

/// Everything that becomes true at once, or not at all.
#[derive(Clone, Debug)]
pub struct Commit {
    /// The stream.
    pub stream: StreamId,
    /// The position that the first record takes: the number of records that the committer knows of.
    pub expected: Seq,
    /// The fence of the committer's lease. Required on a run's stream; the others are guarded by `expected`, and where
    /// a fence comes with a commit to one of them, it counts there too.
    pub fence: Option<Fence>,
    /// The records, in order. Never empty.
    pub records: Vec<NewRecord>,
    /// The head after the last record.
    pub head: SignedHead,
    /// Keys that must be free, and are taken.
    pub claims: Vec<Claim>,
    /// Keys that must be free, and stay so.
    pub vacant: Vec<String>,
    /// Messages for others.
    pub outbox: Vec<OutboxMessage>,
    /// Inbox entries of this stream that these records answer. Each MUST wait.
    pub answered: Vec<u64>,
}

impl Commit {
    /// Refuses what no store may look at, before any lock is taken. Every store calls this first.
    ///
    /// # Errors
    /// [`StoreError::Malformed`] where there is no record, one is too large or does not have the leaf hash that it
    /// claims, the head is not that of the last record, a run's stream comes without a fence, or a list or a label
    /// passes its limit ([`limits::COMMIT_ITEMS`], [`limits::LABEL_BYTES`]) or names a thing twice.
    pub fn check(&self) -> Result<(), StoreError> {
        let require = |holds: bool, rule| if holds { Ok(()) } else { Err(StoreError::Malformed(rule)) };
        let last = self.records.last().ok_or(StoreError::Malformed("it has no record"))?;
        let items = [
            self.records.len(),
            self.claims.len(),
            self.vacant.len(),
            self.outbox.len(),
            self.answered.len(),
        ];
        require(items.into_iter().all(|count| count <= limits::COMMIT_ITEMS), "it has too many parts")?;
        for record in &self.records {
            require(record.bytes.as_bytes().len() <= limits::RECORD_BYTES, "a record is too large")?;
            require(
                record.leaf == leaf_hash(record.bytes.as_bytes()),
                "a leaf hash is not that of its record",
            )?;
            require(is_label(&record.kind), "the kind of a record is empty or too long")?;
            require(
                record.time.get() <= limits::CANONICAL_INTEGER_MAX,
                "the time of a record cannot be told",
            )?;
        }
        let end = self.expected.0.checked_add(self.records.len() as u64 - 1);
        require(end == Some(self.head.seq.0), "the head is not at the last record")?;
        require(self.head.seq.0 <= limits::CANONICAL_INTEGER_MAX, "the position cannot be told")?;
        require(self.head.leaf == last.leaf, "the head does not have the leaf hash of the last record")?;
        require(self.fence.is_some() || self.stream.run().is_none(), "a run's stream needs a fence")?;
        for claim in &self.claims {
            require(is_label(&claim.key) && is_label(&claim.value), "a claim is empty or too long")?;
        }
        require(self.vacant.iter().all(|key| is_label(key)), "a key is empty or too long")?;
        require(all_differ(self.claims.iter().map(|claim| &claim.key)), "it claims a key twice")?;
        require(all_differ(self.answered.iter()), "it answers a command twice")?;
        for message in &self.outbox {
            require(is_label(&message.event_type), "the type of a message is empty or too long")?;
            require(message.body.as_bytes().len() <= limits::RECORD_BYTES, "a message is too large")?;
        }
        Ok(())
    }
}

/// Whether a text can stand beside a record.
fn is_label(text: &str) -> bool {
    (1..=limits::LABEL_BYTES).contains(&text.len())
}

fn all_differ<T: Ord>(items: impl Iterator<Item = T>) -> bool {
    let mut seen = BTreeSet::new();
    items.into_iter().all(|item| seen.insert(item))
}

/// The store.
///
/// - [`commit`](Self::commit) MUST be atomic and durable before it answers, and MUST refuse, without any change, when
///   the stream is at another position, when the fence is older than the newest lease of the stream, or when a claim is
///   taken or a key that must be vacant is. A writer that got no answer reads the stream to learn what happened.
/// - A commit whose future is dropped MUST be whole or absent.
/// - Records MUST be append-only for every client of the store, this one included.
/// - A stream, a claim or an inbox of one organisation MUST NOT be visible through another.
/// - A store that was written by a newer version MUST be refused as a whole.
#[async_trait]
pub trait Store: Send + Sync {
    /// Appends.
    async fn commit(&self, commit: Commit) -> Result<(), StoreError>;

    /// At most `limit` records of a stream from `from` on, in order. A stream that does not exist is empty.
    async fn read(&self, stream: &StreamId, from: Seq, limit: usize)
    -> Result<Vec<StoredRecord>, StoreError>;

    /// The head of a stream; `None` where nothing was committed.
    async fn head(&self, stream: &StreamId) -> Result<Option<SignedHead>, StoreError>;

    /// At most `limit` runs of a project, oldest first, from the one after `after` on.
    async fn runs(
        &self,
        scope: &Scope,
        after: Option<&RunId>,
        limit: usize,
    ) -> Result<Vec<RunId>, StoreError>;

    /// What holds a claim of this project.
    async fn claim(&self, scope: &Scope, key: &str) -> Result<Option<String>, StoreError>;

    /// At most `limit` messages of a project and its runs, oldest first, whose id is greater than `after`; 0 is
    /// before the first.
    async fn outbox(&self, scope: &Scope, after: u64, limit: usize) -> Result<Vec<OutboxEntry>, StoreError>;

    /// Leaves a command of at most [`limits::RECORD_BYTES`] for the owner of a stream, and answers its id.
    async fn send(&self, stream: &StreamId, command: CanonicalBytes) -> Result<u64, StoreError>;

    /// The commands that no commit has answered yet, oldest first.
    async fn inbox(&self, stream: &StreamId) -> Result<Vec<InboxEntry>, StoreError>;

    /// Takes a command back that can no longer be answered by a commit, since its stream has ended. Taking back what
    /// does not wait in this stream changes nothing and is no error.
    async fn dismiss(&self, stream: &StreamId, id: u64) -> Result<(), StoreError>;

    /// A number that differs whenever another process may have changed something since it was last asked for.
    async fn change_mark(&self) -> Result<u64, StoreError>;
}

/// Why the store refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The stream is not where the committer thought. Nothing was changed.
    #[error("{stream} is at {found}, not at {expected}", expected = .expected.0, found = .found.0)]
    Moved {
        /// The stream.
        stream: StreamId,
        /// What the committer expected.
        expected: Seq,
        /// Where the stream is.
        found: Seq,
    },
    /// A newer owner took over. Nothing was changed.
    #[error("another process took over {0}")]
    Fenced(StreamId),
    /// The key is taken. Nothing was changed.
    #[error("`{key}` is taken by {holder}")]
    Claimed {
        /// The key.
        key: String,
        /// What it points to.
        holder: String,
    },
    /// The commit or the command is malformed; a defect of the caller. Nothing was changed.
    #[error("malformed: {0}; nothing was changed")]
    Malformed(&'static str),
    /// As many commands as may wait for the owner of the stream do so. Nothing was changed.
    #[error(
        "{0} has too many commands that wait; nothing was changed: send again once its owner has answered some"
    )]
    InboxFull(StreamId),
    /// There is a store of something else in this place.
    #[error("this is not a store of Ambit; nothing was changed: name another place")]
    Foreign,
    /// The store was written by a newer version.
    #[error("the store has the schema version {found}; this program knows versions up to {known}")]
    NewerSchema {
        /// The version found.
        found: u32,
        /// The newest that this program knows.
        known: u32,
    },
    /// The disk is full. Nothing was changed.
    #[error("no space is left for the store; nothing was changed")]
    NoSpace(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Another process held the store for as long as this one was ready to wait. Nothing was changed.
    #[error("another process holds the store; nothing was changed: try again")]
    Busy(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The storage may not be written to. Nothing was changed.
    #[error("the store may not be written to; nothing was changed: check its owner and permissions")]
    ReadOnly(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The storage was altered or damaged: it does not hold what a store holds.
    #[error("the store is damaged")]
    Damaged(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Anything else that the storage answered. A writer reads the stream to learn whether its commit is there.
    #[error("the store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl StoreError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Moved { .. } => "STREAM_MOVED",
            Self::Fenced(_) => "STREAM_FENCED",
            Self::Claimed { .. } => "CLAIM_TAKEN",
            Self::Malformed(_) => "COMMIT_MALFORMED",
            Self::InboxFull(_) => "INBOX_FULL",
            Self::Foreign => "STORE_FOREIGN",
            Self::NewerSchema { .. } => "STORE_NEWER_SCHEMA",
            Self::NoSpace(_) => "STORAGE_FULL",
            Self::Busy(_) => "STORE_BUSY",
            Self::ReadOnly(_) => "STORE_READ_ONLY",
            Self::Damaged(_) => "STORE_DAMAGED",
            Self::Failed(_) => "STORE_FAILED",
        }
    }
}
