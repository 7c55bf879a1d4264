//! Signs of an attempt to get out: hostile commands raise them, honest ones do not, and who cannot count says so.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ambit_conformance::sandbox::{Bench, PROMPT, Staged};
use ambit_gates::{Ending, ResourceLimit};
use ambit_ids::DurationMs;
use ambit_ports::AbortHandle;
use ambit_ports::sandbox::{EscapeSigns, ExecutionObservation, RefusedCall};

use crate::support::bench;
use crate::tools::{Tools, with_tools};

/// A call of every class, and what it counts as.
const HOSTILE: [(&[&str], RefusedCall); 16] = [
    (&["call", "272", "0x10000000"], RefusedCall::Namespace),
    (&["call", "56", "0x40000011"], RefusedCall::Namespace),
    (&["call", "308", "3", "0"], RefusedCall::Namespace),
    (&["call", "165"], RefusedCall::Mount),
    (&["call", "442"], RefusedCall::Mount),
    (&["call", "161"], RefusedCall::Mount),
    (&["call", "313"], RefusedCall::Module),
    (&["call", "320"], RefusedCall::Module),
    (&["call", "250"], RefusedCall::Keyring),
    (&["call", "321"], RefusedCall::Bpf),
    (&["call", "298"], RefusedCall::Bpf),
    (&["call", "101", "16", "1"], RefusedCall::Ptrace),
    (&["call", "41", "17", "3", "0"], RefusedCall::RawSocket),
    (&["call", "227"], RefusedCall::Clock),
    (&["call", "302", "1", "7", "0"], RefusedCall::Other),
    (&["call", "304"], RefusedCall::Other),
];

/// Calls that are refused, and that honest programs try.
const REFUSED: [&[&str]; 4] =
    [&["call", "425", "1"], &["call", "41", "16", "3", "12"], &["call", "435"], &["call", "237"]];

/// What a machine lacks on which nobody can count.
const LISTENER: &str = "a listener for system calls";

fn refused_calls(seen: &ExecutionObservation) -> &BTreeMap<RefusedCall, u32> {
    &seen.signs.as_ref().unwrap().refused_calls
}

async fn run(bench: &Bench, staged: &Staged, words: &[&str]) -> ExecutionObservation {
    let seen = bench.probe(staged, words).await;
    assert!(seen.stdout.head.starts_with("errno "), "{words:?}: {seen:?}");
    seen
}

// proves E-J13
// break crates/adapters/sandbox-linux/guest/src/roles/notify.rs: `*count = count.saturating_add(1);` -> `*count = 0;`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_hostile_commands_try_is_counted() {
    let (bench, _directory) = bench();
    let lacks = bench.port.inspect_capabilities().await.unwrap().lacks;
    assert!(lacks.iter().all(|lack| lack.feature != LISTENER), "{lacks:?}");
    let staged = bench.staged("signs-hostile").await;
    for (words, class) in HOSTILE {
        let seen = run(&bench, &staged, words).await;
        assert_eq!(seen.stdout.head, "errno 1\n", "{words:?}");
        assert_eq!(refused_calls(&seen), &BTreeMap::from([(class, 1)]), "{words:?}");
    }
    for words in REFUSED {
        assert_eq!(refused_calls(&run(&bench, &staged, words).await), &BTreeMap::new(), "{words:?}");
    }
    let mut crowded = bench.command(&staged, &["fork", "40"]);
    crowded.limits.processes = 4;
    let seen = bench.execute(&staged, crowded).await;
    let hits = &seen.signs.as_ref().unwrap().limit_hits;
    let told = seen.breaches.contains(&ResourceLimit::Pids);
    assert_eq!(hits.get(&ResourceLimit::Pids).is_some_and(|hits| *hits > 0), told, "{seen:?}");
    // What is kept of it reads back.
    let kept = ambit_canonical::encode(&seen).unwrap();
    let read: ExecutionObservation = ambit_canonical::decode(kept.as_bytes(), 1 << 20).unwrap();
    assert_eq!(read, seen);
    bench.destroy(&staged).await;
}

/// A command that asks without end is ended in its time, and stopped when it is to be.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_refused_calls_gains_nothing() {
    let (bench, _directory) = bench();
    let staged = bench.staged("signs-flood").await;
    // On a busy machine nothing may have begun when a short time is over.
    let mut begun = false;
    for wall_ms in [400, 4000, 40_000] {
        let mut flood = bench.command(&staged, &["flood", "8"]);
        flood.limits.wall_ms = DurationMs::new(wall_ms);
        let seen = bench.execute(&staged, flood).await;
        assert_eq!(seen.ending, Ending::LimitReached { limit: ResourceLimit::Timeout }, "{seen:?}");
        begun = refused_calls(&seen).get(&RefusedCall::Mount).is_some_and(|count| *count > 0)
            && seen.killed_processes > 0;
        if begun {
            break;
        }
    }
    assert!(begun, "what was tried for so long is not counted");

    let (handle, signal) = AbortHandle::new();
    let running = bench.port.execute_named(&staged.lease, bench.command(&staged, &["flood", "8"]), signal);
    let (seen, began) = tokio::join!(running, async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        handle.abort();
        Instant::now()
    });
    assert_eq!(seen.unwrap().ending, Ending::Aborted);
    assert!(began.elapsed() < PROMPT, "{:?}", began.elapsed());
    bench.allowed(&staged, &["loopback"]).await;
    bench.destroy(&staged).await;
}

/// Under a filter that has a listener already, as in some containers, the kernel gives no other.
// proves E-I09
// break crates/adapters/sandbox-linux/guest/src/roles/notify.rs: `self.listener.as_ref().map(|_| self.signs)` -> `Some(self.signs)`
#[test]
fn who_cannot_count_says_so() {
    /// Everything is allowed.
    const ALLOW: [u8; 8] = [6, 0, 0, 0, 0, 0, 0xff, 0x7f];
    let confined = std::thread::spawn(|| {
        rustix::thread::set_no_new_privs(true).unwrap();
        let listener = ambit_sandbox_guest::raw::set_filter(&ALLOW).unwrap();
        assert!(listener.is_some(), "this kernel has listeners");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (bench, _directory) = bench();
            let staged = bench.staged("signs-unknown").await;
            bench.allowed(&staged, &["loopback"]).await;
            let seen = run(&bench, &staged, &["call", "165"]).await;
            assert_eq!((seen.stdout.head.as_str(), seen.signs), ("errno 38\n", None));
            let lacks = bench.port.inspect_capabilities().await.unwrap().lacks;
            assert!(lacks.iter().any(|lack| lack.feature == LISTENER), "{lacks:?}");
            bench.destroy(&staged).await;
        });
    });
    confined.join().unwrap();
}

// proves E-J13
// break crates/mechanisms/system-calls/src/policy.rs: `_ => &ABSENT,` -> `_ => &Rule::Report,`
#[test]
fn honest_commands_show_no_sign() {
    with_tools("signs::honest_commands");
}

/// What must be there to try, and what is tried.
const HONEST: [(&str, &str); 8] = [
    (
        "sh",
        "for i in 1 2 3; do (echo $i) | cat; done > out; sort out; trap : TERM; kill -0 $$; sleep 0.01 & wait",
    ),
    (
        "python3",
        "python3 -c 'import socket, subprocess, threading, tempfile, asyncio, ctypes, multiprocessing as m; socket.getaddrinfo(\"localhost\", 80); subprocess.run([\"true\"], check=True); t = threading.Thread(target=print); t.start(); t.join(); asyncio.run(asyncio.sleep(0)); p = m.Process(target=print); p.start(); p.join()'",
    ),
    (
        "node",
        "node -e 'require(\"dns\").lookup(\"localhost\", () => 0); const s = require(\"http\").createServer((q, r) => r.end()).listen(0, \"127.0.0.1\", () => require(\"http\").get({port: s.address().port}, r => { r.resume(); s.close() })); new (require(\"worker_threads\").Worker)(\"1\", {eval: true}); require(\"fs\").readFile(\"/usr/bin/node\", () => 0); require(\"fs\").watch(\".\").close(); require(\"os\").cpus(); require(\"os\").networkInterfaces(); require(\"child_process\").execSync(\"true\")'",
    ),
    (
        "git",
        "git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm x && git gc -q && git fsck --full --no-progress && git status -s",
    ),
    ("gcc", "echo 'int main(void) { return 0; }' > a.c && gcc -O1 a.c -o a && ./a"),
    (
        "/rust/bin/cargo",
        "cargo new -q --vcs none p && cd p && CARGO_HOME=/tmp/c cargo build -q --offline && target/debug/p",
    ),
    ("ip", "ip link show lo && ip addr && ip route"),
    (
        "perl",
        "perl -e 'use Socket; use POSIX; fork // die; socket(S, PF_INET, SOCK_STREAM, 6) or die; print getcwd()'",
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "only with an image of real tools: honest_commands_show_no_sign starts it with one"]
async fn honest_commands() {
    let tools = Tools::stage("signs-honest").await;
    let mut tried = 0;
    for (program, line) in HONEST {
        if !tools.shell(&format!("command -v {program}")).await.ending.is_success() {
            println!("skipped: NO_TOOL {program}");
            continue;
        }
        let seen = tools.shell(line).await;
        assert_eq!(
            seen.ending,
            Ending::Exited { code: 0 },
            "{program}: {:?} {}",
            seen.stdout.head,
            seen.stderr.head
        );
        assert_eq!(seen.signs, Some(EscapeSigns::default()), "{program}");
        tried += 1;
    }
    assert!(tried >= 2, "{tried} tools");
    // The same tools show signs when they are put to other use.
    let hostile = [
        ("unshare --user true", RefusedCall::Namespace),
        ("mount -t tmpfs none /tmp", RefusedCall::Mount),
        ("python3 -c 'import ctypes; ctypes.CDLL(None).ptrace(16, 1, 0, 0)'", RefusedCall::Ptrace),
    ];
    for (line, class) in hostile {
        let seen = tools.shell(line).await;
        assert!(refused_calls(&seen).get(&class).is_some_and(|count| *count > 0), "{line}: {seen:?}");
    }
    tools.bench.destroy(&tools.staged).await;
}
