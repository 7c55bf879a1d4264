//! Derives everything about a run again from what is stored, and believes nothing that is written there.
//!
//! A run's trace says what was pinned, proposed, decided, done and seen. Here each of these is made again from what it
//! rests on: links and heads from bytes and the log key, pins from documents, decisions from requests and rules, trees
//! from patches, gate records from outputs, the standing of the revision from all of them. What differs is refuted, by
//! the name of the link; what cannot be read is not checked, and never taken for proved.
//!
//! What this cannot tell: whoever holds the log key can write a trace of things that never happened, as long as it fits
//! together; and a store that is put back as a whole to an earlier moment tells the truth of that moment. Both take a
//! witness outside of the store.

#![forbid(unsafe_code)]

mod approvals;
mod base;
mod decisions;
mod documents;
mod eligible;
mod ending;
mod findings;
mod gates;
mod observations;
mod origin;
mod patches;
mod project;
mod report;
mod run;
mod sandboxes;
mod steps;
mod stream;
mod trace;
mod vault;

use std::sync::Arc;

use ambit_ports::blobs::BlobStore;
use ambit_ports::policy::Policies;
use ambit_ports::signer::PublicKey;
use ambit_ports::store::Store;

pub use eligible::{Eligibility, EligibilityStanding, Missing};
pub use report::{Check, CheckId, Finding, LinkName, Report, Standing, Verdict};

/// Verifies runs and projects of one store. Reads, and writes nothing.
#[derive(Clone)]
pub struct Verifier {
    store: Arc<dyn Store>,
    blobs: Arc<dyn BlobStore>,
    log_key: PublicKey,
    policies: Arc<dyn Policies>,
}

impl Verifier {
    /// A verifier over a store and its blobs. `log_key` is the key that heads must be signed by, from a source that whoever
    /// can write to the store does not control.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        blobs: Arc<dyn BlobStore>,
        log_key: PublicKey,
        policies: Arc<dyn Policies>,
    ) -> Self {
        Self { store, blobs, log_key, policies }
    }
}
