use std::sync::Arc;

use ambit_ports::blobs::BlobStore;
use ambit_ports::policy::Policies;
use ambit_ports::store::Store;

use crate::log_keys::LogKeys;

/// Verifies runs and projects of one store. Reads, and writes nothing.
#[derive(Clone)]
pub struct Verifier {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) blobs: Arc<dyn BlobStore>,
    pub(crate) log_keys: LogKeys,
    pub(crate) policies: Arc<dyn Policies>,
}

impl Verifier {
    /// A verifier over a store and its blobs. `log_keys` are those of which one must have signed each head, from a source that
    /// whoever can write to the store does not control.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        blobs: Arc<dyn BlobStore>,
        log_keys: impl Into<LogKeys>,
        policies: Arc<dyn Policies>,
    ) -> Self {
        Self { store, blobs, log_keys: log_keys.into(), policies }
    }
}
