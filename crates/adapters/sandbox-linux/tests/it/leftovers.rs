//! Nothing is left behind, however hard a command tries: counted on the host before and after, as root and as an ordinary
//! user.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ambit_conformance::sandbox::{Bench, PROMPT, Staged};
use ambit_gates::Ending;

use crate::ordinary_user::holds_as_nobody;
use crate::support::bench;

/// A port that no range of the kernel's own choice holds.
const PORT: &str = "1999";
const KEY: &str = "0x0a3b17c5";
const ROUNDS: usize = 7;
const KINDS: [&str; 7] = ["daemon", "stopped", "zombies", "blocked", "waiting", "objects", "many"];

/// What of this program is on the host.
#[derive(Debug, Default, PartialEq, Eq)]
struct Census {
    /// Its descendants.
    processes: BTreeSet<u32>,
    /// Control groups that carry its number.
    groups: BTreeSet<PathBuf>,
    /// Mounts that lie in its directory, or come from there.
    mounts: BTreeSet<String>,
    /// Files and objects with the names that the commands use.
    named: BTreeSet<PathBuf>,
}

impl Census {
    fn take(directory: &Path) -> Self {
        let place = directory.to_str().unwrap();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        Self {
            processes: descendants(std::process::id()),
            groups: groups(&mounts),
            mounts: mounts.lines().filter(|line| line.contains(place)).map(str::to_owned).collect(),
            named: named(),
        }
    }

    /// Waits for the end of what was told to end.
    fn when_empty(directory: &Path) -> Self {
        let began = Instant::now();
        loop {
            let census = Self::take(directory);
            if census == Self::default() || began.elapsed() > PROMPT {
                return census;
            }
            std::thread::yield_now();
        }
    }
}

fn descendants(of: u32) -> BTreeSet<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        children.entry(parent.unwrap_or(0)).or_default().push(pid);
    }
    let mut found = BTreeSet::new();
    let mut looked_at = vec![of];
    while let Some(parent) = looked_at.pop() {
        for child in children.get(&parent).into_iter().flatten() {
            found.insert(*child);
            looked_at.push(*child);
        }
    }
    found
}

fn groups(mounts: &str) -> BTreeSet<PathBuf> {
    fn below(directory: &Path, prefix: &str, depth: u32, found: &mut BTreeSet<PathBuf>) {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix)) {
                found.insert(entry.path());
            } else if depth > 0 {
                below(&entry.path(), prefix, depth - 1, found);
            }
        }
    }
    let prefix = format!("ambit-{}-", std::process::id());
    let mut found = BTreeSet::new();
    for line in mounts.lines().filter(|line| line.contains(" - cgroup")) {
        below(Path::new(line.split(' ').nth(4).unwrap()), &prefix, 4, &mut found);
    }
    found
}

/// Whatever has the names of the commands in the places that the host shares with nobody: only these look for them.
fn named() -> BTreeSet<PathBuf> {
    ["/tmp", "/dev/shm", "/dev/mqueue", "/workspace"]
        .into_iter()
        .map(|directory| Path::new(directory).join("ambit-leftover"))
        .filter(|path| path.exists())
        .collect()
}

/// Every namespace that some process of the machine is in, as far as this user can see.
fn namespaces(of: impl Iterator<Item = PathBuf>) -> BTreeSet<PathBuf> {
    of.flat_map(|process| fs::read_dir(process.join("ns")).into_iter().flatten().flatten())
        .filter_map(|namespace| fs::read_link(namespace.path()).ok())
        .collect()
}

fn everybody() -> impl Iterator<Item = PathBuf> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok()))
        .map(|entry| entry.path())
}

/// Those of the namespaces that some process is in. One that was killed counts as in them until whoever got it as its child
/// has taken notice, so they are waited for.
fn inhabited(namespaces_of_ours: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let began = Instant::now();
    loop {
        let left: BTreeSet<PathBuf> =
            namespaces(everybody()).intersection(namespaces_of_ours).cloned().collect();
        if left.is_empty() || began.elapsed() > PROMPT {
            return left;
        }
        std::thread::yield_now();
    }
}

/// The processes that a command sees beside itself and the first one.
async fn strangers(bench: &Bench, staged: &Staged) -> usize {
    let seen = bench.probe(staged, &["list", "/proc"]).await;
    seen.stdout.head.lines().filter(|line| line.parse::<u32>().is_ok()).count().saturating_sub(2)
}

async fn misbehave(bench: &Bench, staged: &Staged) {
    for round in 0..ROUNDS {
        for kind in KINDS {
            let seen = bench.probe(staged, &["linger", kind]).await;
            assert_eq!(seen.ending, Ending::Exited { code: 0 }, "{kind}: {seen:?}");
            assert!(seen.killed_processes > 0, "{kind}: {seen:?}");
            if round == 0 {
                assert_eq!(strangers(bench, staged).await, 0, "{kind}");
            }
        }
        // The port of the last round is free again.
        let seen = bench.probe(staged, &["listen", PORT]).await;
        assert_eq!(
            (seen.ending, seen.killed_processes),
            (Ending::Exited { code: 0 }, 1),
            "{:?}",
            seen.stdout
        );
        assert!(std::net::TcpStream::connect(format!("127.0.0.1:{PORT}")).is_err(), "a port of the host");
        // Neither a segment nor a file is there for the next.
        let said = bench.attempt(staged, &["call", "29", KEY, "4096", "0"]).await;
        assert_eq!(said, "errno 2");
        bench.refused(staged, &["read", "/tmp/ambit-leftover"], &[2]).await;
    }
}

// proves E-P04 E-P05
// break crates/adapters/sandbox-linux/guest/src/roles/supervisor.rs: `killed += kill_the_rest()?;` -> `killed += 1;`
#[test]
fn fifty_hostile_commands_leave_nothing() {
    let test = ["leftovers::what_one_process_leaves", "--exact", "--ignored", "--nocapture"];
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new(program).args(test).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("test leftovers::what_one_process_leaves ... ok"), "{said}");
}

/// In a process of its own, because everything of the process is counted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "only as the process that fifty_hostile_commands_leave_nothing starts"]
async fn what_one_process_leaves() {
    let (bench, directory) = bench();
    assert_eq!(Census::take(directory.path()), Census::default());
    let staged = bench.staged("leftovers").await;
    let during = Census::take(directory.path());
    assert!(during.processes.len() >= 2, "{during:?}");
    let own = namespaces(std::iter::once(PathBuf::from("/proc/self")));
    let inside = during.processes.iter().map(|pid| PathBuf::from(format!("/proc/{pid}")));
    let theirs: BTreeSet<PathBuf> = namespaces(inside).difference(&own).cloned().collect();
    if rustix::process::geteuid().is_root() {
        assert!(theirs.len() >= 6, "{theirs:?}");
        assert!(!during.groups.is_empty(), "{during:?}");
    }
    misbehave(&bench, &staged).await;
    bench.destroy(&staged).await;
    drop(bench);
    assert_eq!(Census::when_empty(directory.path()), Census::default());
    assert_eq!(inhabited(&theirs), BTreeSet::new());
    assert_eq!(fs::read_dir(directory.path().join("state/leases")).unwrap().count(), 0);
}

#[test]
fn an_ordinary_users_commands_leave_nothing_either() {
    holds_as_nobody("leftovers::fifty_hostile_commands_leave_nothing");
}
