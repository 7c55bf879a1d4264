//! A failure is told as one, each limit by its class.

use ambit_gates::{Ending, NotStarted, ResourceLimit};
use ambit_ids::{ByteCount, DurationMs, ExecutionLimits};
use ambit_ports::sandbox::{Enforcer, ExecutionObservation, Probe, ProbeFamily, SandboxError};

use crate::backend::ProbedBackend;
use crate::result::probe;
use crate::subject::{LIMITS, Subject};

/// For how long memory is held that is too much: it is found out long before, on a busy machine as well.
const HELD_SECONDS: &str = "20";
const SHARED_MEMORY: &str = "failure.limit.shared-memory";

type Seen = Result<ExecutionObservation, SandboxError>;

fn told<B: ProbedBackend>(subject: &Subject<'_, B>, id: &str, seen: &Seen, expected: Ending) -> Probe {
    let passed = seen.as_ref().is_ok_and(|seen| seen.ending == expected);
    probe(ProbeFamily::Failure, id, passed, describe(subject, seen))
}

fn met<B: ProbedBackend>(subject: &Subject<'_, B>, id: &str, seen: &Seen, limit: ResourceLimit) -> Probe {
    let passed = seen.as_ref().is_ok_and(|seen| seen.breaches.contains(&limit));
    probe(ProbeFamily::Failure, id, passed, describe(subject, seen))
}

fn describe<B: ProbedBackend>(subject: &Subject<'_, B>, seen: &Seen) -> String {
    match seen {
        Ok(seen) => seen.ending.to_string(),
        Err(error) => subject.why(error),
    }
}

/// Every failure probe.
pub async fn all<B: ProbedBackend>(subject: &Subject<'_, B>) -> Vec<Probe> {
    let reached = |limit| Ending::LimitReached { limit };
    let brief = ExecutionLimits { wall_ms: DurationMs::new(20), ..LIMITS };
    let quiet = ExecutionLimits { output_bytes: ByteCount::new(1000), ..LIMITS };
    let mut probes = vec![
        told(subject, "failure.exit-code", &subject.run(&["exit", "7"]).await, Ending::Exited { code: 7 }),
        told(
            subject,
            "failure.signal",
            &subject.run(&["signal", "11"]).await,
            Ending::Signalled { signal: 11 },
        ),
        told(
            subject,
            "failure.limit.timeout",
            &subject.run_within(&["sleep"], brief).await,
            reached(ResourceLimit::Timeout),
        ),
        told(
            subject,
            "failure.limit.output",
            &subject.run_within(&["print", "100000"], quiet).await,
            reached(ResourceLimit::Output),
        ),
        met(
            subject,
            "failure.limit.disk",
            &subject.run(&["fill", "/workspace/big", "8"]).await,
            ResourceLimit::Disk,
        ),
        not_found(subject).await,
        told(
            subject,
            "failure.limit.memory",
            // Without a control group only the guest sees this: it is in none of the kernel's counts for a process.
            &subject.run_within(&["hold", "read-only", "48", HELD_SECONDS], LITTLE_MEMORY).await,
            reached(ResourceLimit::Memory),
        ),
        shared_memory(subject).await,
    ];
    probes.extend(of_the_whole(subject).await);
    probes
}

const LITTLE_MEMORY: ExecutionLimits = ExecutionLimits { memory_bytes: ByteCount::new(16 << 20), ..LIMITS };

/// Memory that no process has mapped.
async fn shared_memory<B: ProbedBackend>(subject: &Subject<'_, B>) -> Probe {
    /// Where the kernel leaves nobody to count it, there is none.
    const ABSENT: &str = "errno 38\n";
    let seen = subject.run_within(&["hoard", "segment", "48"], LITTLE_MEMORY).await;
    let absent = seen.as_ref().is_ok_and(|seen| seen.stdout.head == ABSENT);
    if absent {
        return probe(ProbeFamily::Failure, SHARED_MEMORY, true, "absent");
    }
    met(subject, SHARED_MEMORY, &seen, ResourceLimit::Memory)
}

async fn not_found<B: ProbedBackend>(subject: &Subject<'_, B>) -> Probe {
    let seen = subject.run_program("/no/such/program").await;
    told(subject, "failure.not-found", &seen, Ending::NotStarted { why: NotStarted::CommandNotFound })
}

/// The limits that not every backend enforces on a sandbox as a whole.
async fn of_the_whole<B: ProbedBackend>(subject: &Subject<'_, B>) -> Vec<Probe> {
    let enforced = subject.backend.enforcement();
    let mut probes = Vec::new();
    if enforced.processes != Enforcer::RlimitPerProcess {
        let few = ExecutionLimits { processes: 4, ..LIMITS };
        probes.push(met(
            subject,
            "failure.limit.pids",
            &subject.run_within(&["fork", "20"], few).await,
            ResourceLimit::Pids,
        ));
    }
    if enforced.cpu != Enforcer::RlimitPerProcess {
        let short = ExecutionLimits { cpu_time_ms: DurationMs::new(20), ..LIMITS };
        let seen = subject.run_within(&["spin"], short).await;
        probes.push(told(
            subject,
            "failure.limit.cpu",
            &seen,
            Ending::LimitReached { limit: ResourceLimit::Cpu },
        ));
    }
    probes
}
