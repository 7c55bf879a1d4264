use std::sync::Arc;

use ambit_evidence::StreamName;
use ambit_ids::Digest;
use ambit_ports::leases::Fence;
use ambit_ports::runtime::Entropy;
use ambit_ports::signer::Signer;
use ambit_ports::store::{Claim, OutboxMessage, Store, StreamId};

/// Writes and reads streams of records.
#[derive(Clone)]
pub struct Journal {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) signer: Arc<dyn Signer>,
    pub(crate) entropy: Arc<dyn Entropy>,
}

/// What becomes true together with the records of one commit.
#[derive(Clone, Debug, Default)]
pub struct Together {
    /// The fence of the lease under which it is written.
    pub fence: Option<Fence>,
    /// Keys that must be free, and are taken.
    pub claims: Vec<Claim>,
    /// Keys that must be free, and stay so.
    pub vacant: Vec<String>,
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
