//! A control plane that has hardly a descriptor left makes no new sandbox, and loses none.

use std::fs::File;

use ambit_gates::Ending;
use ambit_ports::AbortHandle;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::support::bench_with;

/// Descriptors for all that this program itself has open, and then some.
const ALL: u64 = 160;
/// More than a sandbox takes, so that the last attempt is one that can succeed.
const ENOUGH: usize = 64;

// proves E-P06
// break crates/adapters/sandbox-linux/src/spawner.rs: `_ => Self::Unasked(error),` -> `_ => Self::Gone(error),`
#[test]
fn a_sandbox_that_lives_outlasts_one_that_cannot_be_made() {
    let test = ["descriptors::among_few_descriptors", "--exact", "--ignored", "--nocapture"];
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new(program).args(test).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("test descriptors::among_few_descriptors ... ok"), "{said}");
}

/// In a process of its own, because the limit is one of the process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "only as the process that a_sandbox_that_lives_outlasts_one_that_cannot_be_made starts"]
async fn among_few_descriptors() {
    let (bench, _directory) = bench_with(0);
    let staged = bench.staged("descriptors-first").await;
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(ALL), maximum }).unwrap();
    let mut taken: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    assert!(taken.len() > ENOUGH, "{}", taken.len());
    let (mut refused, mut made) = (0, 0);
    for free in 0..ENOUGH {
        match bench.port.allocate(bench.spec(&format!("descriptors-{free}"))).await {
            Ok(_) => made += 1,
            Err(_) => refused += 1,
        }
        drop(taken.split_off(taken.len() - 1));
        if made > 2 {
            break;
        }
    }
    assert!(refused > 2 && made > 2, "{refused} refused, {made} made");
    drop(taken);
    let command = bench.command(&staged, &["exit", "0"]);
    let seen = bench.port.execute_named(&staged.lease, command, AbortHandle::new().1).await;
    assert_eq!(seen.expect("it lives").ending, Ending::Exited { code: 0 });
    bench.destroy(&staged).await;
}
