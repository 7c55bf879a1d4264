//! The evaluator: runs gates and says what came of them. Whether a gate passed is its exit status and nothing else.

use ambit_gates::{Ending, GateOutput, fingerprint, summarize};
use ambit_ids::{ByteCount, Digest, DurationMs, EffectKey, GateId, IdempotencyKey, limits};
use ambit_ports::AbortSignal;
use ambit_ports::sandbox::{
    DeclaredOutput, ExecutionObservation, FileBatch, NamedCommand, OutputCapture, SandboxLease, Tap,
};
use ambit_run::{GateRecord, InFlight, Observation};
use ambit_sandboxes::{GRACE_MS, SandboxesError, believed, patiently};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::broker::Broker;
use crate::error::BrokerError;
use crate::ground::Ground;
use crate::performed::Performed;

/// How long a tree may take to be brought to a sandbox.
const BRING_MS: DurationMs = DurationMs::new(60_000);
/// How long after an abort a sandbox is waited for.
const ABORT_MS: DurationMs = DurationMs::new(15_000);

impl Broker {
    pub(crate) async fn run_gate(
        &self,
        ground: &Ground,
        lease: &SandboxLease,
        flight: &InFlight,
        (gate, key): (&GateId, &IdempotencyKey),
        tap: Option<Tap>,
        abort: AbortSignal,
    ) -> Result<Performed, BrokerError> {
        let effect = ambit_run::Effect::Perform(Box::new(flight.clone())).key(&ground.pins.run);
        let command = NamedCommand { tap, ..resolve(ground, gate, flight.tree, effect)? };
        let seen = self.execute(ground, lease, command, abort).await?;
        let record = self.record(ground, gate, key, flight.tree, flight.attempt, &seen).await?;
        let reply = gate_reply(&record, &seen);
        Ok(Performed { observation: Observation::GateFinished(record), reply })
    }

    /// Runs a check that the agent does not know of, in a sandbox that it never had.
    ///
    /// # Errors
    /// [`BrokerError`]; then nothing is known of the check.
    pub async fn run_hidden_check(
        &self,
        ground: &Ground,
        lease: &SandboxLease,
        command: &GateId,
        tree: Digest,
        abort: AbortSignal,
    ) -> Result<GateRecord, BrokerError> {
        let text = format!("{}.hidden.{command}", ground.pins.run);
        let effect = EffectKey::new(text.clone()).map_err(|_| BrokerError::Altered("the name of a check"))?;
        let key = IdempotencyKey::new(format!("hidden.{command}"))
            .map_err(|_| BrokerError::Altered("the name of a check"))?;
        let named = resolve(ground, command, tree, effect)?;
        let seen = self.execute(ground, lease, named, abort).await?;
        self.record(ground, command, &key, tree, 1, &seen).await
    }

    /// What the agent reads of a gate that ran before: what it read then.
    ///
    /// # Errors
    /// [`BrokerError`] where what was seen of it cannot be read.
    pub async fn recall_gate(&self, ground: &Ground, record: &GateRecord) -> Result<Value, BrokerError> {
        let limit = ByteCount::new(limits::DOCUMENT_BYTES as u64);
        let bytes = self.revisions().blobs().get(ground.scope(), record.artifact, limit).await?;
        let seen =
            serde_json::from_slice(&bytes).map_err(|_| BrokerError::Altered("what was seen of a gate"))?;
        Ok(gate_reply(record, &seen))
    }

    async fn execute(
        &self,
        ground: &Ground,
        lease: &SandboxLease,
        named: NamedCommand,
        abort: AbortSignal,
    ) -> Result<ExecutionObservation, BrokerError> {
        let (tree, wall) = (named.tree, named.limits.wall_ms);
        let source = self.revisions().load(ground.scope(), tree).await?;
        let bring = || {
            let files = ambit_revisions::batch(&source, None);
            self.sandboxes.bring(lease, FileBatch { tree, files })
        };
        self.answer(BRING_MS, abort.clone(), patiently(self.clock.as_ref(), bring)).await?;
        let within = DurationMs::new(wall.get().saturating_add(GRACE_MS.get()));
        let begun = self.clock.now();
        let observation =
            self.answer(within, abort.clone(), self.sandboxes.run(lease, named, abort.clone())).await?;
        Ok(believed(observation, wall, self.clock.now().since(begun)))
    }

    /// Waits for a sandbox. It ends a command by its limits and by the abort, and is given the time to say so; one that
    /// still does not answer is waited for no longer, and what it did is not known.
    async fn answer<T>(
        &self,
        within: DurationMs,
        mut abort: AbortSignal,
        work: impl Future<Output = Result<T, SandboxesError>>,
    ) -> Result<T, BrokerError> {
        let end = self.clock.now().saturating_add(within);
        let silent_after_abort = async {
            abort.raised().await;
            self.clock.sleep_until(self.clock.now().saturating_add(ABORT_MS)).await;
        };
        tokio::select! {
            biased;
            answer = work => Ok(answer?),
            () = silent_after_abort => Err(BrokerError::Aborted),
            () = self.clock.sleep_until(end) => Err(BrokerError::ObservationLost(within.get())),
        }
    }

    /// Keeps everything that was seen, and what follows from it for the run.
    async fn record(
        &self,
        ground: &Ground,
        gate: &GateId,
        key: &IdempotencyKey,
        tree: Digest,
        attempt: u32,
        seen: &ExecutionObservation,
    ) -> Result<GateRecord, BrokerError> {
        let (stdout, stderr) =
            (self.output(ground, &seen.stdout).await?, self.output(ground, &seen.stderr).await?);
        let output = GateOutput { stdout: &stdout, stderr: &stderr };
        let bytes = ambit_canonical::encode(seen).map_err(BrokerError::Unwritable)?;
        let artifact = self.revisions().blobs().put(ground.scope(), bytes.into_bytes().into()).await?;
        let asked = AskedGate { gate, attempt, key, tree };
        Ok(gate_record(asked, seen, artifact, output))
    }

    async fn output(&self, ground: &Ground, capture: &OutputCapture) -> Result<Bytes, BrokerError> {
        Ok(self.revisions().blobs().get(ground.scope(), capture.artifact, capture.bytes).await?)
    }
}

/// An execution of a gate, as it was asked for.
#[derive(Clone, Copy, Debug)]
pub struct AskedGate<'a> {
    /// The gate.
    pub gate: &'a GateId,
    /// Which execution of it, counted from 1.
    pub attempt: u32,
    /// The key under which it was asked for.
    pub key: &'a IdempotencyKey,
    /// The tree that it ran on.
    pub tree: Digest,
}

/// What follows for a run from what was seen of a gate: `artifact` is the digest under which `seen` is kept, and `output`
/// the whole of both streams.
#[must_use]
pub fn gate_record(
    asked: AskedGate<'_>,
    seen: &ExecutionObservation,
    artifact: Digest,
    output: GateOutput<'_>,
) -> GateRecord {
    let failure = fingerprint(asked.gate, seen.ending, &seen.breaches, output);
    GateRecord {
        gate: asked.gate.clone(),
        attempt: asked.attempt,
        key: asked.key.clone(),
        tree: asked.tree,
        ending: seen.ending,
        breaches: seen.breaches.clone(),
        fingerprint: failure.map(|failure| failure.digest),
        artifact,
        output: ByteCount::new(seen.stdout.bytes.get().saturating_add(seen.stderr.bytes.get())),
        duration: seen.duration_ms,
    }
}

/// A command of the catalog, ready to run. Nothing in it comes from an agent.
fn resolve(
    ground: &Ground,
    gate: &GateId,
    tree: Digest,
    effect: EffectKey,
) -> Result<NamedCommand, BrokerError> {
    let command = ground.command(gate).ok_or(BrokerError::Altered("the catalog has no such command"))?;
    Ok(NamedCommand {
        gate: command.id.clone(),
        effect,
        tree,
        argv: command.argv.clone(),
        environment: command
            .environment
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), value.clone()))
            .collect(),
        workdir: command.workdir.clone(),
        limits: command.resources.limits,
        volumes: command.volumes.clone(),
        outputs: command
            .outputs
            .iter()
            .map(|output| DeclaredOutput {
                path: output.path.clone(),
                limit: output.max_size,
                entries: output.max_entries,
            })
            .collect(),
        tap: None,
    })
}

/// What the agent reads of a gate: the exit code, the error class where there is one, both ends of the output, and the
/// address of the whole.
fn gate_reply(record: &GateRecord, seen: &ExecutionObservation) -> Value {
    let class = match record.ending {
        Ending::Exited { code: 0 } => None,
        Ending::Exited { .. } => Some(seen.breaches.first().map_or("failed", |limit| limit.as_str())),
        Ending::Signalled { .. } => Some("signal"),
        Ending::LimitReached { limit } => Some(limit.as_str()),
        Ending::Aborted => Some("aborted"),
        Ending::NotStarted { .. } => Some("not-started"),
        Ending::Indeterminate => Some("indeterminate"),
    };
    let exit_code = match record.ending {
        Ending::Exited { code } => i32::from(code),
        _ => -1,
    };
    let mut reply = json!({
        "exitCode": exit_code,
        "artifactId": record.artifact,
        "durationMs": record.duration,
        "output": shown(seen),
        "truncated": seen.stdout.truncated || seen.stderr.truncated,
    });
    if let (Some(class), Value::Object(members)) = (class, &mut reply) {
        members.insert("errorClass".to_owned(), json!(class));
    }
    let output = GateOutput { stdout: seen.stdout.head.as_bytes(), stderr: seen.stderr.head.as_bytes() };
    if let (Some(summary), Value::Object(members)) = (summarize(record.ending, output), &mut reply) {
        members.insert("summary".to_owned(), json!(summary));
    }
    reply
}

fn shown(seen: &ExecutionObservation) -> String {
    let mut text = String::new();
    for capture in [&seen.stdout, &seen.stderr] {
        text.push_str(&capture.head);
        if capture.truncated {
            text.push_str("\n[...]\n");
        }
        text.push_str(&capture.tail);
    }
    text
}
