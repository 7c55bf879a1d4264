//! What a sandbox asks of the kernel, counted: the same on a quiet machine and on a loaded one.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use ambit_conformance::sandbox::Bench;
use ambit_gates::Ending;
use ambit_sandbox_linux::PROBER;
use bytes::Bytes;

use crate::support::{adapter, bench, bench_with, image_digest, volumes};

/// How many commands the copy of this program runs.
const COMMANDS: &str = "AMBIT_TEST_COMMANDS";

/// One command in a live sandbox, on both sides, with the wiping of what it left: so many calls and no more. Calls that
/// only wait or wake are left out.
const MOST_CALLS: u64 = 165;
const MOST_MOUNTS: u64 = 22;
/// And one lease.
const MOST_CALLS_OF_A_LEASE: u64 = 690;
const MOST_MOUNTS_OF_A_LEASE: u64 = 102;
/// How often that is tried.
const TRIES: usize = 6;

const WAITING: [&str; 8] = [
    "epoll_wait",
    "epoll_ctl",
    "futex",
    "poll",
    "restart_syscall",
    "sched_yield",
    "nanosleep",
    "clock_nanosleep",
];
const MOUNTING: [&str; 8] =
    ["mount", "umount2", "fsopen", "fsconfig", "fsmount", "move_mount", "open_tree", "mount_setattr"];

fn host_mounts() -> usize {
    std::fs::read_to_string("/proc/self/mountinfo").unwrap().lines().count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leases_leave_no_mount_on_the_host() {
    let (bench, _directory) = bench();
    let before = host_mounts();
    let mut leases = Vec::new();
    for number in 0..8 {
        leases.push(bench.staged(&format!("counts-mounts-{number}")).await);
    }
    let ran = bench.probe(&leases[0], &["exit", "0"]).await;
    assert_eq!((ran.ending, host_mounts()), (Ending::Exited { code: 0 }, before));
    for lease in &leases {
        bench.destroy(lease).await;
    }
    assert_eq!(host_mounts(), before);
}

/// The calls of a copy of this program in which a test does something so many times; `None` where nothing can trace it.
fn traced(test: &str, times: u32) -> Option<BTreeMap<String, u64>> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("calls");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-c", "-U", "name,calls", "-o"]).arg(&file);
    strace.arg(std::env::current_exe().unwrap());
    strace.args([test, "--exact", "--ignored", "--test-threads", "1"]);
    let output = strace.env(COMMANDS, times.to_string()).output().ok()?;
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let line = |line: &str| {
        let (name, count) = line.split_once(char::is_whitespace)?;
        Some((name.to_owned(), count.trim().parse().ok()?))
    };
    let calls: BTreeMap<String, u64> = text.lines().filter_map(line).collect();
    (output.status.success() && calls.contains_key("execve")).then_some(calls)
}

/// What one time of something costs.
#[derive(Debug)]
struct Cost {
    forks: u64,
    execs: u64,
    calls: u64,
    mounts: u64,
    /// Waits of the guest for what its command does.
    polls: u64,
    /// What ends a mount, for which the kernel waits for every processor.
    unmounts: u64,
}

/// The cost of one time, between so many and some more.
fn cost_of(test: &str, few: u32, more: u32) -> Option<Cost> {
    let (Some(fewer), Some(calls)) = (traced(test, few), traced(test, more)) else {
        println!("skipped: NO_STRACE strace(1) is not installed, or may not trace");
        return None;
    };
    let each = |wanted: &dyn Fn(&str) -> bool| {
        let sum = |calls: &BTreeMap<String, u64>| -> u64 {
            calls.iter().filter(|(name, _)| wanted(name)).map(|(_, count)| count).sum()
        };
        // To the nearest: a process may end while a slot more or less is made for those that come after.
        let times = u64::from(more - few);
        (sum(&calls).saturating_sub(sum(&fewer)) + times / 2) / times
    };
    let cost = Cost {
        forks: each(&|name| ["clone", "clone3", "fork", "vfork"].contains(&name)),
        execs: each(&|name| name == "execve"),
        calls: each(&|name| name != "total" && !WAITING.contains(&name)),
        mounts: each(&|name| MOUNTING.contains(&name)),
        polls: each(&|name| name == "ppoll"),
        unmounts: each(&|name| name == "umount2"),
    };
    println!("{test}: {cost:?}; {fewer:?} {calls:?}");
    Some(cost)
}

/// On a busy machine a call more may be made, to ask again what was not there yet: what a command costs is the least of what
/// some cost.
#[test]
fn a_command_costs_one_process_and_few_calls() {
    let is_few = |cost: &Cost| {
        (cost.forks, cost.execs) == (1, 1)
            && cost.calls <= MOST_CALLS
            && cost.mounts <= MOST_MOUNTS
            && cost.unmounts <= 4
            && cost.polls <= 6
    };
    let mut costs = Vec::new();
    while costs.len() < TRIES && !costs.last().is_some_and(is_few) {
        let Some(cost) = cost_of("counts::runs_commands", 2, 12) else { return };
        costs.push(cost);
    }
    assert!(costs.last().is_some_and(is_few), "{costs:#?}");
}

/// A lease whose tree is in the slot that waits, with one command and its end, and the slot that is made in its place. On a
/// busy machine a slot more may be made than is taken: what a lease costs is the least of what some cost.
#[test]
fn a_lease_costs_two_processes_and_few_calls() {
    let is_few = |cost: &Cost| {
        (cost.forks, cost.execs) == (2, 1)
            && cost.unmounts <= 2
            && cost.calls <= MOST_CALLS_OF_A_LEASE
            && cost.mounts <= MOST_MOUNTS_OF_A_LEASE
    };
    let mut costs = Vec::new();
    while costs.len() < TRIES && !costs.last().is_some_and(is_few) {
        let Some(cost) = cost_of("counts::runs_leases", 2, 10) else { return };
        costs.push(cost);
    }
    assert!(costs.last().is_some_and(is_few), "{costs:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "only as the process that a_lease_costs_two_processes_and_few_calls traces"]
async fn runs_leases() {
    let leases: u32 = std::env::var(COMMANDS).unwrap().parse().unwrap();
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("image")).unwrap();
    let port = Arc::new(adapter(directory.path().join("state"), directory.path().join("image")));
    let bench = Bench::new(port.clone(), image_digest(), volumes(), Bytes::from_static(PROBER));
    // The first two show which tree the next ones will have.
    for number in 0..leases + 3 {
        let staged = bench.staged(&format!("counts-lease-{number}")).await;
        assert_eq!(bench.probe(&staged, &["exit", "0"]).await.ending, Ending::Exited { code: 0 });
        bench.destroy(&staged).await;
        while port.pool_counts().waiting < 1 || port.pool_counts().refills <= u64::from(number) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    if rustix::process::geteuid().is_root() {
        let counts = port.pool_counts();
        assert!(counts.foreseen >= u64::from(leases), "{counts:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "only as the process that a_command_costs_one_process_and_few_calls traces"]
async fn runs_commands() {
    let commands: u32 = std::env::var(COMMANDS).unwrap().parse().unwrap();
    // None waits: a slot that is made beside the commands is no part of what they cost.
    let (bench, _directory) = bench_with(0);
    let staged = bench.staged("counts-calls").await;
    for _ in 0..commands {
        assert_eq!(bench.probe(&staged, &["exit", "0"]).await.ending, Ending::Exited { code: 0 });
    }
    bench.destroy(&staged).await;
}
