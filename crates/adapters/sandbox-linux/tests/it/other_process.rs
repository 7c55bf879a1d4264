//! A lease is plain data: what one process made, another ends; and what nobody ends, ends with its maker.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use ambit_conformance::sandbox::{Bench, PROMPT, Staged};
use ambit_gates::Ending;
use ambit_ports::AbortHandle;
use ambit_ports::sandbox::{Lives, SandboxError, SandboxLease};
use ambit_run::StopReason;
use ambit_sandbox_linux::PROBER;
use bytes::Bytes;

use crate::support::{adapter, bench, image_digest, volumes};

/// Where the copy of this program that allocates keeps its state.
const STATE: &str = "AMBIT_TEST_STATE";

/// A second backend on the state of the first, as another process would have it.
fn beside(directory: &Path) -> Bench {
    let port = adapter(directory.join("state"), directory.join("image"));
    Bench::new(Arc::new(port), image_digest(), volumes(), Bytes::from_static(PROBER))
}

fn guest_of(directory: &Path, lease: &SandboxLease) -> i32 {
    let record =
        std::fs::read_to_string(directory.join("state/leases").join(lease.lease.as_str()).join("record"));
    let record = record.unwrap();
    let (_, rest) = record.split_once("\"pid\":").unwrap();
    rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

// proves E-P03 E-P04 D18
// break crates/mechanisms/ownership/src/identity.rs: `Ok(ticks) => Ok((ticks == self.start_ticks).then_some(descriptor)),` -> `Ok(_) => Ok(None),`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_process_ends_a_sandbox_by_its_lease() {
    let (first, directory) = bench();
    let second = beside(directory.path());
    let staged = first.staged("other-destroy").await;
    let guest = guest_of(directory.path(), &staged.lease);
    assert!(is_alive(guest));
    let read: SandboxLease =
        ambit_canonical::decode(ambit_canonical::encode(&staged.lease).unwrap().as_bytes(), 1 << 16).unwrap();
    let running = first.port.execute_named(
        &staged.lease,
        first.command(&staged, &["family", "2"]),
        AbortHandle::new().1,
    );
    let (seen, receipt) = tokio::join!(running, second.port.cancel(&read, &StopReason::CustomerCancelled));
    assert_eq!(receipt.unwrap().remaining_processes, 0);
    assert!(!is_alive(guest));
    // To the first it is a sandbox that was lost.
    assert!(
        matches!(&seen, Err(SandboxError::Gone(_)))
            || seen.is_ok_and(|seen| seen.ending == Ending::Indeterminate)
    );
    assert!(second.port.destroy(&read, Lives::Named).await.unwrap().is_proof());
    let gone =
        first.port.execute_named(&staged.lease, first.command(&staged, &["exit", "0"]), AbortHandle::new().1);
    assert!(matches!(gone.await, Err(SandboxError::Gone(_))));
    assert_eq!(std::fs::read_dir(directory.path().join("state/leases")).unwrap().count(), 0);
}

// proves E-P06
// break crates/adapters/sandbox-linux/src/backend.rs: `retire::clear(&home, &id).await?;` -> `let _ = retire::clear;`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_moved_gets_a_new_life_under_the_same_lease() {
    let (first, directory) = bench();
    let second = beside(directory.path());
    let before = first.staged("other-moved").await;
    let after = second.staged("other-moved").await;
    assert_eq!(after.lease.lease, before.lease.lease);
    assert_ne!(after.lease.incarnation, before.lease.incarnation);
    let gone =
        first.port.execute_named(&before.lease, first.command(&before, &["exit", "0"]), AbortHandle::new().1);
    assert!(matches!(gone.await, Err(SandboxError::Gone(_))));
    // The first process still has its lease, and cannot harm the later life by it.
    first.destroy(&before).await;
    second.allowed(&after, &["loopback"]).await;
    second.destroy(&after).await;
}

// proves D10
// break crates/mechanisms/verdict/src/lib.rs: `None => Ending::Indeterminate,` -> `None => Ending::Exited { code: 0 },`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_that_vanishes_is_no_success() {
    let (bench, directory) = bench();
    let staged = bench.staged("other-lost").await;
    let guest = rustix::process::Pid::from_raw(guest_of(directory.path(), &staged.lease)).unwrap();
    let running =
        bench.port.execute_named(&staged.lease, bench.command(&staged, &["sleep"]), AbortHandle::new().1);
    let (seen, ()) = tokio::join!(running, async {
        tokio::task::yield_now().await;
        rustix::process::kill_process(guest, rustix::process::Signal::KILL).unwrap();
    });
    assert!(
        matches!(&seen, Err(SandboxError::Gone(_)))
            || seen.is_ok_and(|seen| seen.ending == Ending::Indeterminate)
    );
    let next = bench.staged("other-lost").await;
    assert_eq!(next.lease.lease, staged.lease.lease);
    assert_ne!(next.lease.incarnation, staged.lease.incarnation);
    bench.destroy(&next).await;
}

// proves E-P04 E-P06
// break crates/adapters/sandbox-linux/guest/src/roles/guest.rs: `rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).at(Step::ParentWatch)?;` -> `let _ = (Signal::KILL, Step::ParentWatch);`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sandboxes_end_with_the_control_plane() {
    let (_, directory) = bench();
    let mut maker = Command::new(std::env::current_exe().unwrap())
        .args(["other_process::allocate_and_wait", "--exact", "--ignored", "--nocapture"])
        .env(STATE, directory.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(maker.stdout.take().unwrap()).lines();
    let lease = lines.find_map(|line| Some(line.ok()?.strip_prefix("lease ")?.to_owned())).unwrap();
    let lease: SandboxLease = ambit_canonical::decode(lease.as_bytes(), 1 << 16).unwrap();
    let guest = guest_of(directory.path(), &lease);
    let guest = rustix::process::pidfd_open(
        rustix::process::Pid::from_raw(guest).unwrap(),
        rustix::process::PidfdFlags::empty(),
    )
    .unwrap();
    // A guest that does nothing any more would not see either that whoever it listens to is gone.
    rustix::process::pidfd_send_signal(&guest, rustix::process::Signal::STOP).unwrap();
    maker.kill().unwrap();
    maker.wait().unwrap();
    let mut watched = [rustix::event::PollFd::new(&guest, rustix::event::PollFlags::IN)];
    let patience = rustix::event::Timespec::try_from(PROMPT).unwrap();
    assert_eq!(
        rustix::event::poll(&mut watched, Some(&patience)).unwrap(),
        1,
        "the guest outlives its maker"
    );
    // What is left on disk, and the empty control groups, go when the next process takes over.
    let bench = beside(directory.path());
    let staged = Staged { lease, tree: image_digest() };
    bench.destroy(&staged).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "only as the process that sandboxes_end_with_the_control_plane starts and kills"]
async fn allocate_and_wait() {
    let directory = std::env::var_os(STATE).unwrap();
    let bench = beside(Path::new(&directory));
    let staged = bench.staged("other-killed").await;
    let lease = ambit_canonical::encode(&staged.lease).unwrap();
    println!("lease {}", String::from_utf8(lease.into_bytes()).unwrap());
    bench.probe(&staged, &["family", "3"]).await;
}

/// Lives one after the other, as a server has them: none leaves anything to the next.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_lives() {
    let (bench, directory) = bench();
    for number in 0..60 {
        let staged = bench.staged(&format!("other-life-{number}")).await;
        assert_eq!(
            bench.probe(&staged, &["exit", "7"]).await.ending,
            Ending::Exited { code: 7 },
            "life {number}"
        );
        bench.destroy(&staged).await;
    }
    assert_eq!(std::fs::read_dir(directory.path().join("state/leases")).unwrap().count(), 0);
}
