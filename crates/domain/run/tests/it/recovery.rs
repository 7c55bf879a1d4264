use ambit_gates::Ending;
use ambit_run::{
    ChargeBasis, Command, Effect, Event, Observation, Phase, Refusal, SANDBOX_ALLOCATIONS, pending,
};

use crate::world::{QUOTE, World, digest, pins, read_call, sandbox};

fn recover(world: &mut World) -> Vec<Event> {
    world.tell(Command::Recover).unwrap()
}

// proves E-P06 E-D11
// break crates/domain/run/src/step/start.rs: `Stage::Call(flight) if !may_repeat(flight.call.tool()) => {` -> `Stage::Call(flight) if may_repeat(flight.call.tool()) => {`
#[test]
fn after_a_crash_only_what_changes_nothing_is_done_again_by_itself() {
    let mut world = World::planned(pins());
    world.call(read_call("a.py"));
    recover(&mut world);
    assert!(
        pending(&world.state).iter().any(|effect| matches!(effect, Effect::Perform(_))),
        "a read is repeated"
    );

    let mut world = World::planned(pins());
    let call = world.patch_call("tree-1");
    world.call(call);
    let events = recover(&mut world);
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Event::CallObserved { observation: Observation::Unknown, .. }))
    );
    assert_eq!(world.dossier().head, digest("tree-0"), "nothing is assumed");
    assert!(!pending(&world.state).iter().any(|effect| matches!(effect, Effect::Perform(_))));

    let mut world = World::planned(pins());
    world.patch("tree-1");
    let call = world.gate_call("unit");
    world.call(call);
    recover(&mut world);
    assert!(
        world.dossier().gates.records().is_empty(),
        "a gate whose end nobody saw is neither pass nor failure"
    );
}

#[test]
fn after_a_crash_an_unanswered_turn_is_charged_at_its_reservation_and_asked_anew() {
    let mut world = World::ready(pins());
    let events = recover(&mut world);
    assert!(events.contains(&Event::TurnSettled {
        turn: 1,
        charged: QUOTE,
        basis: ChargeBasis::Reservation
    }));
    assert_eq!(world.open_turn(), 2);
    assert_eq!(world.dossier().ledger.spent().cost, QUOTE);
}

#[test]
fn after_a_crash_the_sandbox_is_lost_and_another_one_is_asked_for_before_anything_goes_on() {
    let mut world = World::planned(pins());
    recover(&mut world);
    let effects = pending(&world.state);
    assert!(matches!(effects[0], Effect::AllocateSandbox { allocation: 2 }), "{effects:?}");
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::OfferTurn { .. })));
    let turn = world.open_turn();
    assert_eq!(world.tell(Command::SandboxAllocated(sandbox(1))), Err(Refusal::SandboxNotAwaited));
    world.allocate();
    assert!(pending(&world.state).contains(&Effect::OfferTurn { turn }));
}

#[test]
fn a_run_is_not_given_sandboxes_for_ever() {
    let mut world = World::planned(pins());
    for _ in 1..SANDBOX_ALLOCATIONS {
        let held = sandbox(world.dossier().allocations);
        world.tell(Command::SandboxLost { incarnation: held.incarnation }).unwrap();
        world.allocate();
    }
    let held = sandbox(world.dossier().allocations);
    world.tell(Command::SandboxLost { incarnation: held.incarnation }).unwrap();
    assert_eq!(world.state.stop_reason().unwrap().to_string(), "infrastructure-failure (SANDBOX_GONE)");
}

// proves E-S20
// break crates/domain/run/src/step/start.rs: `open.dossier.allocations >= SANDBOX_ALLOCATIONS;` -> `open.dossier.allocations > u32::MAX - 1;`
#[test]
fn a_run_is_not_recovered_for_ever() {
    let mut world = World::planned(pins());
    for _ in 1..SANDBOX_ALLOCATIONS {
        recover(&mut world);
        world.allocate();
    }
    world.patch("tree-1");
    let call = world.gate_call("unit");
    world.call(call);
    let events = recover(&mut world);
    assert_eq!(world.stop_code(), Some("infrastructure-failure"));
    let told = |event: &Event| matches!(event, Event::CallObserved { observation: Observation::Unknown, .. });
    assert!(events.iter().any(told), "what was in flight is told as unknown");
    world.close();
    assert_eq!(world.phase(), Phase::Failed);
}

#[test]
fn a_crash_while_the_run_ends_loses_no_step_of_the_cleanup() {
    let mut world = World::planned(pins());
    world.patch("tree-1");
    let call = world.gate_call("unit");
    world.call(call);
    world.tell(Command::Cancel { by: "customer".to_owned() }).unwrap();
    recover(&mut world);
    assert_eq!(pending(&world.state), [Effect::TerminateProcesses]);
    world.close();
    assert_eq!(world.phase(), Phase::Cancelled);
}

#[test]
fn a_person_is_waited_for_across_a_crash() {
    let mut world = World::planned(pins());
    let call = crate::world::decided(
        world.patch_call("tree-1"),
        ambit_policy::Verdict::NeedsApproval(ambit_policy::Capability::DependencyAdd),
        Vec::new(),
    );
    let events = world.call(call);
    let Some(Event::CallDecided(made)) = events.iter().find(|event| matches!(event, Event::CallDecided(_)))
    else {
        panic!("no decision")
    };
    let ambit_run::CallOutcome::Held(held) = &made.outcome else { panic!("not held") };
    let id = ambit_run::proposal_id(held.digest().unwrap());
    world.call(crate::world::approval_call(&id, ambit_policy::Capability::DependencyAdd));
    recover(&mut world);
    assert_eq!(world.phase(), Phase::NeedsApproval);
}

// proves E-I05
// break crates/domain/run/src/step/sandbox.rs: `draft.stop(StopReason::InfrastructureFailure(code));` -> `let _ = code;`
#[test]
fn a_sandbox_that_is_refused_ends_the_run_before_anything_was_asked_of_the_agent() {
    let mut world = World::admitted(pins());
    world.tell(Command::SandboxRefused { code: "SANDBOX_UNAVAILABLE".to_owned() }).unwrap();
    assert_eq!(world.stop_code(), Some("infrastructure-failure"));
    assert!(!world.events.iter().any(|event| matches!(event, Event::TurnOpened { .. })));
}

#[test]
fn a_late_observation_of_an_earlier_life_is_refused_and_changes_nothing() {
    let mut world = World::planned(pins());
    world.patch("tree-1");
    let call = world.gate_call("unit");
    world.call(call);
    let (turn, record) = (world.flight().turn, world.record(Ending::Exited { code: 0 }, ""));
    recover(&mut world);
    let before = world.state.clone();
    let late = Command::Observe { turn, observation: Observation::GateFinished(record) };
    assert_eq!(world.tell(late), Err(Refusal::NotInFlight));
    assert_eq!(world.state, before);
}
