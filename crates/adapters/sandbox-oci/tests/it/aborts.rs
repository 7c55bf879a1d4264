//! A command that is aborted while its container is being made.

use std::path::Path;
use std::time::Instant;

use ambit_conformance::sandbox::PROMPT;
use ambit_gates::Ending;
use ambit_ports::AbortHandle;

use crate::support::{QUICKEST, bench, is_there};

/// The directories of the containers of every lease.
fn containers(directory: &Path) -> usize {
    let leases = std::fs::read_dir(directory.join("state/leases")).unwrap().flatten();
    leases.filter_map(|lease| std::fs::read_dir(lease.path().join("containers")).ok()).flatten().count()
}

// proves E-P04
// break crates/adapters/sandbox-oci/src/execute.rs: `absent.recv().await;` -> `absent.close();`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abort_while_a_container_is_made_leaves_nothing_of_it() {
    if !is_there(QUICKEST) {
        return;
    }
    let (bench, directory) = bench(QUICKEST);
    let staged = bench.staged("aborted-early").await;
    let began = Instant::now();
    let (handle, signal) = AbortHandle::new();
    let running = bench.port.execute_named(&staged.lease, bench.command(&staged, &["sleep"]), signal);
    let (seen, ()) = tokio::join!(running, async {
        while containers(directory.path()) == 0 {
            assert!(began.elapsed() < PROMPT, "no container is made");
            tokio::task::yield_now().await;
        }
        handle.abort();
    });
    assert_eq!(containers(directory.path()), 0);
    assert_eq!(seen.unwrap().ending, Ending::Aborted);
    bench.destroy(&staged).await;
}
