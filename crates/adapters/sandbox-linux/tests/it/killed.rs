//! The control plane is killed at any moment of an allocation: one look later there is one sandbox for a run that needs
//! one, none for a run that is over, and nothing else.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_conformance::sandbox::{Bench, PROMPT};
use ambit_gates::Ending;
use ambit_ids::LeaseId;
use ambit_ports::sandbox::{Found, LeakScan, Lives, Maker, SandboxLease, SandboxPort, Surface};
use ambit_sandbox_linux::{LinuxSandboxes, PROBER};
use bytes::Bytes;

use crate::support::{adapter, image_digest, volumes};

/// Where the copies of this program that are killed keep their state, and which run they allocate for.
const STATE: &str = "AMBIT_TEST_STATE";
const RUN: &str = "AMBIT_TEST_RUN";
/// How often one is killed.
const KILLS: u64 = 100;
/// A kill comes at most so much later than what it waits for.
const WINDOW_US: u64 = 4_000;

fn bench_of(port: Arc<LinuxSandboxes>) -> Bench {
    Bench::new(port, image_digest(), volumes(), Bytes::from_static(PROBER))
}

fn adapter_at(directory: &Path) -> Arc<LinuxSandboxes> {
    Arc::new(adapter(directory.join("state"), directory.join("image")))
}

/// Whoever else runs these tests at the same time has sandboxes of other names.
fn run(number: u64) -> String {
    format!("killed-{}-{number:03}", std::process::id())
}

fn lease_of(number: u64, bench: &Bench) -> LeaseId {
    SandboxLease::id_of(&Bench::scope(), &bench.spec(&run(number)).run)
}

/// A copy of this program that begins to allocate.
fn begin(directory: &Path, number: u64) -> Child {
    let mut maker = Command::new(std::env::current_exe().unwrap())
        .args(["killed::allocate_until_killed", "--exact", "--ignored", "--nocapture"])
        .env(STATE, directory)
        .env(RUN, run(number))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(maker.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "begin"), "the copy begins");
    maker
}

/// Waits until the allocation has come so far as the number decides: its first word, the name of its maker, its directory,
/// its record, or a tree; and then a little longer.
fn wait(directory: &Path, number: u64, lease: &LeaseId) {
    let home = directory.join("state/leases").join(lease.as_str());
    let sign = match number % 5 {
        0 => directory.to_owned(),
        1 => home.with_extension("maker"),
        2 => home,
        3 => home.join("record"),
        _ => home.join("trees"),
    };
    let is_there = || match number % 5 {
        4 => std::fs::read_dir(&sign).is_ok_and(|mut trees| trees.next().is_some()),
        _ => std::fs::symlink_metadata(&sign).is_ok(),
    };
    let began = Instant::now();
    while !is_there() {
        assert!(began.elapsed() < PROMPT, "{} never comes", sign.display());
    }
    let at = Instant::now() + moment(number);
    while Instant::now() < at {
        std::hint::spin_loop();
    }
}

/// A moment that the number decides, spread evenly (by the golden ratio) over the window.
fn moment(number: u64) -> Duration {
    Duration::from_micros(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % WINDOW_US)
}

/// What was made for a run by a process that is killed.
struct Begun {
    lease: LeaseId,
    /// What the names of its control groups begin with.
    groups: String,
}

impl Begun {
    /// What a look finds of it. What others on this machine leave meanwhile is not its business.
    async fn left(&self, scan: &LinuxSandboxes) -> Vec<Found> {
        let mut found = scan.survey().await.unwrap().found;
        found.retain(|it| it.lease.as_ref() == Some(&self.lease) || it.reference.contains(&self.groups));
        found
    }

    /// What the killed process had started ends by the kernel alone.
    async fn dead(&self, scan: &LinuxSandboxes) {
        let is_alive = |found: &Found| match found.surface {
            Surface::Processes => true,
            Surface::ControlGroups => std::fs::read_to_string(format!("{}/cgroup.procs", found.reference))
                .is_ok_and(|processes| !processes.is_empty()),
            _ => false,
        };
        let began = Instant::now();
        while self.left(scan).await.iter().any(is_alive) {
            assert!(began.elapsed() < PROMPT, "{:?}", self.left(scan).await);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Everything goes that nobody alive made, which is what the control plane removes for runs that are over. A process
    /// may be seen while it ends, when nobody can tell any more who made it.
    async fn sweep(&self, port: &LinuxSandboxes) {
        let began = Instant::now();
        loop {
            let left = self.left(port).await;
            if left.is_empty() {
                return;
            }
            assert!(began.elapsed() < PROMPT, "{left:?}");
            for found in left {
                let is_ending = found.surface == Surface::Processes && found.maker == Maker::Unknown;
                assert!(found.maker == Maker::Gone || is_ending, "{found:?}");
                if !is_ending {
                    port.remove(&found).await.unwrap();
                }
            }
        }
    }
}

// proves E-P06 E-P04 E-T45
// break crates/mechanisms/ownership/src/directories.rs: `found.insert(entry.path().with_file_name(lease.as_str()), lease);` -> `let _ = (&mut found, lease);`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_control_plane_killed_at_any_moment_leaves_one_sandbox_or_none() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("image")).unwrap();
    let port = adapter_at(directory.path());
    let bench = bench_of(port.clone());
    let mut halves = 0;
    for number in 0..KILLS {
        let mut maker = begin(directory.path(), number);
        let begun = Begun { lease: lease_of(number, &bench), groups: format!("/ambit-{}-", maker.id()) };
        wait(directory.path(), number, &begun.lease);
        maker.kill().unwrap();
        maker.wait().unwrap();
        begun.dead(&port).await;
        let is_left = begun.left(&port).await.iter().any(|found| found.surface == Surface::Leases);
        halves += u64::from(is_left);
        if (number / 5).is_multiple_of(2) {
            reconcile_a_run_that_goes_on(&bench, &port, number).await;
        }
        begun.sweep(&port).await;
    }
    println!("{halves} of {KILLS} kills left something on the disk");
    assert!(halves > KILLS / 4, "{halves} of {KILLS}");
    assert_eq!(std::fs::read_dir(directory.path().join("state/leases")).unwrap().count(), 0);
}

/// The run is allocated for again, and has one sandbox, which works.
async fn reconcile_a_run_that_goes_on(bench: &Bench, port: &LinuxSandboxes, number: u64) {
    let staged = bench.staged(&run(number)).await;
    assert_eq!(bench.port.allocate(bench.spec(&run(number))).await.unwrap(), staged.lease);
    let found = port.survey().await.unwrap().found;
    let mine = found.iter().filter(|found| found.lease.as_ref() == Some(&staged.lease.lease));
    let (leases, others): (Vec<_>, Vec<_>) = mine.partition(|found| found.surface == Surface::Leases);
    assert_eq!(leases.len(), 1, "one sandbox");
    assert!(!others.is_empty() && others.iter().all(|found| found.maker == Maker::Lives), "{others:?}");
    assert_eq!(bench.probe(&staged, &["exit", "7"]).await.ending, Ending::Exited { code: 7 });
    assert!(port.destroy(&staged.lease, Lives::Named).await.unwrap().is_proof());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "only as the process that a_control_plane_killed_at_any_moment_leaves_one_sandbox_or_none starts and kills"]
async fn allocate_until_killed() {
    let directory = std::env::var_os(STATE).unwrap();
    let run = std::env::var(RUN).unwrap();
    let bench = bench_of(adapter_at(Path::new(&directory)));
    println!("begin");
    let staged = bench.staged(&run).await;
    loop {
        bench.probe(&staged, &["orphans", "2"]).await;
    }
}
