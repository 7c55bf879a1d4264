//! How a run ended, and the trace that it exported.

use ambit_evidence::eligibility;
use ambit_evidence::v1::Entry;
use ambit_ids::{ByteCount, Digest};
use ambit_run::{Event, Pins};

use crate::finding::Finding;
use crate::findings::{Findings, refuting, unsettled};
use crate::trace::Trace;
use crate::vault::Vault;

/// The largest exported trace that is read.
const TRACE_LIMIT: ByteCount = ByteCount::new(256 << 20);

/// Whether actor, precondition, artifact and environment of every record are those that follow from the run.
pub(crate) fn check_records(trace: &Trace<'_>) -> Findings {
    let mut findings = Findings::default();
    for (at, event) in trace.events() {
        let record = trace.record(at);
        let mut entry = Entry::of(&record.environment.program, trace.state(at), trace.state(at + 1), event);
        // Which record of the project was the newest does not follow from the run. What may name it is held against the project.
        if event.depends_on_project() {
            entry.precondition.project = record.precondition.project;
        }
        let parts = [
            ("actor", entry.actor == record.actor),
            ("precondition", entry.precondition == record.precondition),
            ("artifact", entry.artifact == record.artifact),
            ("environment", entry.environment == record.environment),
            ("body", entry.body == record.body),
        ];
        let differing: Vec<&str> =
            parts.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect();
        if !differing.is_empty() {
            findings.refute(trace.name(at), format!("{} do not follow from the run", differing.join(", ")));
        }
    }
    findings
}

/// Whether the revision is marked as its gates and the cleanup say.
pub(crate) fn check_acceptance(trace: &Trace<'_>) -> Findings {
    let mut findings = Findings::default();
    if !trace.is_over() {
        findings.push(unsettled(None, "the run is not over"));
        return findings;
    }
    let derived = eligibility(trace.last_state());
    let mut marked = false;
    for (at, event) in trace.events() {
        let Event::RevisionMarked { preview_ready, tree, .. } = event else { continue };
        marked = true;
        match (&derived, preview_ready) {
            (Ok(head), true) if head == tree => {}
            (Ok(head), true) => findings.refute(trace.name(at), format!("the final tree is {head}")),
            (Err(_), false) => {}
            (Err(why), true) => findings.refute(trace.name(at), why.to_string()),
            (Ok(_), false) => findings.refute(trace.name(at), "everything that makes it eligible is there"),
        }
    }
    let last = trace.events.len() - 1;
    if !marked {
        findings.refute(trace.name(last), "the standing of the revision was never settled");
    }
    if let Event::Ended { phase, reason } = &trace.events[last]
        && reason.final_phase() != *phase
    {
        findings.refute(trace.name(last), format!("{reason} does not lead to {phase}"));
    }
    findings
}

/// Whether the exported trace is the records before its export, one a line.
pub(crate) async fn check_export(trace: &Trace<'_>, pins: &Pins, vault: &Vault) -> Findings {
    let mut findings = Findings::default();
    let mut exported = false;
    for (at, event) in trace.events() {
        let Event::TraceExported { artifact } = event else { continue };
        exported = true;
        findings.take(check_one_export(trace, at, pins, *artifact, vault).await);
    }
    if !exported && !trace.is_over() {
        findings.push(unsettled(None, "the run is not over"));
    } else if !exported {
        let last = trace.events.len() - 1;
        findings.push(unsettled(Some(trace.name(last)), "the run ended without an exported trace"));
    }
    findings
}

async fn check_one_export(
    trace: &Trace<'_>,
    at: usize,
    pins: &Pins,
    artifact: Digest,
    vault: &Vault,
) -> Result<(), Finding> {
    let what = "the exported trace";
    let rows = &trace.rows[..at];
    let bytes = vault.read(&pins.scope, what, artifact, TRACE_LIMIT).await?;
    let mut rest: &[u8] = &bytes;
    for (position, row) in rows.iter().enumerate() {
        let line = rest.strip_prefix(row.bytes.as_slice()).and_then(|rest| rest.strip_prefix(b"\n"));
        match line {
            Some(after) => rest = after,
            None => {
                let why = format!("{what} {artifact} has another record here");
                return Err(refuting(trace.name(position), why));
            }
        }
    }
    if rest.is_empty() { Ok(()) } else { Err(refuting(trace.name(at), format!("{what} {artifact} goes on"))) }
}
