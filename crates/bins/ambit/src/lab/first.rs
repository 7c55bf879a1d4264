//! Steps 1 to 5: a draft is refused, a plan is bounded, a failure is kept, explained and fixed, and every gate passes.

use ambit_evidence::Link;
use ambit_evidence::v1::{Body, ProjectBody};
use ambit_ids::GateId;
use ambit_orchestrator::{StartError, ended};
use ambit_run::{CallDecided, CallOutcome, DenialCode, Event, GateRecord, Phase, State, ToolCall};

use crate::failure::Failure;
use crate::lab::stage::{Played, Stage};
use crate::story::Story;

const UNIT: &str = "unit.todo-idempotency";

pub(crate) async fn play(stage: &Stage, story: &mut Story<'_>, without_bug: bool) -> Result<Played, Failure> {
    let transcript = if without_bug { "agent-first-correct.yaml" } else { "agent-first.yaml" };
    let agent = stage.agent(transcript)?;
    story.chapter("1. A draft is refused, and bp-1 starts run-wb-017 on rev-0");
    draft_is_refused(stage, story).await?;
    let command = stage.command("run-wb-017", &stage.approved, stage.base, agent.as_ref(), None)?;
    let played = stage.play(command, agent).await?;
    let events = events(&played.links)?;
    plan(story, &events);
    first_failure(stage, story, &played, &events).await?;
    correction(story, &played, &events);
    gates(story, &played, &events);
    Ok(played)
}

/// The events of a run, from its records.
pub(crate) fn events(links: &[Link]) -> Result<Vec<(u64, Event)>, Failure> {
    links
        .iter()
        .map(|link| {
            let event = link.record.event().map_err(|error| Failure::of("RECORD_UNREADABLE", &error))?;
            Ok((link.record.seq, event))
        })
        .collect()
}

/// Asks for a run on the draft, which nobody approved.
pub(crate) async fn draft_is_refused(stage: &Stage, story: &mut Story<'_>) -> Result<(), Failure> {
    let agent = stage.agent("agent-first.yaml")?;
    let command = stage.command("run-wb-016", &stage.draft, stage.base, agent.as_ref(), None)?;
    let refused = stage.services.orchestrator.start(command).await;
    let code = match &refused {
        Err(StartError::Rejected(rejected)) => rejected.code,
        Err(error) => error.code(),
        Ok(_) => "started",
    };
    story.check(code == "BLUEPRINT_NOT_APPROVED", format!("the draft blueprint is answered with {code}"), "");
    let denial = stage.project_links().await?.into_iter().find(|link| match &link.record.body {
        Body::Project(body) => matches!(body.as_ref(), ProjectBody::RunRejected { .. }),
        Body::Run(_) => false,
    });
    let evidence =
        denial.as_ref().map(|link| format!("project record {}", link.record.seq)).unwrap_or_default();
    story.check(denial.is_some(), "the refusal is a record, though no run exists", evidence);
    let runs = stage.services.run_ids(stage.scope()).await?;
    story.check(runs.is_empty(), "no run and no sandbox was made for it", "");
    Ok(())
}

fn plan(story: &mut Story<'_>, events: &[(u64, Event)]) {
    story.chapter("2. The plan cites acceptance cases; work out of scope is refused");
    let denied = find(
        events,
        |event| matches!(event, Event::ProposalDenied { was_plan: true, denial, .. } if denial.code == DenialCode::WorkOutOfScope),
    );
    story.check(denied.is_some(), "a plan with notification work is denied", record(denied));
    let accepted = events.iter().find_map(|(seq, event)| match event {
        Event::PlanAccepted { plan, .. } => Some((*seq, plan)),
        _ => None,
    });
    let works: Vec<&str> = accepted
        .map(|(_, plan)| plan.steps().iter().map(|step| step.work.as_str()).collect())
        .unwrap_or_default();
    story.check(
        works == ["domain", "repository", "api", "interface", "tests"],
        format!("the accepted plan is {}", works.join(", ")),
        record(accepted.map(|(seq, _)| seq)),
    );
}

/// The executions of a gate, in order.
fn records<'e>(events: &'e [(u64, Event)], gate: &str) -> Vec<(u64, &'e GateRecord)> {
    events
        .iter()
        .filter_map(|(seq, event)| match event {
            Event::CallObserved { observation: ambit_run::Observation::GateFinished(record), .. }
                if record.gate.as_str() == gate =>
            {
                Some((*seq, record))
            }
            _ => None,
        })
        .collect()
}

async fn first_failure(
    stage: &Stage,
    story: &mut Story<'_>,
    played: &Played,
    events: &[(u64, Event)],
) -> Result<(), Failure> {
    story.chapter("3. The first failure is kept");
    let units = records(events, UNIT);
    let first = units.first();
    let failed = first.is_some_and(|(_, record)| !record.ending.is_success());
    let told = first.map(|(_, record)| ended(record)).unwrap_or_default();
    story.check(
        failed,
        format!("{UNIT} fails on the first patch ({told})"),
        record(first.map(|(seq, _)| *seq)),
    );
    let Some((_, first)) = first else { return Ok(()) };
    let artifact = stage
        .services
        .blobs
        .get(stage.scope(), first.artifact, ambit_ids::ByteCount::new(4 << 20))
        .await
        .map_err(|error| Failure::of(error.code(), &error))?;
    let says = String::from_utf8_lossy(&artifact).contains("duplicate completion event");
    story.check(says, "its artifact shows a duplicate completion event", first.artifact.to_string());
    let patch = played.state.dossier().and_then(|dossier| dossier.patches.first());
    let bound = patch.is_some_and(|patch| patch.tree == first.tree);
    story.check(bound, "it is bound to the tree of the patch that caused it", first.tree.to_string());
    Ok(())
}

fn decided(events: &[(u64, Event)], matches: impl Fn(&CallDecided) -> bool) -> Option<(u64, &CallDecided)> {
    events.iter().find_map(|(seq, event)| match event {
        Event::CallDecided(decided) if matches(decided) => Some((*seq, decided.as_ref())),
        _ => None,
    })
}

fn correction(story: &mut Story<'_>, played: &Played, events: &[(u64, Event)]) {
    story.chapter("4. A hypothesis comes before the correction, and the same gate runs again");
    let unexplained = decided(
        events,
        |decided| matches!(&decided.outcome, CallOutcome::Denied(denial) if denial.code == DenialCode::HypothesisMissing),
    );
    story.check(
        unexplained.is_some(),
        "a patch without a hypothesis is denied",
        record(unexplained.map(|(seq, _)| seq)),
    );
    let hypothesis = find(events, |event| matches!(event, Event::HypothesisRecorded { .. }));
    story.check(hypothesis.is_some(), "the hypothesis is recorded before the patch", record(hypothesis));
    let units = records(events, UNIT);
    let second = units.get(1);
    let passed = second.is_some_and(|(_, record)| record.ending.is_success() && record.attempt == 2);
    story.check(passed, format!("{UNIT} passes at its second attempt"), record(second.map(|(seq, _)| *seq)));
    let kept = played.state.dossier().is_some_and(|dossier| {
        dossier.gates.records().first().is_some_and(|record| !record.ending.is_success())
    });
    story.check(kept, "the first failure is still in the record", "");
}

fn gates(story: &mut Story<'_>, played: &Played, events: &[(u64, Event)]) {
    story.chapter("5. A foreign read is denied, and every gate passes on the current tree");
    let foreign = decided(
        events,
        |decided| matches!(&decided.call, ToolCall::ReadProjectFile { project_id, .. } if project_id.as_str() == "payroll"),
    );
    let denied = foreign.is_some_and(|(_, decided)| matches!(decided.outcome, CallOutcome::Denied(_)));
    story.check(
        denied,
        "a read of another project is denied and recorded",
        record(foreign.map(|(seq, _)| seq)),
    );
    let Some(dossier) = played.state.dossier() else { return };
    for gate in [UNIT, "tenant-integration", "clean-build"] {
        let Ok(id) = GateId::new(gate) else { continue };
        let passed = dossier.gates.status(&id, dossier.head) == ambit_run::GateStatus::Passed;
        let newest = records(events, gate).last().map(|(_, record)| record.artifact.to_string());
        story.check(passed, format!("{gate} passes on {}", dossier.head.short()), newest.unwrap_or_default());
    }
    completed(story, played);
}

/// A completed run: preview-ready, and nothing of its sandbox left.
pub(crate) fn completed(story: &mut Story<'_>, played: &Played) {
    let State::Ended(done) = &played.state else {
        story.check(false, "the run is over", "");
        return;
    };
    let reason = done.reason.to_string();
    story.check(
        done.phase == Phase::Completed && done.preview_ready,
        format!(
            "{} is preview-ready ({reason}); that is not validated, deployed or safe for live users",
            played.revision
        ),
        done.dossier.head.to_string(),
    );
    story.check(done.cleanup_proven, "nothing of the sandbox is left, proven by receipts", "");
}

/// The position of the first event that matches.
pub(crate) fn find(events: &[(u64, Event)], matches: impl Fn(&Event) -> bool) -> Option<u64> {
    events.iter().find(|(_, event)| matches(event)).map(|(seq, _)| *seq)
}

/// A position as evidence.
pub(crate) fn record(seq: Option<u64>) -> String {
    seq.map(|seq| format!("record {seq}")).unwrap_or_default()
}
