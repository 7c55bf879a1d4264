//! The evidence writer: chains records, signs the head, and commits both together with whatever they justify.
//!
//! It also reads, and never believes what it reads: every link and the signature of the head are checked each time a
//! stream is loaded, so that nothing is ever decided on a stream that somebody altered.

#![forbid(unsafe_code)]

mod append;
mod load;

use std::sync::Arc;

use ambit_evidence::{ChainBreak, StreamName};
use ambit_ids::{Digest, UnixMs};
use ambit_ports::leases::Fence;
use ambit_ports::runtime::Entropy;
use ambit_ports::signer::{Signer, SignerError};
use ambit_ports::store::{Claim, OutboxMessage, Store, StoreError, StreamId};

pub use ambit_evidence::v1::Entry;
pub use load::{Loaded, checked_end, verify_head};

/// Writes and reads streams of records.
#[derive(Clone)]
pub struct Journal {
    store: Arc<dyn Store>,
    signer: Arc<dyn Signer>,
    entropy: Arc<dyn Entropy>,
}

/// What becomes true together with the records of one commit.
#[derive(Clone, Debug, Default)]
pub struct Together {
    /// The fence of the lease under which it is written.
    pub fence: Option<Fence>,
    /// Keys that must be free.
    pub claims: Vec<Claim>,
    /// Messages for others.
    pub outbox: Vec<OutboxMessage>,
    /// Commands of the inbox that the records answer.
    pub answered: Vec<u64>,
}

/// The end of a stream: where the next record goes and what it follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tip {
    /// The position of the next record.
    pub next: u64,
    /// The leaf hash that the next record names as its predecessor.
    pub leaf: Digest,
}

/// Why a stream could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The head could not be signed, so nothing was written.
    #[error("the head of the stream could not be signed; nothing was written")]
    Signer(#[from] SignerError),
    /// The record does not fit its limits, so nothing was written.
    #[error(
        "the record has {found} bytes, more than the {limit} that a record may have; nothing was written"
    )]
    RecordTooLarge {
        /// The size.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// The record has no canonical bytes, so nothing was written.
    #[error("the record has no canonical form; nothing was written")]
    Unwritable(#[source] ambit_canonical::EncodeError),
    /// A link of the chain is broken.
    #[error(transparent)]
    Chain(#[from] ChainBreak),
    /// The head is missing, is of another position or content, or is not signed by the log key.
    #[error("the head of {stream} is not genuine: {why}")]
    Head {
        /// The stream.
        stream: StreamName,
        /// What is wrong.
        why: HeadFault,
    },
}

/// What is wrong with a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadFault {
    /// There are records and no head.
    #[error("there is none")]
    Missing,
    /// The head names another end than the records have: some were cut off or put there.
    #[error("it names record {head} as the last, and the stream has {records} records")]
    Position {
        /// The position that the head names.
        head: u64,
        /// The records that are there.
        records: u64,
    },
    /// The head names another hash than the last record has.
    #[error("it names another last record")]
    Leaf,
    /// The signature was not made by the log key over this head.
    #[error("it is not signed by the log key")]
    Signature,
}

impl JournalError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::Signer(_) => "SIGNER_FAILED",
            Self::RecordTooLarge { .. } => "RECORD_TOO_LARGE",
            Self::Unwritable(_) => "RECORD_UNWRITABLE",
            Self::Chain(_) => "TRACE_BROKEN",
            Self::Head { .. } => "TRACE_HEAD_FORGED",
        }
    }
}

impl Journal {
    /// A journal over a store, signing with the log key.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, signer: Arc<dyn Signer>, entropy: Arc<dyn Entropy>) -> Self {
        Self { store, signer, entropy }
    }

    /// The store behind it, for what is no record: leases, inboxes, listings.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The name of a stream, as it stands in records.
    #[must_use]
    pub fn name(stream: &StreamId) -> StreamName {
        StreamName {
            organization: stream.organization().clone(),
            project: stream.project().cloned(),
            run: stream.run().cloned(),
        }
    }
}

/// The moment of a record, as it is written.
fn timestamp(at: UnixMs) -> String {
    at.to_string()
}
