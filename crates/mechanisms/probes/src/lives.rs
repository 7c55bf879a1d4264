//! Cancelling stops everything, destroying leaves nothing, and what is lost is replaced once.

use ambit_gates::Ending;
use ambit_ports::AbortHandle;
use ambit_ports::sandbox::{DestructionReceipt, Lives, Probe, ProbeFamily, SandboxError};
use ambit_run::StopReason;

use crate::backend::ProbedBackend;
use crate::result::probe;
use crate::subject::{LIMITS, Subject};

/// Every probe that ends a life. The subject is destroyed at the end.
pub async fn all<B: ProbedBackend>(mut subject: Subject<'_, B>) -> Vec<Probe> {
    let mut probes = vec![abort(&subject).await];
    for (id, part) in B::PARTS {
        let lost = subject.backend.lose(*part, &subject.lease).await;
        probes.push(recovered(&mut subject, id, lost).await);
    }
    probes.push(cancel(&subject).await);
    probes.push(destroy(&subject).await);
    probes
}

/// A tree of sleeping processes is gone after an abort, and the sandbox goes on.
async fn abort<B: ProbedBackend>(subject: &Subject<'_, B>) -> Probe {
    let (handle, signal) = AbortHandle::new();
    let run = subject.run_until(&["family", "4"], LIMITS, signal);
    let (seen, ()) = tokio::join!(run, async { handle.abort() });
    let aborted = seen.as_ref().is_ok_and(|seen| seen.ending == Ending::Aborted);
    let (goes_on, said) = subject.attempt(&["list", "/proc"]).await;
    // Only the first process and the prober itself.
    let processes = said.lines().filter(|name| name.parse::<u32>().is_ok()).count();
    let observed = format!(
        "{}, then {processes} processes",
        seen.map_or_else(|error| subject.why(&error), |seen| seen.ending.to_string())
    );
    probe(ProbeFamily::Cancellation, "cancellation.abort", aborted && goes_on && processes == 2, observed)
}

/// After a loss the old life is gone, and the run gets the same lease with another incarnation.
async fn recovered<B: ProbedBackend>(subject: &mut Subject<'_, B>, id: &str, lost: bool) -> Probe {
    let before = subject.lease.clone();
    let gone = matches!(subject.run(&["exit", "0"]).await, Err(SandboxError::Gone(_)));
    let again = subject.allocate_again().await;
    let replaced = subject.lease.lease == before.lease && subject.lease.incarnation != before.incarnation;
    let (works, said) = subject.attempt(&["exit", "0"]).await;
    let observed = match again {
        Ok(()) if gone => format!("gone, then a new life {said}").trim_end().to_owned(),
        Ok(()) => "the loss was not noticed".to_owned(),
        Err(error) => subject.why(&error),
    };
    probe(ProbeFamily::Recovery, id, lost && gone && replaced && works, observed)
}

async fn cancel<B: ProbedBackend>(subject: &Subject<'_, B>) -> Probe {
    let receipt = subject.backend.cancel(&subject.lease, &StopReason::CustomerCancelled).await;
    let stopped = receipt.as_ref().is_ok_and(|receipt| receipt.remaining_processes == 0);
    let gone = matches!(subject.run(&["exit", "0"]).await, Err(SandboxError::Gone(_)));
    let observed = receipt.map_or_else(
        |error| subject.why(&error),
        |receipt| format!("{} processes remain", receipt.remaining_processes),
    );
    probe(ProbeFamily::Cancellation, "cancellation.cancel", stopped && gone, observed)
}

async fn destroy<B: ProbedBackend>(subject: &Subject<'_, B>) -> Probe {
    let receipt = subject.backend.destroy(&subject.lease, Lives::Named).await;
    let proven = receipt.as_ref().is_ok_and(DestructionReceipt::is_proof);
    let observed = receipt.map_or_else(|error| subject.why(&error), |receipt| remaining(&receipt.remaining));
    probe(ProbeFamily::Cleanup, "cleanup.destroy", proven, observed)
}

fn remaining(counted: &[(String, u32)]) -> String {
    let parts: Vec<String> = counted.iter().map(|(what, number)| format!("{number} {what}")).collect();
    format!("{} remain", parts.join(", "))
}
