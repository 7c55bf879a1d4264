//! Derives every gate record again from what was kept of the execution.

use ambit_broker::{
    AskedGate, Ground, ReportedBase, ReportedTests, base_effect, gate_record, is_watched, output_of,
    protected_count, reported, tally,
};
use ambit_gates::{BaseTests, Ending, GateOutput};
use ambit_ids::{ByteCount, Digest, EffectKey, GateId, IdempotencyKey, Scope};
use ambit_ports::sandbox::{ExecutionObservation, OutputCapture};
use ambit_redaction::MoreFound;
use ambit_revisions::Revisions;
use ambit_run::{Effect, Event, GateRecord, HiddenCheck, Observation, Pins, Rules, Stage, State, ToolCall};
use bytes::Bytes;

use crate::finding::Finding;
use crate::findings::{Findings, blob_name, refuting, unsettled};
use crate::trace::Trace;
use crate::vault::{Vault, of_hidden, of_revision};

/// What an execution must have been.
struct Asked {
    effect: EffectKey,
    gate: GateId,
    key: IdempotencyKey,
    attempt: u32,
    tree: Digest,
    /// What was known of the gate on the base revision.
    base_tests: Option<BaseTests>,
    /// Whether it is held against the base revision at all.
    is_compared: bool,
    /// The files that lay over the tree.
    hidden: Option<Digest>,
}

/// What records of gates are held against.
pub(crate) struct Bench<'a> {
    pub(crate) pins: &'a Pins,
    /// The documents of the run, where they could be read.
    pub(crate) ground: Option<&'a Ground>,
    pub(crate) revisions: &'a Revisions,
    pub(crate) vault: &'a Vault,
}

/// Checks every gate record and every record of a hidden check.
pub(crate) async fn check(trace: &Trace<'_>, bench: &Bench<'_>) -> Findings {
    let pins = bench.pins;
    let mut findings = Findings::default();
    for (at, event) in trace.events() {
        let (record, asked) = match event {
            Event::CallObserved { observation: Observation::GateFinished(record), .. } => {
                (record, asked_gate(trace, at, pins))
            }
            Event::HiddenCheckObserved(record) => (record, asked_check(trace, at, bench)),
            _ => continue,
        };
        match asked {
            Some(asked) => {
                let checked = check_one(trace, at, record, &asked, bench).await;
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
        base_tests: flight.base_tests,
        is_compared: flight.tree != pins.base.tree,
        hidden: None,
    })
}

fn asked_check(trace: &Trace<'_>, at: usize, bench: &Bench<'_>) -> Option<Asked> {
    let State::Open(open) = trace.state(at) else { return None };
    let Stage::HiddenChecks(remaining) = &open.stage else { return None };
    let check: &HiddenCheck = remaining.first()?;
    Some(Asked {
        effect: Effect::CheckHidden(check.clone()).key(&bench.pins.run),
        gate: check.command.clone(),
        key: IdempotencyKey::new(format!("hidden.{}", check.command)).ok()?,
        attempt: 1,
        tree: open.dossier.head,
        base_tests: None,
        is_compared: false,
        hidden: bench.ground.and_then(|ground| ground.hidden_files(&check.gate)),
    })
}

async fn check_one(
    trace: &Trace<'_>,
    at: usize,
    record: &GateRecord,
    asked: &Asked,
    bench: &Bench<'_>,
) -> Result<(), Finding> {
    let (scope, vault) = (&bench.pins.scope, bench.vault);
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
    outputs(scope, &format!("{} attempt {}", record.gate, record.attempt), &seen, vault).await?;
    check_protected(trace, at, asked, &seen, bench).await?;
    let tests = tests(trace, at, record, asked, (&seen, &stdout), bench).await?;
    let asked = AskedGate { gate: &asked.gate, attempt: asked.attempt, key: &asked.key, tree: asked.tree };
    let output = GateOutput { stdout: &stdout, stderr: &stderr };
    let derived = gate_record(asked, &seen, record.artifact, output, tests.as_ref());
    if derived == *record {
        Ok(())
    } else {
        Err(refuting(
            trace.name(at),
            format!("what was seen makes another record: {}", differing(record, &derived)),
        ))
    }
}

/// Every protected file of the tree was looked at after the gate, where it ended by itself.
async fn check_protected(
    trace: &Trace<'_>,
    at: usize,
    asked: &Asked,
    seen: &ExecutionObservation,
    bench: &Bench<'_>,
) -> Result<(), Finding> {
    let (true, Ending::Exited { .. }) = (bench.pins.rules >= Rules::Guarded, seen.ending) else {
        return Ok(());
    };
    let ground = bench.ground.ok_or_else(|| unsettled(Some(trace.name(at)), NO_DOCUMENTS))?;
    let scope = &bench.pins.scope;
    let mut tree = bench.revisions.load(scope, asked.tree).await.map_err(|error| of_revision(&error))?;
    let hidden = match asked.hidden {
        Some(digest) => Some(bench.revisions.hidden(scope, digest).await.map_err(|error| of_hidden(&error))?),
        None => None,
    };
    if let Some(hidden) = &hidden {
        tree = tree.under(hidden).map_err(|error| refuting(trace.name(at), error.to_string()))?;
    }
    let expected = protected_count(ground, &tree, hidden.as_ref());
    if is_watched(ground, hidden.as_ref())
        && seen.protected.as_ref().is_none_or(|protected| protected.watch.is_none())
    {
        return Err(refuting(trace.name(at), "nobody looked at what it wrote at protected paths"));
    }
    let looked_at = seen.protected.as_ref().map_or(0, |protected| protected.looked_at);
    if looked_at == expected && seen.protected.is_some() {
        return Ok(());
    }
    let why = format!("{looked_at} protected files were looked at afterwards, and the tree has {expected}");
    Err(refuting(trace.name(at), why))
}

/// The largest report as it is kept.
const REPORT_BYTES: ByteCount = ByteCount::new(64 << 20);
const NO_DOCUMENTS: &str = "the documents that the run is pinned to could not be read";

/// What the command reported, read again, beside what it reported on the base revision.
async fn tests(
    trace: &Trace<'_>,
    at: usize,
    record: &GateRecord,
    asked: &Asked,
    (seen, stdout): (&ExecutionObservation, &[u8]),
    bench: &Bench<'_>,
) -> Result<Option<ReportedTests>, Finding> {
    if bench.pins.rules < Rules::Guarded {
        return Ok(None);
    }
    let ground = bench.ground.ok_or_else(|| unsettled(Some(trace.name(at)), NO_DOCUMENTS))?;
    let Some(report) = ground.reporting(&asked.gate).and_then(|command| command.report.as_ref()) else {
        return Ok(None);
    };
    let (scope, vault) = (&bench.pins.scope, bench.vault);
    let unread = |error| unsettled(Some(trace.name(at)), format!("its report cannot be read: {error}"));
    let own = reported(vault, scope, report, seen, stdout).await.map_err(unread)?;
    if let Some(own) = tally(&own) {
        // Later executions, and people, read the tests there.
        vault.read(scope, &format!("the tests of {}", asked.gate), own.report, REPORT_BYTES).await?;
    }
    let told = record.tests.and_then(|tests| tests.base);
    let base = match told.filter(|_| asked.is_compared) {
        None => None,
        Some(told) => {
            let what = format!("the observation of {} on the base revision", asked.gate);
            let before: ExecutionObservation = vault.read_value(scope, &what, told.artifact).await?;
            check_base(trace, at, asked, told, &before)?;
            let stdout = output(scope, &what, "standard output", &before.stdout, vault).await?;
            output(scope, &what, "standard error", &before.stderr, vault).await?;
            outputs(scope, &format!("{} on the base revision", asked.gate), &before, vault).await?;
            let read = reported(vault, scope, report, &before, &stdout).await.map_err(unread)?;
            if tally(&read) != told.tests {
                return Err(refuting(trace.name(at), format!("{what} tells of other tests")));
            }
            if let Some(tests) = told.tests {
                let what = format!("the tests of {} on the base revision", asked.gate);
                vault.read(scope, &what, tests.report, REPORT_BYTES).await?;
            }
            let is_charged = bench.pins.rules >= Rules::Watched && asked.base_tests.is_none();
            let output = is_charged.then(|| output_of(&before));
            Some(ReportedBase { tests: told, report: read.and_then(Result::ok), output })
        }
    };
    if asked.is_compared && base.is_none() {
        return Err(refuting(trace.name(at), "its tests are not held against those of the base revision"));
    }
    Ok(Some(ReportedTests { own, base }))
}

/// What is told of the base is what was known before, or was seen beside this very execution.
fn check_base(
    trace: &Trace<'_>,
    at: usize,
    asked: &Asked,
    told: BaseTests,
    before: &ExecutionObservation,
) -> Result<(), Finding> {
    let holds = match asked.base_tests {
        Some(known) => known == told,
        None => {
            let held = trace.sandbox(at).map(|held| &held.incarnation);
            base_effect(&asked.effect).as_ref() == Some(&before.effect) && held == Some(&before.incarnation)
        }
    };
    if holds {
        return Ok(());
    }
    Err(refuting(trace.name(at), "what is told of the base revision was not seen there"))
}

/// Every output that was kept, as large as it is said to be.
async fn outputs(scope: &Scope, of: &str, seen: &ExecutionObservation, vault: &Vault) -> Result<(), Finding> {
    for kept in &seen.outputs {
        let named = format!("the output {} of {of}", kept.path);
        let bytes = vault.read(scope, &named, kept.artifact, kept.bytes).await?;
        sized(bytes, &named, kept.artifact, kept.bytes)?;
    }
    Ok(())
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
    let bytes = sized(bytes, &named, capture.artifact, capture.bytes)?;
    let why = match capture.redactions.as_ref().and_then(|told| told.contradicted_by(&bytes)) {
        None => return Ok(bytes),
        Some(MoreFound::Secret(rule)) => format!("it holds a secret that was to be taken out ({rule})"),
        Some(MoreFound::FewerMarks(rule)) => format!("it has fewer marks than the observation says ({rule})"),
    };
    Err(refuting(blob_name(&named, capture.artifact), why))
}

/// The bytes, if they are as many as whoever names them says.
fn sized(bytes: Bytes, what: &str, digest: Digest, said: ByteCount) -> Result<Bytes, Finding> {
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
        ("redactions", recorded.redactions == derived.redactions),
        ("durationMs", recorded.duration == derived.duration),
        ("objections", recorded.objections == derived.objections),
        ("tests", recorded.tests == derived.tests),
    ];
    parts.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect::<Vec<_>>().join(", ")
}
