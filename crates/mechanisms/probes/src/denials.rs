//! What is allowed works, and what is denied fails beside a control with the same tool.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};

use ambit_gates::Ending;
use ambit_ports::sandbox::{Lives, OutputRefusal, Probe, ProbeFamily};

use crate::backend::ProbedBackend;
use crate::result::probe;
use crate::subject::Subject;

/// An attempt that must fail, and one with the same tool that must succeed.
#[derive(Clone, Copy, Debug)]
pub struct Denial {
    /// The id of the probe.
    pub id: &'static str,
    /// The words to the prober that must fail.
    pub denied: &'static [&'static str],
    /// And those that must not.
    pub control: &'static [&'static str],
    /// The error numbers of Linux that count as the denial, as the prober tells them (`errno 1`); another one is another
    /// failure.
    pub errnos: &'static [&'static str],
}

const EPERM: &str = "errno 1";
const ENOENT: &str = "errno 2";
const EROFS: &str = "errno 30";
const ENETUNREACH: &str = "errno 101";

/// What a kernel of a runtime's own says instead of the number that Linux gives: it looks at the rights of the user before
/// it looks at the mount, and has a network stack in which nothing but itself can be reached.
fn own_words(errno: &str) -> &str {
    match errno {
        EROFS => "errno 13",
        ENETUNREACH => "errno 113",
        other => other,
    }
}

const DENIALS: [Denial; 10] = [
    Denial {
        id: "denied.network.public",
        denied: &["connect", "192.0.2.1", "80"],
        control: &["loopback"],
        errnos: &[ENETUNREACH],
    },
    Denial {
        id: "denied.network.metadata",
        denied: &["connect", "169.254.169.254", "80"],
        control: &["loopback"],
        errnos: &[ENETUNREACH],
    },
    Denial {
        id: "denied.network.raw-socket",
        denied: &["call", "41", "2", "3", "1"],
        control: &["call", "41", "2", "1", "0"],
        errnos: &[EPERM],
    },
    Denial {
        id: "denied.root.write",
        denied: &["write", "/x", "x"],
        control: &["write", "/tmp/x", "x"],
        errnos: &[EROFS],
    },
    Denial {
        id: "denied.root.fixtures",
        denied: &["write", "/fixtures/x", "x"],
        control: &["write", "/workspace/x", "x"],
        errnos: &[EROFS],
    },
    Denial {
        id: "denied.root.system-switch",
        denied: &["write", "/proc/sys/kernel/core_pattern", "x"],
        control: &["write", "/dev/null", "x"],
        errnos: &[EROFS],
    },
    Denial {
        id: "denied.kernel.mount",
        denied: &["call", "165"],
        control: &["call", "39"],
        errnos: &[EPERM],
    },
    Denial {
        id: "denied.kernel.namespace",
        denied: &["call", "272", "0x10000000"],
        control: &["call", "272", "0"],
        errnos: &[EPERM],
    },
    Denial {
        id: "denied.kernel.trace-init",
        denied: &["call", "101", "16", "1"],
        control: &["call", "39"],
        errnos: &[EPERM],
    },
    Denial {
        id: "denied.kernel.limit-init",
        denied: &["call", "302", "1", "7", "0"],
        control: &["call", "302", "0", "7", "0"],
        errnos: &[EPERM],
    },
];

/// Every positive and denied probe.
pub async fn all<B: ProbedBackend>(subject: &Subject<'_, B>) -> Vec<Probe> {
    let mut probes = vec![
        allowed(subject, "positive.execute", &["exit", "0"]).await,
        allowed(subject, "positive.workspace.write", &["write", "/workspace/x", "x"]).await,
        allowed(subject, "positive.temporary.write", &["write", "/tmp/x", "x"]).await,
        kept_output(subject).await,
    ];
    for denial in &DENIALS {
        probes.push(denied(subject, denial).await);
    }
    probes.push(host_loopback(subject).await);
    probes.push(host_file(subject).await);
    probes.push(environment(subject).await);
    probes.push(privileges(subject).await);
    probes.push(link_output(subject).await);
    probes.push(other_run(subject).await);
    probes
}

async fn allowed<B: ProbedBackend>(subject: &Subject<'_, B>, id: &str, words: &[&str]) -> Probe {
    let (passed, observed) = subject.attempt(words).await;
    probe(ProbeFamily::Positive, id, passed, observed)
}

/// The probe of one denial.
pub async fn denied<B: ProbedBackend>(subject: &Subject<'_, B>, denial: &Denial) -> Probe {
    let (control, control_said) = subject.attempt(denial.control).await;
    let (succeeded, said) = subject.attempt(denial.denied).await;
    let own = |errno: &&str| subject.backend.has_own_kernel() && own_words(errno) == said;
    let is_denial = denial.errnos.contains(&said.as_str()) || denial.errnos.iter().any(own);
    let passed = control && !succeeded && is_denial;
    let observed = if !control && control_said == said {
        format!("{said}; control: the same")
    } else {
        format!("{said}; control: {control_said}")
    };
    probe(ProbeFamily::Denied, denial.id, passed, observed)
}

/// A server on the host's loopback answers the host, and nobody inside.
async fn host_loopback<B: ProbedBackend>(subject: &Subject<'_, B>) -> Probe {
    let id = "denied.network.host-loopback";
    let (control, address) =
        match TcpListener::bind("127.0.0.1:0").and_then(|server| Ok((server.local_addr()?, server))) {
            Ok((address, server)) => (TcpStream::connect(address).is_ok(), Some((address, server))),
            Err(_) => (false, None),
        };
    let Some((address, _server)) = address else {
        return probe(ProbeFamily::Denied, id, false, "the host has no loopback to listen on");
    };
    let port = address.port().to_string();
    let (succeeded, said) = subject.attempt(&["connect", "127.0.0.1", &port]).await;
    let passed = control && !succeeded && said == "errno 111";
    probe(
        ProbeFamily::Denied,
        id,
        passed,
        format!("{said}; the host itself: {}", if control { "ok" } else { "no" }),
    )
}

/// A secret in a file of the host, readable to the sandbox's user, is not there inside.
async fn host_file<B: ProbedBackend>(subject: &Subject<'_, B>) -> Probe {
    let id = "denied.canary.host-file";
    // Two backends may be measured at once, and neither may take the other's away.
    static CANARIES: AtomicU64 = AtomicU64::new(0);
    let number = CANARIES.fetch_add(1, Ordering::Relaxed);
    let canary = std::env::temp_dir().join(format!("ambit-canary-{}-{number}", std::process::id()));
    if fs::write(&canary, b"canary").is_err() {
        return probe(ProbeFamily::Denied, id, false, "no canary could be planted");
    }
    let planted = fs::read(&canary).is_ok();
    let (succeeded, said) = subject.attempt(&["read", &canary.to_string_lossy()]).await;
    let _ = fs::remove_file(&canary);
    let (control, _) = subject.attempt(&["read", "/proc/self/status"]).await;
    probe(ProbeFamily::Denied, id, planted && control && !succeeded && said == ENOENT, said)
}

/// The environment is what was given, to the byte.
async fn environment<B: ProbedBackend>(subject: &Subject<'_, B>) -> Probe {
    let (ended_well, said) = subject.attempt(&["environment"]).await;
    // NUL is a control character, which the text view replaces.
    let expected = "PROBE=1\u{fffd}ok 8";
    probe(
        ProbeFamily::Denied,
        "denied.canary.environment",
        ended_well && said == expected,
        said.replace('\u{fffd}', " "),
    )
}

/// No capability, no way to gain one, a filter, and a user that is not root.
async fn privileges<B: ProbedBackend>(subject: &Subject<'_, B>) -> Probe {
    let (ended_well, said) = subject.attempt(&["read", "/proc/self/status"]).await;
    let field = |name: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t"));
        line.unwrap_or_default().to_owned()
    };
    let is_empty = |set: &str| field(set).bytes().all(|digit| digit == b'0');
    let is_told = |set: &&str| !field(set).is_empty();
    // Not every kernel has a line for the last, nor for the promise never to gain any: prctl(PR_GET_NO_NEW_PRIVS).
    let sets = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"];
    let told = if subject.backend.has_own_kernel() { &sets[..4] } else { &sets[..] };
    let powerless = told.iter().all(is_told) && sets.into_iter().all(is_empty);
    let (_, no_new_privileges) = subject.attempt(&["call", "157", "39"]).await;
    let confined = no_new_privileges == "ok 1" && field("Seccomp") == "2";
    let user = field("Uid");
    // Where the number of root is all that the runtime lets an ordinary user have, it must come without any right all the more.
    let is_root = subject.backend.has_root_by_number();
    let ordinary = !user.is_empty() && (is_root || user.split_whitespace().all(|id| id != "0"));
    let observed = format!("uid {user}, no new privileges {no_new_privileges}, Seccomp {}", field("Seccomp"));
    probe(ProbeFamily::Denied, "denied.power", ended_well && powerless && confined && ordinary, observed)
}

async fn kept_output<B: ProbedBackend>(subject: &Subject<'_, B>) -> Probe {
    let seen = subject.run(&["write", "/workspace/out", "kept"]).await;
    let kept = seen.as_ref().is_ok_and(|seen| seen.outputs.len() == 1 && seen.outputs[0].bytes.get() == 4);
    probe(ProbeFamily::Positive, "positive.output.kept", kept, if kept { "4 bytes" } else { "not kept" })
}

async fn link_output<B: ProbedBackend>(subject: &Subject<'_, B>) -> Probe {
    let seen = subject.run(&["link", "/proc/self/status", "/workspace/out"]).await;
    let refused = seen.as_ref().is_ok_and(|seen| {
        seen.ending == Ending::Exited { code: 0 }
            && seen.refused_outputs.iter().any(|refused| refused.why == OutputRefusal::Link)
    });
    probe(ProbeFamily::Denied, "denied.output.link", refused, if refused { "refused" } else { "not refused" })
}

/// What one run writes, another does not see.
async fn other_run<B: ProbedBackend>(subject: &Subject<'_, B>) -> Probe {
    let id = "denied.isolation.other-run";
    let other = match Subject::allocate(subject.backend, "other").await {
        Ok(other) => other,
        Err(error) => return probe(ProbeFamily::Denied, id, false, subject.why(&error)),
    };
    let (planted, _) = other.attempt(&["write", "/tmp/other", "x"]).await;
    let (succeeded, said) = subject.attempt(&["read", "/tmp/other"]).await;
    let apart = other.lease.lease != subject.lease.lease;
    let removed =
        subject.backend.destroy(&other.lease, Lives::Named).await.is_ok_and(|receipt| receipt.is_proof());
    probe(ProbeFamily::Denied, id, planted && !succeeded && said == ENOENT && apart && removed, said)
}
