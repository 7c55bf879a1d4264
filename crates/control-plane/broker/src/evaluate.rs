//! The evaluator: runs gates and says what came of them. No gate passes whose exit status is not 0; what its own copy of the
//! source and the report of its tests show can take that away, and nothing gives it.

mod protected;
mod report;

use ambit_blueprint::CatalogCommand;
use ambit_gates::{BaseTests, Ending, GateOutput, Objection, fingerprint, summarize};
use ambit_ids::{ByteCount, Digest, DurationMs, EffectKey, GateId, IdempotencyKey, PathSet, limits};
use ambit_ports::AbortSignal;
use ambit_ports::sandbox::{
    DeclaredOutput, ExecutionObservation, FileBatch, NamedCommand, OutputCapture, SandboxLease, Tap,
};
use ambit_redaction::Redactions;
use ambit_revision::Tree;
use ambit_run::{GateRecord, HiddenCheck, InFlight, Observation, Rules};
use ambit_sandboxes::{GRACE_MS, SandboxesError, believed, patiently};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::broker::Broker;
use crate::error::BrokerError;
use crate::ground::Ground;
use crate::performed::Performed;
use protected::Protected;
pub use protected::{is_watched, protected_count};
pub use report::{ReadReport, ReportedBase, ReportedTests, reported, tally};

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
        let base = self.base(ground, lease, flight, (gate, &effect), abort.clone()).await?;
        let command = NamedCommand { tap, ..self.resolve(ground, gate, flight.tree, effect)? };
        let seen = self.execute(ground, lease, command, None, abort).await?;
        let asked = AskedGate { gate, attempt: flight.attempt, key, tree: flight.tree };
        let record = self.record(ground, asked, base, &seen).await?;
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
        HiddenCheck { gate, command }: &HiddenCheck,
        tree: Digest,
        abort: AbortSignal,
    ) -> Result<GateRecord, BrokerError> {
        let hidden = match ground.hidden_files(gate) {
            Some(digest) => Some(self.revisions().hidden(ground.scope(), digest).await?),
            None => None,
        };
        let text = format!("{}.hidden.{command}", ground.pins.run);
        let effect = EffectKey::new(text.clone()).map_err(|_| BrokerError::Altered("the name of a check"))?;
        let key = IdempotencyKey::new(format!("hidden.{command}"))
            .map_err(|_| BrokerError::Altered("the name of a check"))?;
        let named = self.resolve(ground, command, tree, effect)?;
        let seen = self.execute(ground, lease, named, hidden.as_ref(), abort).await?;
        let asked = AskedGate { gate: command, attempt: 1, key: &key, tree };
        self.record(ground, asked, None, &seen).await
    }

    /// What a gate reports on the base revision, where its command reports at all and it is to run on another tree. It is run
    /// there where nobody knows yet; how it ends there decides nothing.
    async fn base(
        &self,
        ground: &Ground,
        lease: &SandboxLease,
        flight: &InFlight,
        (gate, effect): (&GateId, &EffectKey),
        abort: AbortSignal,
    ) -> Result<Option<ReportedBase>, BrokerError> {
        let base = ground.pins.base.tree;
        let (blobs, scope) = (self.revisions().blobs(), ground.scope());
        let Some(command) = ground.reporting(gate).filter(|_| flight.tree != base) else { return Ok(None) };
        if let Some(tests) = flight.base_tests {
            let report = match tests.tests {
                Some(tally) => report::kept(blobs.as_ref(), scope, tally.report).await?,
                None => None,
            };
            if report.is_none() && tests.tests.is_some() {
                return Err(BrokerError::Altered("the tests of the base revision"));
            }
            return Ok(Some(ReportedBase { tests, report, output: None }));
        }
        let effect = base_effect(effect).ok_or(BrokerError::Altered("the name of an effect"))?;
        let named = self.resolve(ground, gate, base, effect)?;
        let seen = self.execute(ground, lease, named, None, abort).await?;
        if seen.ending == Ending::Aborted {
            return Err(BrokerError::Aborted);
        }
        let read = self.read_report(ground, command, &seen).await?;
        let artifact = self.keep_seen(ground, &seen).await?;
        let tests = BaseTests { artifact, tests: tally(&read) };
        let output = (ground.pins.rules >= Rules::Watched).then(|| output_of(&seen));
        Ok(Some(ReportedBase { tests, report: read.and_then(Result::ok), output }))
    }

    /// Reads the report of an execution, and keeps it where it can be read.
    async fn read_report(
        &self,
        ground: &Ground,
        command: &CatalogCommand,
        seen: &ExecutionObservation,
    ) -> Result<ReadReport, BrokerError> {
        let Some(wanted) = &command.report else { return Ok(None) };
        let (blobs, scope) = (self.revisions().blobs(), ground.scope());
        let stdout = self.output(ground, &seen.stdout).await?;
        let read = reported(blobs.as_ref(), scope, wanted, seen, &stdout).await?;
        if let Some(Ok(report)) = &read {
            blobs.put(scope, report::kept_report(report).map_err(BrokerError::Unwritable)?).await?;
        }
        Ok(read)
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

    /// Runs a command on its tree, or on that with the hidden files laid over it.
    async fn execute(
        &self,
        ground: &Ground,
        lease: &SandboxLease,
        mut named: NamedCommand,
        hidden: Option<&Tree>,
        abort: AbortSignal,
    ) -> Result<ExecutionObservation, BrokerError> {
        let mut source = self.revisions().load(ground.scope(), named.tree).await?;
        if let Some(hidden) = hidden {
            source = source.under(hidden)?;
            named.tree = source.digest();
        }
        let (tree, wall) = (named.tree, named.limits.wall_ms);
        let mut protected =
            (ground.pins.rules >= Rules::Guarded).then(|| Protected::of(ground, &source, hidden));
        if let Some(protected) = &mut protected {
            protected.declare(&mut named);
        }
        let bring = || {
            let files = ambit_revisions::batch(&source, None);
            self.sandboxes.bring(lease, FileBatch { tree, files })
        };
        self.answer(BRING_MS, abort.clone(), patiently(self.clock.as_ref(), bring)).await?;
        let within = DurationMs::new(wall.get().saturating_add(GRACE_MS.get()));
        let begun = self.clock.now();
        let observation =
            self.answer(within, abort.clone(), self.sandboxes.run(lease, named, abort.clone())).await?;
        let mut seen = believed(observation, wall, self.clock.now().since(begun));
        if let Some(protected) = &protected {
            protected.take(&mut seen);
        }
        Ok(seen)
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
        asked: AskedGate<'_>,
        base: Option<ReportedBase>,
        seen: &ExecutionObservation,
    ) -> Result<GateRecord, BrokerError> {
        let (stdout, stderr) =
            (self.output(ground, &seen.stdout).await?, self.output(ground, &seen.stderr).await?);
        let output = GateOutput { stdout: &stdout, stderr: &stderr };
        let artifact = self.keep_seen(ground, seen).await?;
        let tests = match ground.reporting(asked.gate) {
            Some(command) => {
                Some(ReportedTests { own: self.read_report(ground, command, seen).await?, base })
            }
            None => None,
        };
        Ok(gate_record(asked, seen, artifact, output, tests.as_ref()))
    }

    /// A command of the catalog, ready to run. Nothing in it comes from an agent.
    fn resolve(
        &self,
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
            redactor: self.redactor().clone(),
            volumes: command.volumes.clone(),
            watched: PathSet::default(),
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

    async fn keep_seen(&self, ground: &Ground, seen: &ExecutionObservation) -> Result<Digest, BrokerError> {
        let bytes = ambit_canonical::encode(seen).map_err(BrokerError::Unwritable)?;
        Ok(self.revisions().blobs().put(ground.scope(), bytes.into_bytes().into()).await?)
    }

    async fn output(&self, ground: &Ground, capture: &OutputCapture) -> Result<Bytes, BrokerError> {
        Ok(self.revisions().blobs().get(ground.scope(), capture.artifact, capture.bytes).await?)
    }
}

/// How many bytes of output were kept of an execution.
#[must_use]
pub fn output_of(seen: &ExecutionObservation) -> ByteCount {
    ByteCount::new(seen.stdout.bytes.get().saturating_add(seen.stderr.bytes.get()))
}

/// The identity of the execution of a gate on the base revision, beside the one that is asked for.
#[must_use]
pub fn base_effect(effect: &EffectKey) -> Option<EffectKey> {
    EffectKey::new(format!("{effect}.base")).ok()
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

/// What follows for a run from what was seen of a gate: `artifact` is the digest under which `seen` is kept, `output` the
/// whole of both streams, and `tests` what its command reported, where it names a report.
#[must_use]
pub fn gate_record(
    asked: AskedGate<'_>,
    seen: &ExecutionObservation,
    artifact: Digest,
    output: GateOutput<'_>,
    tests: Option<&ReportedTests>,
) -> GateRecord {
    let failure = fingerprint(asked.gate, seen.ending, &seen.breaches, output);
    let objections = report::objections_to(seen, tests);
    GateRecord {
        gate: asked.gate.clone(),
        attempt: asked.attempt,
        key: asked.key.clone(),
        tree: asked.tree,
        ending: seen.ending,
        breaches: seen.breaches.clone(),
        fingerprint: failure
            .map(|failure| failure.digest)
            .or_else(|| Objection::fingerprint(asked.gate, &objections)),
        artifact,
        output: output_of(seen),
        redactions: redactions(seen),
        duration: seen.duration_ms,
        tests: tests.map(ReportedTests::in_record),
        objections,
    }
}

/// What was taken out of both streams; `None` where nothing is said of one.
fn redactions(seen: &ExecutionObservation) -> Option<Redactions> {
    let (stdout, stderr) = (seen.stdout.redactions.clone()?, seen.stderr.redactions.as_ref()?);
    Some(stdout.and(stderr))
}

/// What the agent reads of a gate: the exit code, the error class where there is one, both ends of the output, and the
/// address of the whole.
fn gate_reply(record: &GateRecord, seen: &ExecutionObservation) -> Value {
    let class = match record.ending {
        Ending::Exited { code: 0 } if record.objections.is_empty() => None,
        Ending::Exited { code: 0 } => Some("objected"),
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
    if let (false, Value::Object(members)) = (record.objections.is_empty(), &mut reply) {
        let told = |objection: &Objection| format!("{}: {objection}", objection.code());
        members.insert("objections".to_owned(), record.objections.iter().map(told).collect());
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
