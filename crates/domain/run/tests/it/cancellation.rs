use ambit_gates::Ending;
use ambit_policy::ToolName;
use ambit_run::{CLEANUP_TRIES, Command, Effect, Event, Observation, Phase, Refusal, State, pending};

use crate::world::{World, digest, intended, pins};

fn cancel(world: &mut World) -> Vec<Event> {
    world.tell(Command::Cancel { by: "customer".to_owned() }).unwrap()
}

// proves E-P01 E-P03 E-G04 E-M07
// break crates/domain/run/src/evolve.rs: `Event::ProcessesTerminated { .. } => advance(&mut closing, Cleanup::Export),` -> `Event::ProcessesTerminated { .. } => advance(&mut closing, Cleanup::Destroy),`
#[test]
fn cancelling_stops_processes_then_keeps_the_trace_then_settles_the_revision() {
    let mut world = World::planned(pins());
    world.patch("tree-1");
    let call = world.gate_call("unit");
    world.call(call);
    cancel(&mut world);
    assert_eq!(pending(&world.state), [Effect::TerminateProcesses], "nothing else is asked for any more");
    world.close();
    let order: Vec<usize> = [
        world.events.iter().position(|event| matches!(event, Event::CancelRequested { .. })),
        world.events.iter().position(|event| matches!(event, Event::Stopping { .. })),
        world.events.iter().position(|event| matches!(event, Event::ProcessesTerminated { .. })),
        world.events.iter().position(|event| matches!(event, Event::TraceExported { .. })),
        world.events.iter().position(|event| matches!(event, Event::SandboxDestroyed { .. })),
        world
            .events
            .iter()
            .position(|event| matches!(event, Event::RevisionMarked { preview_ready: false, .. })),
        world.events.iter().position(|event| matches!(event, Event::Ended { phase: Phase::Cancelled, .. })),
    ]
    .into_iter()
    .map(Option::unwrap)
    .collect();
    assert!(order.is_sorted(), "{order:?}");
    assert_eq!(world.dossier().head, digest("tree-1"), "the partial revision stays visible");
}

// proves E-P02 E-C08
// break crates/domain/run/src/table.rs: `(_, C::Propose | C::AgentStopped) => Err(Refusal::TurnNotOpen),` -> `(S::Vacant, C::Propose | C::AgentStopped) => Err(Refusal::TurnNotOpen), (_, C::Propose | C::AgentStopped) => Ok(()),`
#[test]
fn no_call_begins_after_a_cancellation() {
    let mut world = World::planned(pins());
    let call = world.patch_call("tree-1");
    let turn = world.open_turn();
    cancel(&mut world);
    let answered = ambit_run::Answered {
        turn,
        cost: None,
        answer: digest("late"),
        proposal: ambit_run::Proposal::Call(Box::new(call)),
    };
    assert_eq!(world.tell(Command::Propose(Box::new(answered))), Err(Refusal::TurnNotOpen));
    world.close();
    let after = world.events.iter().skip_while(|event| !matches!(event, Event::CancelRequested { .. }));
    let after: Vec<Event> = after.cloned().collect();
    assert_eq!(intended(&after, ToolName::ApplyProjectPatch) + intended(&after, ToolName::RunNamedGate), 0);
    assert_eq!(world.phase(), Phase::Cancelled);
}

// proves E-P02
// break crates/domain/run/src/evolve.rs: `closing.dossier = settle_call(closing.dossier, &flight, observation);` -> `closing.dossier = observe(closing.dossier, &flight, observation);`
#[test]
fn a_patch_that_was_in_flight_no_longer_becomes_part_of_the_revision() {
    let mut world = World::planned(pins());
    let call = world.patch_call("tree-1");
    world.call(call);
    cancel(&mut world);
    world.apply();
    assert_eq!(world.dossier().head, digest("tree-0"));
    assert!(
        world.events.iter().any(|event| matches!(
            event,
            Event::CallObserved { observation: Observation::PatchApplied(_), .. }
        )),
        "but it is told"
    );
}

#[test]
fn the_trace_is_kept_only_when_what_was_in_flight_is_told() {
    let mut world = World::planned(pins());
    world.patch("tree-1");
    let call = world.gate_call("unit");
    world.call(call);
    cancel(&mut world);
    world.tell(Command::ProcessesTerminated { killed: 3, receipt: digest("receipt") }).unwrap();
    assert_eq!(pending(&world.state), Vec::<Effect>::new());
    let record = world.record(Ending::Aborted, "");
    world.observe(Observation::GateFinished(record));
    assert_eq!(pending(&world.state), [Effect::ExportTrace]);
}

#[test]
fn a_run_is_cancelled_once_in_every_open_state_and_never_again() {
    let mut queued = World::admitted(pins());
    cancel(&mut queued);
    assert_eq!(
        pending(&queued.state),
        [Effect::ExportTrace],
        "there is no sandbox whose processes could be stopped"
    );
    assert_eq!(queued.tell(Command::Cancel { by: "again".to_owned() }), Err(Refusal::Stopping));
    queued.close();
    assert_eq!(queued.phase(), Phase::Cancelled);
    assert_eq!(queued.tell(Command::Cancel { by: "again".to_owned() }), Err(Refusal::Ended));
}

#[test]
fn a_sandbox_that_arrives_after_the_cancellation_is_taken_and_removed() {
    let mut world = World::admitted(pins());
    cancel(&mut world);
    world.allocate();
    assert_eq!(pending(&world.state), [Effect::TerminateProcesses]);
    world.close();
    assert!(world.events.iter().any(|event| matches!(event, Event::SandboxDestroyed { .. })));
}

// proves E-P04 E-A14
// break crates/domain/run/src/step/closing.rs: `let reason = if closing.reason == StopReason::GatesPassed && !proven {` -> `let reason = if closing.reason == StopReason::GatesPassed && false {`
#[test]
fn a_run_whose_cleanup_is_not_proven_never_completes() {
    let mut world = World::planned(pins());
    world.patch("tree-1");
    world.gate("unit", 0, "");
    world.gate("integration", 0, "");
    world.tell(Command::ProcessesTerminated { killed: 0, receipt: digest("receipt") }).unwrap();
    world.tell(Command::TraceExported { artifact: digest("trace") }).unwrap();
    for _ in 0..CLEANUP_TRIES {
        assert_eq!(pending(&world.state), [Effect::DestroySandbox], "it is tried again");
        world.tell(Command::CleanupFailed { code: "DESTRUCTION_UNPROVEN".to_owned() }).unwrap();
    }
    let State::Ended(ended) = &world.state else { panic!("the run goes on") };
    assert_eq!((ended.phase, ended.preview_ready, ended.cleanup_proven), (Phase::Failed, false, false));
    assert_eq!(ended.reason.to_string(), "infrastructure-failure (DESTRUCTION_UNPROVEN)");
}

#[test]
fn whoever_cancels_has_a_name_that_fits_a_record() {
    let mut world = World::planned(pins());
    let events = world.tell(Command::Cancel { by: "\u{7}ada".repeat(100_000) }).unwrap();
    let Some(Event::CancelRequested { by }) = events.first() else { panic!("{events:?}") };
    assert!(by.len() <= ambit_ids::limits::AGENT_TEXT_BYTES && !by.contains('\u{7}'), "{}", by.len());
}
