//! Derives every gate record again from what was kept of the execution.

use ambit_broker::{AskedGate, gate_record};
use ambit_gates::GateOutput;
use ambit_ids::{ByteCount, EffectKey, GateId, IdempotencyKey, Scope};
use ambit_ports::sandbox::{ExecutionObservation, OutputCapture};
use ambit_run::{Effect, Event, GateRecord, HiddenCheck, Observation, Pins, Stage, State, ToolCall};
use bytes::Bytes;

use crate::finding::Finding;
use crate::findings::{Findings, blob_name, refuting};
use crate::trace::Trace;
use crate::vault::Vault;

/// What an execution must have been.
struct Asked {
    effect: EffectKey,
    gate: GateId,
    key: IdempotencyKey,
    attempt: u32,
    tree: ambit_ids::Digest,
}

/// Checks every gate record and every record of a hidden check.
pub(crate) async fn check(trace: &Trace<'_>, pins: &Pins, vault: &Vault) -> Findings {
    let mut findings = Findings::default();
    for (at, event) in trace.events() {
        let (record, asked) = match event {
            Event::CallObserved { observation: Observation::GateFinished(record), .. } => {
                (record, asked_gate(trace, at, pins))
            }
            Event::HiddenCheckObserved(record) => (record, asked_check(trace, at, pins)),
            _ => continue,
        };
        match asked {
            Some(asked) => {
                let checked = check_one(trace, at, record, &asked, &pins.scope, vault).await;
                findings.take(checked);
            }
            None => findings.refute(trace.name(at), "no such execution was asked for"),
        }
    }
    findings
}

fn asked_gate(trace: &Trace<'_>, at: usize, pins: &Pins) -> Option<Asked> {
    let flight = trace.flight(at)?;
    let ToolCall::RunNamedGate { gate_id, idempotency_key, .. } = &flight.call else { return None };
    Some(Asked {
        effect: Effect::Perform(Box::new(flight.clone())).key(&pins.run),
        gate: gate_id.clone(),
        key: idempotency_key.clone(),
        attempt: flight.attempt,
        tree: flight.tree,
    })
}

fn asked_check(trace: &Trace<'_>, at: usize, pins: &Pins) -> Option<Asked> {
    let State::Open(open) = trace.state(at) else { return None };
    let Stage::HiddenChecks(remaining) = &open.stage else { return None };
    let check: &HiddenCheck = remaining.first()?;
    Some(Asked {
        effect: Effect::CheckHidden(check.clone()).key(&pins.run),
        gate: check.command.clone(),
        key: IdempotencyKey::new(format!("hidden.{}", check.command)).ok()?,
        attempt: 1,
        tree: open.dossier.head,
    })
}

async fn check_one(
    trace: &Trace<'_>,
    at: usize,
    record: &GateRecord,
    asked: &Asked,
    scope: &Scope,
    vault: &Vault,
) -> Result<(), Finding> {
    if record.tree != asked.tree {
        let why = format!("it is of the tree {}, and {} was current", record.tree, asked.tree);
        return Err(refuting(trace.name(at), why));
    }
    let what = format!("the observation of {} attempt {}", record.gate, record.attempt);
    let seen: ExecutionObservation = vault.read_value(scope, &what, record.artifact).await?;
    if seen.effect != asked.effect {
        let why = format!("what was seen is of {}, not of {}", seen.effect, asked.effect);
        return Err(refuting(trace.name(at), why));
    }
    let held = trace.sandbox(at).map(|held| &held.incarnation);
    if held != Some(&seen.incarnation) {
        let why = format!("what was seen is of another sandbox, {}", seen.incarnation);
        return Err(refuting(trace.name(at), why));
    }
    let stdout = output(scope, &what, "standard output", &seen.stdout, vault).await?;
    let stderr = output(scope, &what, "standard error", &seen.stderr, vault).await?;
    for kept in &seen.outputs {
        let named = format!("the output {} of {} attempt {}", kept.path, record.gate, record.attempt);
        sized(
            vault.read(scope, &named, kept.artifact, kept.bytes).await?,
            &named,
            kept.artifact,
            kept.bytes,
        )?;
    }
    let asked = AskedGate { gate: &asked.gate, attempt: asked.attempt, key: &asked.key, tree: asked.tree };
    let output = GateOutput { stdout: &stdout, stderr: &stderr };
    let derived = gate_record(asked, &seen, record.artifact, output);
    if derived == *record {
        Ok(())
    } else {
        Err(refuting(
            trace.name(at),
            format!("what was seen makes another record: {}", differing(record, &derived)),
        ))
    }
}

async fn output(
    scope: &Scope,
    what: &str,
    stream: &str,
    capture: &OutputCapture,
    vault: &Vault,
) -> Result<Bytes, Finding> {
    let named = format!("the {stream} in {what}");
    let bytes = vault.read(scope, &named, capture.artifact, capture.bytes).await?;
    sized(bytes, &named, capture.artifact, capture.bytes)
}

/// The bytes, if they are as many as whoever names them says.
fn sized(bytes: Bytes, what: &str, digest: ambit_ids::Digest, said: ByteCount) -> Result<Bytes, Finding> {
    if bytes.len() as u64 == said.get() {
        Ok(bytes)
    } else {
        let why = format!("it has {} bytes, and the observation says {}", bytes.len(), said.get());
        Err(refuting(blob_name(what, digest), why))
    }
}

fn differing(recorded: &GateRecord, derived: &GateRecord) -> String {
    let parts = [
        ("gate", recorded.gate == derived.gate),
        ("attempt", recorded.attempt == derived.attempt),
        ("key", recorded.key == derived.key),
        ("ending", recorded.ending == derived.ending),
        ("breaches", recorded.breaches == derived.breaches),
        ("fingerprint", recorded.fingerprint == derived.fingerprint),
        ("outputBytes", recorded.output == derived.output),
        ("durationMs", recorded.duration == derived.duration),
    ];
    parts.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect::<Vec<_>>().join(", ")
}
