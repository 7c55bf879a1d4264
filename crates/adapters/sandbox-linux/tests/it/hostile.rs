//! Hostile commands from outside, run with real tools: each must be contained in the way that its case says.
//!
//! The cases lie in `hostile/probes.jsonl` below `$AMBIT_CASES`. They need a shell and Python, so the image is the host's
//! `/usr`, bound into a directory in a mount namespace of this program's own.

use std::path::{Path, PathBuf};
use std::process::Command;

use ambit_conformance::sandbox::{Bench, Staged};
use ambit_gates::{Ending, NotStarted, ResourceLimit};
use ambit_ids::{ByteCount, Digest, DurationMs};
use ambit_ports::sandbox::{
    BatchFileKind, DeclaredOutput, ExecutionObservation, FileBatch, NamedCommand, OutputRefusal,
};
use ambit_sandbox_linux::PROBER;
use bytes::Bytes;

use crate::support::{adapter, image_digest, volumes};

/// The image, in the copy of this program that has its own mount namespace.
const IMAGE: &str = "AMBIT_TEST_IMAGE";

const BIND: &str = "mkdir -p \"$0/usr\" \"$0/etc\" && cp -a /etc/alternatives \"$0/etc/\" && mount --bind /usr \"$0/usr\" && \
    ln -sf usr/bin \"$0/bin\" && ln -sf usr/lib \"$0/lib\" && ln -sf usr/lib64 \"$0/lib64\" && ln -sf usr/sbin \"$0/sbin\" && \
    exec \"$@\"";

fn cases() -> Option<PathBuf> {
    let root = std::env::var_os("AMBIT_CASES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/cases"),
        PathBuf::from,
    );
    let cases = root.join("hostile/probes.jsonl");
    let required = std::env::var_os("AMBIT_REQUIRE_CASES").is_some_and(|value| value == "1");
    assert!(cases.exists() || !required, "{} is required", cases.display());
    cases.exists().then_some(cases)
}

type Tighten = fn(&mut NamedCommand);
type Holds = fn(&Seen) -> bool;

struct Seen {
    observed: ExecutionObservation,
    stdout: String,
}

impl Seen {
    fn exited(&self) -> bool {
        matches!(self.observed.ending, Ending::Exited { .. })
    }

    fn reached(&self, limit: ResourceLimit) -> bool {
        self.observed.ending == Ending::LimitReached { limit }
    }

    fn last(&self) -> &str {
        self.stdout.lines().last().unwrap_or_default()
    }

    /// The number after a word in the output.
    fn number(&self, word: &str) -> Option<u64> {
        let (_, rest) = self.stdout.split_once(word)?;
        rest.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    fn refused_as(&self, why: OutputRefusal) -> bool {
        self.observed.outputs.is_empty()
            && self.observed.refused_outputs.iter().any(|refused| refused.why == why)
    }
}

fn as_it_is(_: &mut NamedCommand) {}

fn briefly(command: &mut NamedCommand) {
    command.limits.wall_ms = DurationMs::new(400);
}

fn quietly(command: &mut NamedCommand) {
    command.limits.output_bytes = ByteCount::new(200_000);
}

fn leaving_a_report(command: &mut NamedCommand) {
    command.outputs =
        vec![DeclaredOutput { path: "out/report.txt".parse().unwrap(), limit: ByteCount::new(1 << 20) }];
}

fn fails_with_a_number(seen: &Seen) -> bool {
    let mut words = seen.last().split_whitespace().skip(1);
    words.next() == Some("-1")
        && words.next().is_some_and(|errno| ["1", "38", "22", "97", "93"].contains(&errno))
}

/// What each case must come to: how its limits are tightened, and what must be seen.
static EXPECTATIONS: [(&[&str], Tighten, Holds); 58] = [
    (&["pivot"], as_it_is, |seen| seen.stdout.starts_with("-1 1")),
    (&["uid"], as_it_is, |seen| seen.exited() && seen.last() != "0"),
    (&["suid", "tmp-exec-suid"], as_it_is, |seen| seen.exited() && seen.last() != "0"),
    (&["caps"], as_it_is, |seen| {
        seen.stdout.lines().count() == 5
            && seen.stdout.lines().all(|line| line.ends_with("\t0000000000000000"))
    }),
    (&["nnp"], as_it_is, |seen| seen.stdout == "NoNewPrivs:\t1\n"),
    (&["seccomp"], as_it_is, |seen| seen.stdout == "Seccomp:\t2\n"),
    (&["env-secrets"], as_it_is, |seen| seen.stdout.lines().all(|name| ["PATH", "PWD", "_"].contains(&name))),
    (&["cwd-inside"], as_it_is, |seen| seen.stdout == "/workspace\n/workspace\n"),
    (&["procs"], as_it_is, |seen| seen.last().parse::<u32>().is_ok_and(|count| count < 10)),
    (&["pid1"], as_it_is, |seen| seen.last() == "sandbox"),
    (&["hostname"], as_it_is, |seen| seen.last() == "sandbox"),
    (&["write-root", "home-secrets", "sockets", "mknod", "other-project"], as_it_is, |seen| {
        seen.last().trim() == "0"
    }),
    (&["proc-writes"], as_it_is, |seen| !seen.stdout.contains("WROTE")),
    (&["proc-masked"], as_it_is, |seen| seen.stdout.split_whitespace().all(|count| count == "0")),
    (&["proc1-root"], as_it_is, |seen| !seen.stdout.lines().any(|line| !line.contains("ls:"))),
    (&["link-proc-out"], as_it_is, |seen| !seen.stdout.contains("root:")),
    (&["userns", "mount", "remount", "dmesg", "nice-rt", "immutable"], as_it_is, |seen| {
        ["not permitted", "denied", "must be superuser"].iter().any(|word| seen.stdout.contains(word))
    }),
    (&["devs"], as_it_is, |seen| {
        let known = ["null", "zero", "full", "random", "urandom", "fd", "stdin", "stdout", "stderr", "shm"];
        seen.stdout.lines().count() >= 5 && seen.stdout.lines().all(|name| known.contains(&name))
    }),
    (&["mounts"], as_it_is, |seen| {
        let writable = |line: &str| line.split([' ', ',']).nth(1) == Some("rw");
        let places =
            seen.stdout.lines().filter(|line| writable(line)).filter_map(|line| line.split(' ').next());
        places.clone().count() >= 3
            && places.into_iter().all(|at| ["/workspace", "/tmp", "/proc"].contains(&at))
    }),
    (&["tiocsti"], as_it_is, |seen| !seen.stdout.contains("INJECTED")),
    (&["cgroup-write", "net-proxy-self"], as_it_is, |seen| seen.stdout.is_empty()),
    (&["kill-all", "signal-parent"], as_it_is, |seen| seen.observed.ending != Ending::Indeterminate),
    (&["rlimit-raise"], as_it_is, |seen| seen.last() != "unlimited"),
    (&["oom-adj"], as_it_is, |seen| seen.last().parse::<i32>().is_ok_and(|score| score >= 0)),
    (&["fork-2000"], as_it_is, |seen| {
        seen.number("forked").is_some_and(|count| count <= 32) && seen.observed.killed_processes > 0
    }),
    (&["threads-5000"], as_it_is, |seen| seen.number("threads").is_some_and(|count| count <= 32)),
    (&["mem-4g"], as_it_is, |seen| seen.reached(ResourceLimit::Memory)),
    (&["mem-tmpfs", "disk-4g"], as_it_is, |seen| {
        seen.exited() && seen.observed.breaches.contains(&ResourceLimit::Disk)
    }),
    (&["inodes-1m"], as_it_is, |seen| seen.observed.breaches.contains(&ResourceLimit::Disk)),
    (&["fd-100k"], as_it_is, |seen| seen.last().parse::<u32>().is_ok_and(|count| count < 5000)),
    (&["cpu-8"], briefly, |seen| {
        seen.reached(ResourceLimit::Timeout) && seen.observed.cpu_ms.is_some_and(|used| used.get() < 1200)
    }),
    (&["cpu-60s", "sleep-forever", "exec-replace", "ignore-term", "timeout-then-write"], briefly, |seen| {
        seen.reached(ResourceLimit::Timeout)
    }),
    (&["out-1g"], quietly, |seen| {
        let stdout = &seen.observed.stdout;
        seen.reached(ResourceLimit::Output)
            && stdout.truncated
            && !stdout.head.is_empty()
            && !stdout.tail.is_empty()
    }),
    (&["out-err-mix"], as_it_is, |seen| {
        seen.observed.stdout.head.starts_with("o1\no2\n") && seen.observed.stderr.tail.ends_with("e20000\n")
    }),
    (&["out-no-newline"], as_it_is, |seen| seen.observed.stdout.tail.ends_with("aEND\n")),
    (&["out-binary"], as_it_is, |seen| seen.observed.stdout.bytes.get() == 65_536),
    (&["out-bad-utf8"], as_it_is, |seen| seen.stdout == "ok \u{fffd}\u{fffd} \u{fffd}( caf\u{fffd}\n"),
    (&["out-fake-summary"], as_it_is, |seen| seen.observed.ending == Ending::Exited { code: 1 }),
    (&["out-fake-summary-0"], as_it_is, |seen| seen.observed.ending.is_success()),
    (&["out-nul"], as_it_is, |seen| seen.stdout == "a\u{fffd}b\n"),
    (&["out-closed"], as_it_is, |seen| {
        seen.observed.ending == Ending::Exited { code: 7 } && seen.observed.duration_ms.get() >= 2900
    }),
    (&["bg-holds-pipe"], as_it_is, |seen| {
        seen.observed.ending.is_success() && seen.stdout == "started\n" && seen.observed.killed_processes > 0
    }),
    (&["setsid-daemon"], as_it_is, |seen| seen.observed.ending.is_success()),
    (&["zombies"], as_it_is, |seen| seen.exited()),
    (&["stdin-wait"], as_it_is, |seen| seen.stdout == "got []\n"),
    (&["tty-wait"], as_it_is, |seen| seen.exited() && !seen.observed.ending.is_success()),
    (&["vfork-exit"], as_it_is, |seen| seen.stdout.ends_with("139\n")),
    (&["missing-cmd"], as_it_is, |seen| seen.observed.ending == Ending::Exited { code: 127 }),
    (
        &["missing-workdir"],
        |command| command.workdir = Some("no/such/directory".parse().unwrap()),
        |seen| seen.observed.ending == Ending::NotStarted { why: NotStarted::WorkdirMissing },
    ),
    (&["clock"], as_it_is, |seen| seen.last().parse::<u32>().is_ok_and(|year| year > 2020)),
    (&["net-ifaces"], as_it_is, |seen| seen.last().trim() == "lo"),
    (&["net-public", "net-metadata", "net-dns"], as_it_is, |seen| {
        seen.stdout.starts_with("no") && seen.observed.duration_ms.get() < 2000
    }),
    (&["net-host-loopback"], as_it_is, |seen| seen.stdout.starts_with("no")),
    (&["art-link"], leaving_a_report, |seen| seen.refused_as(OutputRefusal::Link)),
    (&["art-hardlink"], leaving_a_report, |seen| seen.refused_as(OutputRefusal::HardLink)),
    (&["art-fifo"], leaving_a_report, |seen| seen.refused_as(OutputRefusal::NotAFile)),
    (&["art-huge"], leaving_a_report, |seen| seen.refused_as(OutputRefusal::TooLarge)),
    (
        &["art-dir-000"],
        |command| {
            command.outputs =
                vec![DeclaredOutput { path: "out/x/y".parse().unwrap(), limit: ByteCount::new(10) }];
        },
        |seen| seen.exited(),
    ),
];

/// What must be seen of a case; `None` where that takes more than a look.
fn expectation(id: &str) -> Option<(Tighten, Holds)> {
    if id.starts_with("sys-") && id != "sys-memfd-exec" {
        return Some((as_it_is, fails_with_a_number));
    }
    EXPECTATIONS.iter().find(|(ids, ..)| ids.contains(&id)).map(|(_, tighten, holds)| (*tighten, *holds))
}

async fn staged(bench: &Bench) -> Staged {
    let mut staged = bench.staged("hostile").await;
    let files = vec![
        bench.file("app/cart.py", BatchFileKind::File, b"TOTAL = 0\n").await,
        bench.file("tests/test_cart.py", BatchFileKind::File, b"assert True\n").await,
    ];
    staged.tree = Digest::of(b"a small project");
    bench.port.write_files(&staged.lease, FileBatch { tree: staged.tree, files }).await.unwrap();
    staged
}

async fn run(bench: &Bench, staged: &Staged, command: &str, tighten: Tighten) -> Seen {
    let mut named = bench.command(staged, &[]);
    named.argv = ["/bin/sh", "-c", command].map(str::to_owned).to_vec();
    named.environment = vec![("PATH".into(), "/usr/sbin:/usr/bin".into())];
    tighten(&mut named);
    let observed = bench.execute(staged, named).await;
    let stdout = format!("{}{}", observed.stdout.head, observed.stdout.tail);
    Seen { observed, stdout }
}

/// A field of a line of JSON that holds a text.
fn field(line: &serde_json::Value, name: &str) -> String {
    line[name].as_str().unwrap_or_default().to_owned()
}

// proves E-J12 E-J13
// break crates/adapters/sandbox-linux/src/filter/policy.rs: `_ if number <= nr::__NR_rseq => &FORBIDDEN,` -> `_ if number <= nr::__NR_rseq => &Rule::Allow,`
#[test]
fn hostile_commands_are_contained() {
    let Some(_) = cases() else {
        println!("skipped: CASES_ABSENT hostile");
        return;
    };
    if !rustix::process::geteuid().is_root() || !Path::new("/usr/bin/python3").exists() {
        println!("skipped: NO_IMAGE only root can bind the tools of this machine into an image");
        return;
    }
    let image = tempfile::tempdir().unwrap();
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", BIND])
        .arg(image.path())
        .arg(std::env::current_exe().unwrap())
        .args(["hostile::every_case", "--exact", "--ignored", "--nocapture"])
        .env(IMAGE, image.path())
        .output();
    let Ok(output) = output else {
        println!("skipped: NO_UNSHARE unshare(1) is not installed");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    print!("{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "only with an image of real tools: hostile_commands_are_contained starts it with one"]
async fn every_case() {
    let image = PathBuf::from(std::env::var_os(IMAGE).unwrap());
    let directory = tempfile::tempdir().unwrap();
    let port = adapter(directory.path().join("state"), image);
    let bench = Bench::new(std::sync::Arc::new(port), image_digest(), volumes(), Bytes::from_static(PROBER));
    let staged = staged(&bench).await;
    let (mut held, mut left_out, mut broken) = (0, Vec::new(), Vec::new());
    for line in std::fs::read_to_string(cases().unwrap()).unwrap().lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let id = field(&case, "id");
        let Some((tighten, holds)) = expectation(&id) else {
            left_out.push(id);
            continue;
        };
        let seen = run(&bench, &staged, &field(&case, "cmd"), tighten).await;
        if holds(&seen) {
            held += 1;
        } else {
            broken.push(format!(
                "{id}: {:?}, {:?}, {:?}",
                seen.observed.ending, seen.observed.breaches, seen.stdout
            ));
        }
    }
    bench.destroy(&staged).await;
    println!("{held} held, left out: {left_out:?}");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(held > 80);
}
