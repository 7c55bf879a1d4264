//! The memory of a sandbox as a whole, by every way of holding it, whatever bounds it on this machine. As an ordinary user
//! without a control group these run once more.

use ambit_conformance::sandbox::{Bench, Staged};
use ambit_gates::{Ending, ResourceLimit};
use ambit_ids::{ByteCount, DurationMs};
use ambit_ports::sandbox::{Enforcer, ExecutionObservation};

use crate::support::bench;

const REACHED: Ending = Ending::LimitReached { limit: ResourceLimit::Memory };

/// For how long too much is held: until it is found, however busy the machine is.
const HELD_SECONDS: &str = "30";

/// Within 48 MiB. What is not ended for its memory holds it for some looks and ends by itself: no end depends on how fast
/// the machine is.
async fn within(bench: &Bench, staged: &Staged, words: &[&str]) -> ExecutionObservation {
    let mut command = bench.command(staged, words);
    command.limits.memory_bytes = ByteCount::new(48 << 20);
    command.limits.wall_ms = DurationMs::new(60_000);
    bench.execute(staged, command).await
}

async fn is_counted(bench: &Bench) -> bool {
    bench.port.inspect_capabilities().await.unwrap().limits.memory == Enforcer::RlimitPerProcess
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_processes_hold_together_is_bounded() {
    let (bench, _directory) = bench();
    let staged = bench.staged("memory-whole").await;
    for words in [
        &["hold-each", "private", "20", "6", HELD_SECONDS][..],
        &["hold-each", "read-only", "20", "6", HELD_SECONDS],
        &["hold", "read-only", "128", HELD_SECONDS],
        &["hold", "stack", "128", HELD_SECONDS],
        &["hold-headless", "128", HELD_SECONDS],
    ] {
        let seen = within(&bench, &staged, words).await;
        // The guest ends all of them, a group the process that asked for more, and the prober tells of that.
        assert_eq!(seen.ending, REACHED, "{words:?}: {seen:?}");
        assert!(seen.breaches.contains(&ResourceLimit::Memory), "{words:?}: {seen:?}");
    }
    for words in [
        &["hold-each", "private", "6", "4"][..],
        &["hold", "read-only", "24"],
        &["hold", "stack", "24"],
        &["hold-headless", "24"],
        // What they hold together counts once.
        &["hold-together", "private", "30", "6"],
        &["hold-together", "shared", "30", "6"],
        &["hold-borrowed", "private", "30"],
    ] {
        let seen = within(&bench, &staged, words).await;
        assert_eq!(seen.ending, Ending::Exited { code: 0 }, "{words:?}: {seen:?}");
        assert!(!seen.breaches.contains(&ResourceLimit::Memory), "{words:?}: {seen:?}");
    }
    bench.destroy(&staged).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_process_holds_is_bounded() {
    let (bench, _directory) = bench();
    let staged = bench.staged("memory-shared").await;
    for way in ["shared", "segment", "touched-by-another"] {
        let fits = within(&bench, &staged, &["hoard", way, "30"]).await;
        assert_eq!(fits.ending, Ending::Exited { code: 0 }, "{way}: {fits:?}");
        assert!(fits.breaches.is_empty(), "{way}: {fits:?}");
        let seen = within(&bench, &staged, &["hoard", way, "512"]).await;
        assert!(!seen.ending.is_success(), "{way}: {seen:?}");
        assert!(seen.breaches.contains(&ResourceLimit::Memory), "{way}: {seen:?}");
        if is_counted(&bench).await {
            // What it was given and still has is the limit, and its own few pages are more than that: a look may find it
            // before the command tells that it got no more.
            let was_seen = way == "shared" && seen.ending == REACHED && seen.stdout.head.is_empty();
            assert!(was_seen || seen.stdout.head == "errno 12\n", "{way}: {seen:?}");
        }
        // Nothing of it is held against the next command.
        let fits = within(&bench, &staged, &["hoard", way, "30"]).await;
        assert_eq!(fits.ending, Ending::Exited { code: 0 }, "{way}: {fits:?}");
    }
    bench.destroy(&staged).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_counted_is_absent_where_no_group_bounds_it() {
    const ABSENT: &str = "errno 38\n";
    let (bench, _directory) = bench();
    let staged = bench.staged("memory-kinds").await;
    let counted = is_counted(&bench).await;
    // A file without a name, a message queue, a set of semaphores.
    for words in [
        &["path-call", "319", "name", "0"][..],
        &["call", "68", "0", "0x380"],
        &["call", "64", "0", "1", "0x380"],
    ] {
        let seen = within(&bench, &staged, words).await;
        assert_eq!(seen.stdout.head == ABSENT, counted, "{words:?}: {seen:?}");
        assert_eq!(seen.ending.is_success(), !counted, "{words:?}: {seen:?}");
    }
    // Pages lent to what is no pipe.
    let lent = within(&bench, &staged, &["call", "278", "0", "0", "0", "0"]).await;
    assert_eq!(lent.stdout.head == ABSENT, counted, "{lent:?}");
    // A device that would be memory, and a file of the volume, whose size is limited.
    let device = within(&bench, &staged, &["map", "/dev/zero"]).await;
    assert_eq!(device.stdout.head == "errno 19\n", counted, "{device:?}");
    bench.allowed(&staged, &["map", "/dev/shm/file"]).await;
    bench.destroy(&staged).await;
}
