//! Step 8: a run is cancelled while a gate waits for a child process of its own.

use ambit_ids::DurationMs;
use ambit_orchestrator::InboxCommand;
use ambit_policy::SideEffect;
use ambit_run::{CallOutcome, Event, Phase, State};

use crate::failure::Failure;
use crate::lab::first::{events, find, record};
use crate::lab::stage::{Played, Stage};
use crate::story::Story;
use crate::verbs::begin::begin;
use crate::verbs::revision::missing;
use crate::watch::Narrator;

pub(crate) async fn play(stage: &Stage, story: &mut Story<'_>) -> Result<(), Failure> {
    story.chapter("8. An extra run is cancelled while its gate waits for a child process");
    let played = cancel_while_checking(stage, story).await?;
    let verdict = stage.services.verifier().await?.eligible(stage.scope(), played.revision).await;
    story.check(!verdict.is_eligible(), format!("{} stays ineligible", played.revision), missing(&verdict));
    Ok(())
}

/// Plays the extra run and cancels it.
pub(crate) async fn cancel_while_checking(stage: &Stage, story: &mut Story<'_>) -> Result<Played, Failure> {
    let agent = stage.agent("agent-extra.yaml")?;
    let command = stage.command("run-wb-019", &stage.approved, stage.base, agent.as_ref(), None)?;
    let started = begin(&stage.services, command).await?;
    let narrator = Narrator::new(true);
    let driving = stage.services.orchestrator.drive(&started.run, agent, &narrator);
    let cancelling = cancel_in_gate(stage, &started.run);
    let (driven, cancelled) = tokio::join!(driving, cancelling);
    driven.map_err(|error| Failure::of(error.code(), &error))?;
    cancelled?;
    let played = stage.played(started.run).await?;
    tell(story, &played)?;
    Ok(played)
}

/// Leaves the cancellation, as another process would, once the gate is running.
async fn cancel_in_gate(stage: &Stage, run: &ambit_ports::store::RunRef) -> Result<(), Failure> {
    let services = &stage.services;
    loop {
        let state =
            services.orchestrator.state(run).await.map_err(|error| Failure::of(error.code(), &error))?;
        match state.phase() {
            Some(Phase::Checking) => break,
            Some(phase) if phase.is_terminal() => return Ok(()),
            _ => services.clock.sleep_until(services.clock.now().saturating_add(DurationMs::new(10))).await,
        }
    }
    // The gate is given the time to start its child, so that there is something to stop.
    services.clock.sleep_until(services.clock.now().saturating_add(DurationMs::new(500))).await;
    let command = InboxCommand::Cancel { by: "customer".to_owned() };
    let bytes = command.to_canonical().map_err(|error| Failure::of("CANCEL_UNWRITABLE", &error))?;
    services.store.send(&run.stream(), bytes).await.map_err(|error| Failure::of(error.code(), &error))?;
    Ok(())
}

fn tell(story: &mut Story<'_>, played: &Played) -> Result<(), Failure> {
    let events = events(&played.links)?;
    let asked = find(&events, |event| matches!(event, Event::CancelRequested { .. }));
    let ended = matches!(&played.state, State::Ended(ended) if ended.phase == Phase::Cancelled);
    story.check(ended, "the run is cancelled by its customer", record(asked));
    let after: Vec<&Event> = events
        .iter()
        .filter(|(seq, _)| asked.is_some_and(|asked| *seq > asked))
        .map(|(_, event)| event)
        .collect();
    let begun = after.iter().any(|event| {
        matches!(event, Event::CallDecided(decided)
            if decided.outcome == CallOutcome::Perform && decided.call.tool().side_effect() != SideEffect::None)
    });
    story.check(asked.is_some() && !begun, "no call begins after it", "");
    let stopped = events.iter().find_map(|(seq, event)| match event {
        Event::ProcessesTerminated { killed, .. } => Some((*seq, *killed)),
        _ => None,
    });
    story.check(
        stopped.is_some(),
        "every process of the sandbox is stopped, children included",
        record(stopped.map(|(seq, _)| seq)),
    );
    let exported = events.iter().find_map(|(_, event)| match event {
        Event::TraceExported { artifact } => Some(artifact.to_string()),
        _ => None,
    });
    story.check(exported.is_some(), "the trace is kept", exported.unwrap_or_default());
    let proven = matches!(&played.state, State::Ended(ended) if ended.cleanup_proven);
    story.check(proven, "nothing of the sandbox is left", "");
    Ok(())
}
