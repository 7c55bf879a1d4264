//! What gates were to keep, and what became of it.

use std::fmt::Write as _;

use ambit_ids::{ByteCount, GateId};
use ambit_orchestrator::RunRef;
use ambit_ports::sandbox::{ExecutionObservation, ExportedOutput, OutputRefusal, RefusedOutput};
use ambit_run::{Dossier, GateRecord};
use serde::Serialize;

use crate::compose::Services;
use crate::terminal::counted;

/// The largest record of an execution.
pub(crate) const OBSERVATION_LIMIT: ByteCount = ByteCount::new(4 << 20);

/// The most outputs of a kind that a page tells of one execution.
const TOLD: usize = 10;

/// The outputs of one execution of a gate.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GateOutputs {
    gate: GateId,
    attempt: u32,
    kept: Vec<ExportedOutput>,
    refused: Vec<RefusedOutput>,
}

/// Every execution of a run that kept something or was refused something. One whose account cannot be read is left out,
/// as `gate show` says.
pub(crate) async fn outputs(services: &Services, run: &RunRef, dossier: &Dossier) -> Vec<GateOutputs> {
    let mut all = Vec::new();
    for record in dossier.gates.records() {
        let Some(seen) = seen(services, run, record).await else { continue };
        if seen.outputs.is_empty() && seen.refused_outputs.is_empty() {
            continue;
        }
        let (kept, refused) = (seen.outputs, seen.refused_outputs);
        all.push(GateOutputs { gate: record.gate.clone(), attempt: record.attempt, kept, refused });
    }
    all
}

async fn seen(services: &Services, run: &RunRef, record: &GateRecord) -> Option<ExecutionObservation> {
    let bytes = services.blobs.get(&run.scope, record.artifact, OBSERVATION_LIMIT).await.ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// The outputs of the newest execution of each gate as a section of a page; empty where there are none.
pub(crate) fn section(outputs: &[GateOutputs]) -> String {
    let mut page = String::new();
    for (at, of_gate) in outputs.iter().enumerate() {
        if outputs[at + 1..].iter().any(|later| later.gate == of_gate.gate) {
            continue;
        }
        if page.is_empty() {
            page.push_str("outputs\n");
        }
        let kept = of_gate.kept.iter().map(|it| ("kept", format!("{} ({})", it.path, it.bytes)));
        let refused = of_gate.refused.iter().map(|it| ("refused", refusal(it, None)));
        let mut label = of_gate.gate.as_str();
        for (word, told) in told(kept, of_gate.kept.len()).chain(told(refused, of_gate.refused.len())) {
            let _ = writeln!(page, "  {label:<28} {word:<8} {told}");
            label = "";
        }
    }
    page
}

fn told(
    rows: impl Iterator<Item = (&'static str, String)>,
    number: usize,
) -> impl Iterator<Item = (&'static str, String)> {
    let more = number.checked_sub(TOLD).filter(|more| *more > 0);
    let more = more.map(|more| ("", format!("and {more} more; `--json` tells them all")));
    rows.take(TOLD).chain(more)
}

/// What is told where something was to be kept and is not: how many, and what.
pub(crate) fn missing(refused: &[RefusedOutput]) -> String {
    let named: Vec<String> = refused.iter().take(TOLD).map(|it| refusal(it, None)).collect();
    let more = refused.len().checked_sub(TOLD).filter(|more| *more > 0);
    let more = more.map(|more| format!("; and {more} more")).unwrap_or_default();
    format!("{} not kept: {}{more}", counted(refused.len(), "output"), named.join("; "))
}

/// A refused output with the reason, in words.
pub(crate) fn refusal(refused: &RefusedOutput, bound: Option<&str>) -> String {
    let entry = refused.entry.as_ref().map(|name| format!("/{name}")).unwrap_or_default();
    format!("{}{entry} ({}): {}", refused.path, refused.why.as_str(), bound.unwrap_or(why(refused.why)))
}

const fn why(refusal: OutputRefusal) -> &'static str {
    match refusal {
        OutputRefusal::Absent => "nothing is there",
        OutputRefusal::Link => "it, or a directory on the way to it, is a symbolic link",
        OutputRefusal::NotAFile => "it is no file",
        OutputRefusal::TooLarge => "it is larger than its limit",
        OutputRefusal::HardLink => "it has more than one name",
        OutputRefusal::Unreadable => "it could not be read",
        OutputRefusal::NotADirectory => "it is no directory",
        OutputRefusal::TooMany => "it has more entries than its limit",
        OutputRefusal::TooDeep => "it is deeper than a directory that is kept may be",
        OutputRefusal::Name => "no path can spell its name",
    }
}
