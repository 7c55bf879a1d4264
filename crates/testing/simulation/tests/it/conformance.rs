use std::collections::BTreeMap;
use std::sync::Mutex;

use ambit_conformance::{blobs, leases, signer, store};
use ambit_simulation::{MemoryBlobs, MemoryStore, SimSigner};

/// What was opened under each name: a name that comes again is the same one.
struct Opened<T>(Mutex<BTreeMap<String, T>>);

impl<T: Clone + Default> Opened<T> {
    fn new() -> Self {
        Self(Mutex::default())
    }

    fn open(&self, name: &str) -> T {
        self.0.lock().unwrap().entry(name.to_owned()).or_default().clone()
    }
}

// proves E-O02
// break crates/testing/simulation/src/store/tables.rs: `if found != commit.expected {` -> `if found < commit.expected {`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_in_memory_keeps_the_contract_of_stores() {
    let opened = Opened::<MemoryStore>::new();
    store::suite(|name| opened.open(name)).await;
}

// proves E-O02
// break crates/testing/simulation/src/store/tables.rs: `Some(lease) if now >= lease.expires => Fence(lease.fence.0 + 1),` -> `Some(lease) if now >= lease.expires => lease.fence,`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_leases_in_memory_keep_the_contract_of_leases() {
    let opened = Opened::<MemoryStore>::new();
    leases::suite(|name| opened.open(name)).await;
}

// proves E-O02
// break crates/testing/simulation/src/blobs.rs: `if found > limit {` -> `if found >= limit {`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_blobs_in_memory_keep_the_contract_of_blobs() {
    let opened = Opened::<MemoryBlobs>::new();
    blobs::suite(|name| opened.open(name)).await;
}

#[tokio::test]
async fn the_seeded_signer_keeps_the_contract_of_signers() {
    signer::suite(|name| SimSigner::new(name.bytes().map(u64::from).sum())).await;
}
