//! What is allowed works, and what is denied fails beside a control with the same tool.

use std::fs;
use std::net::{TcpListener, TcpStream};

use ambit_gates::Ending;
use ambit_ports::sandbox::{Lives, OutputRefusal, Probe, ProbeFamily, SandboxPort as _};

use super::result::probe;
use super::subject::Subject;

/// An attempt that must fail, and one with the same tool that must succeed.
struct Denial {
    id: &'static str,
    denied: &'static [&'static str],
    control: &'static [&'static str],
    /// The error numbers that count as the denial; another one is another failure.
    errnos: &'static [&'static str],
}

const EPERM: &str = "errno 1";
const ENOENT: &str = "errno 2";
const EROFS: &str = "errno 30";
const ENETUNREACH: &str = "errno 101";

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
pub(super) async fn all(subject: &Subject<'_>) -> Vec<Probe> {
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

async fn allowed(subject: &Subject<'_>, id: &str, words: &[&str]) -> Probe {
    let (passed, observed) = subject.attempt(words).await;
    probe(ProbeFamily::Positive, id, passed, observed)
}

async fn denied(subject: &Subject<'_>, denial: &Denial) -> Probe {
    let (control, control_said) = subject.attempt(denial.control).await;
    let (succeeded, said) = subject.attempt(denial.denied).await;
    let passed = control && !succeeded && denial.errnos.contains(&said.as_str());
    probe(ProbeFamily::Denied, denial.id, passed, format!("{said}; control: {control_said}"))
}

/// A server on the host's loopback answers the host, and nobody inside.
async fn host_loopback(subject: &Subject<'_>) -> Probe {
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
async fn host_file(subject: &Subject<'_>) -> Probe {
    let id = "denied.canary.host-file";
    let canary = std::env::temp_dir().join(format!("ambit-canary-{}", std::process::id()));
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
async fn environment(subject: &Subject<'_>) -> Probe {
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
async fn privileges(subject: &Subject<'_>) -> Probe {
    let (ended_well, said) = subject.attempt(&["read", "/proc/self/status"]).await;
    let field = |name: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t"));
        line.unwrap_or_default().to_owned()
    };
    let powerless = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].map(field);
    let powerless = powerless.iter().all(|set| !set.is_empty() && set.bytes().all(|digit| digit == b'0'));
    let confined = field("NoNewPrivs") == "1" && field("Seccomp") == "2";
    let user = field("Uid");
    let ordinary = !user.is_empty() && user.split_whitespace().all(|id| id != "0");
    let observed = format!("uid {user}, NoNewPrivs {}, Seccomp {}", field("NoNewPrivs"), field("Seccomp"));
    probe(ProbeFamily::Denied, "denied.power", ended_well && powerless && confined && ordinary, observed)
}

async fn kept_output(subject: &Subject<'_>) -> Probe {
    let seen = subject.run(&["write", "/workspace/out", "kept"]).await;
    let kept = seen.as_ref().is_ok_and(|seen| seen.outputs.len() == 1 && seen.outputs[0].bytes.get() == 4);
    probe(ProbeFamily::Positive, "positive.output.kept", kept, if kept { "4 bytes" } else { "not kept" })
}

async fn link_output(subject: &Subject<'_>) -> Probe {
    let seen = subject.run(&["link", "/proc/self/status", "/workspace/out"]).await;
    let refused = seen.as_ref().is_ok_and(|seen| {
        seen.ending == Ending::Exited { code: 0 }
            && seen.refused_outputs.iter().any(|refused| refused.why == OutputRefusal::Link)
    });
    probe(ProbeFamily::Denied, "denied.output.link", refused, if refused { "refused" } else { "not refused" })
}

/// What one run writes, another does not see.
async fn other_run(subject: &Subject<'_>) -> Probe {
    let id = "denied.isolation.other-run";
    let other = match Subject::allocate(subject.backend, "other").await {
        Ok(other) => other,
        Err(error) => return probe(ProbeFamily::Denied, id, false, error.code()),
    };
    let (planted, _) = other.attempt(&["write", "/tmp/other", "x"]).await;
    let (succeeded, said) = subject.attempt(&["read", "/tmp/other"]).await;
    let apart = other.lease.lease != subject.lease.lease;
    let removed =
        subject.backend.destroy(&other.lease, Lives::Named).await.is_ok_and(|receipt| receipt.is_proof());
    probe(ProbeFamily::Denied, id, planted && !succeeded && said == ENOENT && apart && removed, said)
}
