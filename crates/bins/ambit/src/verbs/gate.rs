use ambit_ids::{ByteCount, GateId};
use ambit_orchestrator::ended;
use ambit_ports::sandbox::{ExecutionObservation, OutputCapture};
use ambit_run::GateRecord;
use serde_json::json;

use crate::answer::Answer;
use crate::cli::GateVerb;
use crate::context::Context;
use crate::failure::Failure;

/// The largest record of an execution.
const OBSERVATION_LIMIT: ByteCount = ByteCount::new(4 << 20);

pub(crate) async fn run(context: &Context, verb: GateVerb) -> Result<Answer, Failure> {
    let GateVerb::Show { run, gate, attempt } = verb;
    let services = context.open()?;
    let (_, state) = services.run(&context.scope, &run).await?;
    let records = state.dossier().map(|dossier| dossier.gates.records()).unwrap_or_default();
    let record = find(records, &gate, attempt)?;
    let bytes = services
        .blobs
        .get(&context.scope, record.artifact, OBSERVATION_LIMIT)
        .await
        .map_err(|error| Failure::of(error.code(), &error))?;
    let seen: ExecutionObservation =
        serde_json::from_slice(&bytes).map_err(|error| Failure::of("OBSERVATION_UNREADABLE", &error))?;
    let mut text = format!(
        "{} attempt {}: {} in {}\ntree     {}\nartifact {}\n",
        record.gate,
        record.attempt,
        ended(record.ending),
        record.duration,
        record.tree,
        record.artifact
    );
    for (name, capture) in [("stdout", &seen.stdout), ("stderr", &seen.stderr)] {
        text.push_str(&stream(name, capture));
    }
    for output in &seen.outputs {
        text.push_str(&format!("output   {} ({}) {}\n", output.path, output.bytes, output.artifact));
    }
    let exit_code = match record.ending {
        ambit_gates::Ending::Exited { code } => Some(code),
        _ => None,
    };
    Ok(Answer::new(
        text,
        json!({
            "gate": record.gate, "attempt": record.attempt, "tree": record.tree, "exitCode": exit_code,
            "ended": ended(record.ending), "passed": record.ending.is_success(),
            "artifactId": record.artifact, "durationMs": record.duration, "fingerprint": record.fingerprint,
            "observation": seen,
        }),
    ))
}

fn find<'r>(
    records: &'r [GateRecord],
    gate: &GateId,
    attempt: Option<u32>,
) -> Result<&'r GateRecord, Failure> {
    let of_gate: Vec<&GateRecord> = records.iter().filter(|record| record.gate == *gate).collect();
    let found = match attempt {
        Some(attempt) => of_gate.iter().find(|record| record.attempt == attempt).copied(),
        None => of_gate.last().copied(),
    };
    found.ok_or_else(|| {
        let which = attempt.map(|attempt| format!("attempt {attempt} of ")).unwrap_or_default();
        Failure::new("GATE_NOT_FOUND", format!("the run has no {which}{gate}"))
            .help(format!("it has {} executions of it", of_gate.len()))
    })
}

fn stream(name: &str, capture: &OutputCapture) -> String {
    if capture.bytes == ByteCount::ZERO {
        return String::new();
    }
    let gap = if capture.truncated { "\n[...]\n" } else { "" };
    let said = format!("{}{gap}{}", capture.head, capture.tail);
    format!("\n{name} ({}, {})\n{}\n", capture.bytes, capture.artifact.short(), said.trim_end())
}
