//! How a command runs, and what is told of it.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use ambit_gates::Ending;
use ambit_ids::{ByteCount, DurationMs, PathSet, RepoPath, UnixMs};
use ambit_ports::AbortSignal;
use ambit_ports::runtime::Clock as _;
use ambit_ports::sandbox::{
    ExecutionObservation, ExportedOutput, Flow, NamedCommand, OutputRefusal, OutputStream, RefusedOutput,
    SandboxError, SandboxLease, SandboxSpec, Written,
};
use bytes::Bytes;
use tokio::sync::watch;

use super::lives::Running;
use super::{Outcome, SandboxFault, SimSandbox, another_life, wire, within};

/// How much later than its limit the made-up success of a command comes.
const LATE_MS: DurationMs = DurationMs::new(500);

/// What a command is seen to have written at watched paths.
fn written(watched: &PathSet, outcome: &Outcome) -> Option<Written> {
    let files: Vec<RepoPath> = outcome.leaves.keys().filter_map(|path| path.parse().ok()).collect();
    let files = files.into_iter().filter(|path| watched.contains(path)).collect();
    let emptied = outcome.empties.iter().filter_map(|path| path.parse().ok()).collect();
    (!watched.0.is_empty()).then_some(Written { watch: outcome.watch, files, emptied })
}

impl SimSandbox {
    /// Runs a command, with whatever goes wrong with it.
    pub(super) async fn execute(
        &self,
        lease: &SandboxLease,
        command: NamedCommand,
        mut abort: AbortSignal,
        fault: Option<SandboxFault>,
    ) -> Result<ExecutionObservation, SandboxError> {
        let (mut outcome, mut running) = Running::begin(&self.lives, lease, &command, self.judge.as_ref())?;
        match fault {
            Some(SandboxFault::Slow(span)) => outcome.takes = span,
            Some(SandboxFault::MadeUp | SandboxFault::MadeUpInNoTime) => {
                let takes = DurationMs::new(command.limits.wall_ms.get().saturating_add(LATE_MS.get()));
                outcome = Outcome::passes().after(takes);
            }
            _ => {}
        }
        let began = self.clock.now();
        let arriving = match fault {
            Some(SandboxFault::CutAt(bytes)) => cut(&outcome, bytes),
            _ => outcome.clone(),
        };
        let flows = poured(&command, &arriving);
        let cut_short = self.wait(outcome.takes, &mut abort, &mut running.killed).await;
        drop(flows);
        if fault == Some(SandboxFault::Vanishes) {
            self.lived(|lives| lives.remove(&lease.lease));
        }
        outcome.ending = cut_short.unwrap_or(outcome.ending);
        if fault == Some(SandboxFault::NoExit) {
            outcome.ending = Ending::Indeterminate;
        }
        if let Some(SandboxFault::CutAt(bytes)) = fault {
            outcome = cut(&outcome, bytes);
        }
        let observation = self.observe(lease, command, &outcome, began).await?;
        running.end();
        Ok(self.tell(observation, fault))
    }

    async fn observe(
        &self,
        lease: &SandboxLease,
        command: NamedCommand,
        outcome: &Outcome,
        began: UnixMs,
    ) -> Result<ExecutionObservation, SandboxError> {
        let spec = self.lived(|lives| lives.spec(lease))?;
        let limit = command.limits.output_bytes;
        let written = written(&command.watched, outcome);
        let (outputs, refused_outputs) = self.left(&spec, &command, lease, outcome).await?;
        Ok(ExecutionObservation {
            incarnation: lease.incarnation.clone(),
            effect: command.effect,
            ending: outcome.ending,
            breaches: BTreeSet::new(),
            stdout: self.keep(&spec, &outcome.stdout, limit).await?,
            stderr: self.keep(&spec, &outcome.stderr, limit).await?,
            outputs,
            refused_outputs,
            duration_ms: self.clock.now().since(began),
            cpu_ms: None,
            peak_memory_bytes: None,
            killed_processes: 0,
            signs: None,
            written,
            protected: None,
        })
    }

    /// The files that were asked for, as the command left them. It leaves no directories.
    async fn left(
        &self,
        spec: &SandboxSpec,
        command: &NamedCommand,
        lease: &SandboxLease,
        outcome: &Outcome,
    ) -> Result<(Vec<ExportedOutput>, Vec<RefusedOutput>), SandboxError> {
        let (mut kept, mut refused) = (Vec::new(), Vec::new());
        for output in &command.outputs {
            let path = output.path.clone();
            let bytes = match outcome.leaves.get(&path.to_string()) {
                Some(left) => left.clone().map(Bytes::from),
                None => self.lived(|lives| lives.file(lease, command.tree, &path)),
            };
            let why = match bytes {
                Some(bytes) if bytes.len() as u64 <= output.limit.get() => {
                    let size = ByteCount::new(bytes.len() as u64);
                    let artifact = spec.blobs.put(&lease.scope, bytes).await?;
                    kept.push(ExportedOutput { path, artifact, bytes: size });
                    continue;
                }
                Some(_) => OutputRefusal::TooLarge,
                None => OutputRefusal::Absent,
            };
            refused.push(RefusedOutput { path, entry: None, why });
        }
        Ok((kept, refused))
    }

    /// What is told of what was seen.
    fn tell(
        &self,
        mut observation: ExecutionObservation,
        fault: Option<SandboxFault>,
    ) -> ExecutionObservation {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let before = last.replace(observation.clone());
        match fault {
            Some(SandboxFault::AnotherLife) => observation.incarnation = another_life(),
            Some(SandboxFault::MadeUpInNoTime) => observation.duration_ms = DurationMs::ZERO,
            Some(SandboxFault::Repeats) => observation = before.unwrap_or(observation),
            _ => {}
        }
        observation
    }

    /// Waits until a command has ended by itself, was aborted, or its sandbox was cancelled or vanished.
    async fn wait(
        &self,
        takes: DurationMs,
        abort: &mut AbortSignal,
        killed: &mut watch::Receiver<bool>,
    ) -> Option<Ending> {
        let end = self.clock.now().saturating_add(takes);
        tokio::select! {
            biased;
            () = abort.raised() => Some(Ending::Aborted),
            _ = killed.wait_for(|killed| *killed) => Some(Ending::Signalled { signal: 9 }),
            () = self.clock.sleep_until(end) => None,
        }
    }
}

/// Pours what arrives of both streams, as soon as the command runs.
fn poured(command: &NamedCommand, arriving: &Outcome) -> Vec<Flow> {
    let streams = OutputStream::BOTH.into_iter().zip([&arriving.stdout, &arriving.stderr]);
    let flows = streams.filter_map(|(stream, bytes)| {
        let mut flow = command.tap.as_ref()?.flow(stream)?;
        flow.pour(within(bytes, command.limits.output_bytes));
        Some(flow)
    });
    flows.collect()
}

/// What is known of a command where only so many bytes of its answer arrive.
fn cut(outcome: &Outcome, bytes: usize) -> Outcome {
    let whole = outcome.travelling();
    let arrived = wire::read(&whole[..bytes.min(whole.len())]);
    Outcome {
        ending: arrived.ending.unwrap_or(Ending::Indeterminate),
        stdout: arrived.stdout,
        stderr: arrived.stderr,
        takes: outcome.takes,
        ..outcome.clone()
    }
}
