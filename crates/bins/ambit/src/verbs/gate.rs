use ambit_blueprint::CommandOutput;
use ambit_ids::{ByteCount, GateId, Scope, limits};
use ambit_orchestrator::ended;
use ambit_ports::sandbox::{ExecutionObservation, OutputCapture, OutputRefusal};
use ambit_redaction::Redactions;
use ambit_run::{Dossier, GateRecord};
use serde_json::json;

use crate::answer::Answer;
use crate::cli::GateVerb;
use crate::compose::Services;
use crate::context::Context;
use crate::failure::Failure;
use crate::outputs::{OBSERVATION_LIMIT, refusal};
use crate::terminal::counted;

pub(crate) async fn run(context: &Context, verb: GateVerb) -> Result<Answer, Failure> {
    let GateVerb::Show { run, gate, attempt } = verb;
    let services = context.open()?;
    let (_, state) = services.run(&context.scope, &run).await?;
    let Some(dossier) = state.dossier() else {
        return Err(Failure::new("RUN_NOT_FOUND", "there is no such run"));
    };
    let record = find(dossier, &gate, attempt)?;
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
        ended(record),
        record.duration,
        record.tree,
        record.artifact
    );
    for (name, capture) in [("stdout", &seen.stdout), ("stderr", &seen.stderr)] {
        text.push_str(&stream(name, capture));
    }
    if let Some(taken) = record.redactions.as_ref().filter(|taken| taken.total() > 0) {
        text.push_str(&format!("redacted {}\n", redacted(taken)));
    }
    for objection in &record.objections {
        text.push_str(&format!("objects  {}: {objection}\n", objection.code()));
    }
    for output in &seen.outputs {
        text.push_str(&format!("output   {} ({}) {}\n", output.path, output.bytes, output.artifact));
    }
    let declared = declared(&services, &context.scope, dossier, &gate).await?;
    let mut refusals = Vec::new();
    for refused in &seen.refused_outputs {
        let bound = declared.iter().find(|output| output.path == refused.path);
        let bound = bound.and_then(|output| bound_of(output, refused.why));
        text.push_str(&format!("refused  {}\n", refusal(refused, bound.as_deref())));
        refusals
            .push(json!({"path": refused.path, "entry": refused.entry, "why": refused.why, "bound": bound}));
    }
    let exit_code = match record.ending {
        ambit_gates::Ending::Exited { code } => Some(code),
        _ => None,
    };
    Ok(Answer::new(
        text,
        json!({
            "gate": record.gate, "attempt": record.attempt, "tree": record.tree, "exitCode": exit_code,
            "ended": ended(record), "passed": record.passed(),
            "artifactId": record.artifact, "durationMs": record.duration, "fingerprint": record.fingerprint,
            "objections": record.objections, "tests": record.tests, "redactions": record.redactions,
            "refusals": refusals, "observation": seen,
        }),
    ))
}

/// How many secrets were taken out of an output before it was kept, and by which rules.
fn redacted(taken: &Redactions) -> String {
    let each = taken.found.iter().map(|(rule, count)| format!("{count} {rule}")).collect::<Vec<_>>();
    format!("{} by the rules {}", each.join(", "), taken.rules.short())
}

/// The outputs that the catalog of the run declares for a gate.
async fn declared(
    services: &Services,
    scope: &Scope,
    dossier: &Dossier,
    gate: &GateId,
) -> Result<Vec<CommandOutput>, Failure> {
    let catalog = services.documents().catalog(scope, dossier.pins.catalog).await;
    let catalog = catalog.map_err(|error| Failure::of(error.code(), &error))?;
    Ok(catalog.command(gate).map(|command| command.outputs.clone()).unwrap_or_default())
}

/// The bound that an output went over; `None` where it was refused for something else.
fn bound_of(output: &CommandOutput, why: OutputRefusal) -> Option<String> {
    match (why, output.max_entries) {
        (OutputRefusal::TooLarge, None) => Some(format!("more than {}", output.max_size)),
        (OutputRefusal::TooLarge, Some(_)) => {
            let most = output.max_size.min(ByteCount::new(limits::OUTPUT_DIRECTORY_BYTES));
            Some(format!("more than {most} in all its files"))
        }
        (OutputRefusal::TooMany, Some(most)) => Some(format!("more entries below it than {most}")),
        (OutputRefusal::TooDeep, Some(_)) => {
            Some(format!("more directories deep than {}", limits::OUTPUT_DIRECTORY_DEPTH))
        }
        _ => None,
    }
}

fn find<'r>(dossier: &'r Dossier, gate: &GateId, attempt: Option<u32>) -> Result<&'r GateRecord, Failure> {
    let of_gate: Vec<&GateRecord> =
        dossier.gates.records().iter().filter(|record| record.gate == *gate).collect();
    let found = match attempt {
        Some(attempt) => of_gate.iter().find(|record| record.attempt == attempt).copied(),
        None => of_gate.last().copied(),
    };
    found.ok_or_else(|| {
        let missing = |what: String| Failure::new("GATE_NOT_FOUND", what);
        let known: Vec<&str> = dossier.pins.gates.iter().map(|gate| gate.id.as_str()).collect();
        match (attempt, of_gate.len()) {
            _ if !known.contains(&gate.as_str()) => missing(format!("the run has no gate {gate}"))
                .help(format!("its gates are {}", known.join(", ")))
                .meant(gate.as_str(), known.iter().copied()),
            (Some(attempt), run) if run > 0 => missing(format!("the run has no attempt {attempt} of {gate}"))
                .help(format!("it has {} of it", counted(run, "attempt"))),
            _ => missing(format!("{gate} did not run")).help("`ambit run show` tells the gates that did"),
        }
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
