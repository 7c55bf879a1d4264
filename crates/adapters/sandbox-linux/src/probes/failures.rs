//! A failure is told as one, each limit by its class.

use ambit_gates::{Ending, NotStarted, ResourceLimit};
use ambit_ids::{ByteCount, DurationMs, ExecutionLimits};
use ambit_ports::sandbox::{Enforcer, ExecutionObservation, Probe, ProbeFamily, SandboxError};

use super::result::probe;
use super::subject::{LIMITS, Subject};

type Seen = Result<ExecutionObservation, SandboxError>;

fn told(id: &str, seen: &Seen, expected: Ending) -> Probe {
    let passed = seen.as_ref().is_ok_and(|seen| seen.ending == expected);
    probe(ProbeFamily::Failure, id, passed, describe(seen))
}

fn met(id: &str, seen: &Seen, limit: ResourceLimit) -> Probe {
    let passed = seen.as_ref().is_ok_and(|seen| seen.breaches.contains(&limit));
    probe(ProbeFamily::Failure, id, passed, describe(seen))
}

fn describe(seen: &Seen) -> String {
    match seen {
        Ok(seen) => seen.ending.to_string(),
        Err(error) => error.code().to_owned(),
    }
}

/// Every failure probe.
pub(super) async fn all(subject: &Subject<'_>) -> Vec<Probe> {
    let reached = |limit| Ending::LimitReached { limit };
    let brief = ExecutionLimits { wall_ms: DurationMs::new(20), ..LIMITS };
    let quiet = ExecutionLimits { output_bytes: ByteCount::new(1000), ..LIMITS };
    let mut probes = vec![
        told("failure.exit-code", &subject.run(&["exit", "7"]).await, Ending::Exited { code: 7 }),
        told("failure.signal", &subject.run(&["signal", "11"]).await, Ending::Signalled { signal: 11 }),
        told(
            "failure.limit.timeout",
            &subject.run_within(&["sleep"], brief).await,
            reached(ResourceLimit::Timeout),
        ),
        told(
            "failure.limit.output",
            &subject.run_within(&["print", "100000"], quiet).await,
            reached(ResourceLimit::Output),
        ),
        met("failure.limit.disk", &subject.run(&["fill", "/workspace/big", "8"]).await, ResourceLimit::Disk),
        not_found(subject).await,
    ];
    probes.extend(of_the_whole(subject).await);
    probes
}

async fn not_found(subject: &Subject<'_>) -> Probe {
    let seen = subject.run_program("/no/such/program").await;
    told("failure.not-found", &seen, Ending::NotStarted { why: NotStarted::CommandNotFound })
}

/// The limits that only control groups enforce on a sandbox as a whole.
async fn of_the_whole(subject: &Subject<'_>) -> Vec<Probe> {
    let enforced = subject.backend.layout().enforcement();
    let mut probes = Vec::new();
    if enforced.memory != Enforcer::RlimitPerProcess {
        let small = ExecutionLimits { memory_bytes: ByteCount::new(16 << 20), ..LIMITS };
        let seen = subject.run_within(&["hog", "48"], small).await;
        probes.push(told(
            "failure.limit.memory",
            &seen,
            Ending::LimitReached { limit: ResourceLimit::Memory },
        ));
    }
    if enforced.processes != Enforcer::RlimitPerProcess {
        let few = ExecutionLimits { processes: 4, ..LIMITS };
        probes.push(met(
            "failure.limit.pids",
            &subject.run_within(&["fork", "20"], few).await,
            ResourceLimit::Pids,
        ));
    }
    if enforced.cpu != Enforcer::RlimitPerProcess {
        let short = ExecutionLimits { cpu_time_ms: DurationMs::new(20), ..LIMITS };
        let seen = subject.run_within(&["spin"], short).await;
        probes.push(told("failure.limit.cpu", &seen, Ending::LimitReached { limit: ResourceLimit::Cpu }));
    }
    probes
}
