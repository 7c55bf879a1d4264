//! What can go wrong with a sandbox while a run uses it.

use std::sync::Mutex;

use ambit_gates::Ending;
use ambit_ids::{DurationMs, GateId};
use ambit_orchestrator::Observer;
use ambit_ports::sandbox::{Sight, Tap, Watcher};
use ambit_run::{Event, Observation, State};
use ambit_simulation::{SandboxFault, Setup, Verb, World, simulate};

use crate::invariants::check_ended;
use crate::policies::world;

/// What was seen of the first gate, how the run ended, and how many sandboxes it had.
struct Seen {
    first: Observation,
    reason: String,
    allocations: u32,
}

async fn drive(world: &World, told: &str) -> Seen {
    let agent = world.worker();
    let run = world.start(&agent).await;
    let state = world.drive(&run, &agent).await.ended();
    check_ended(world, &run, &state, told).await;
    let events: Vec<Event> =
        world.links(&run).await.into_iter().map(|link| link.record.event().unwrap()).collect();
    let first = events.iter().find_map(|event| match event {
        Event::CallObserved { observation, .. } if !matches!(observation, Observation::PatchApplied(_)) => {
            Some(observation.clone())
        }
        _ => None,
    });
    Seen {
        first: first.unwrap(),
        reason: state.stop_reason().unwrap().to_string(),
        allocations: state.dossier().unwrap().allocations,
    }
}

// proves E-C08 E-I12 E-S14 E-S20
// break crates/control-plane/broker/src/evaluate.rs: `() = self.clock.sleep_until(end) => Err(BrokerError::ObservationLost(within.get())),` -> `() = std::future::pending() => Err(BrokerError::Aborted),`
// break crates/control-plane/sandboxes/src/lib.rs: `if observation.incarnation != lease.incarnation || observation.effect != effect {` -> `if observation.effect != effect {`
#[test]
fn whatever_happens_to_a_gate_it_is_never_taken_for_a_success_and_never_run_again_by_itself() {
    let failed = |code: &str| Observation::Failed { code: code.to_owned() };
    let cases = [
        (SandboxFault::LosesReply, Some(failed("OBSERVATION_LOST")), 2),
        (SandboxFault::Vanishes, Some(failed("SANDBOX_GONE")), 2),
        (SandboxFault::AnotherLife, Some(failed("SANDBOX_ANOTHER_LIFE")), 2),
        (SandboxFault::Stumbles, Some(failed("SANDBOX_FAILED")), 1),
        (SandboxFault::Unavailable, Some(failed("SANDBOX_UNAVAILABLE")), 1),
        (SandboxFault::Hangs, Some(failed("OBSERVATION_LOST")), 2),
        (SandboxFault::NoExit, None, 1),
    ];
    for (fault, expected, allocations) in cases {
        simulate(async {
            let world = world(Setup::standard()).await;
            world.sandbox.plan(Verb::Execute, 0, fault);
            let seen = drive(&world, &format!("{fault:?}")).await;
            match (expected, &seen.first) {
                (Some(expected), first) => assert_eq!(*first, expected, "{fault:?}"),
                (None, Observation::GateFinished(record)) => {
                    assert_eq!(record.ending, Ending::Indeterminate, "{fault:?}");
                    assert!(!record.ending.is_success());
                }
                (None, first) => panic!("{fault:?}: {first:?}"),
            }
            assert_eq!(seen.allocations, allocations, "{fault:?}");
            assert_eq!(seen.reason, "gates-passed", "{fault:?}: the agent asked for the gate again");
        });
    }
}

#[test]
fn a_sandbox_that_vanishes_between_two_gates_is_replaced() {
    simulate(async {
        let world = world(Setup::standard()).await;
        world.sandbox.plan(Verb::Write, 1, SandboxFault::Vanishes);
        let seen = drive(&world, "a vanished sandbox").await;
        assert_eq!((seen.reason.as_str(), seen.allocations), ("gates-passed", 2));
    });
}

// proves E-P04 E-P03 E-A14
// break crates/control-plane/sandboxes/src/lib.rs: `if !is_about_it || !receipt.is_proof() {` -> `if false {`
#[test]
fn a_removal_is_tried_until_it_is_proven_and_a_run_without_proof_never_completes() {
    for (fault, times, reason) in [
        (SandboxFault::Remains, 1, "gates-passed"),
        (SandboxFault::Stumbles, 4, "gates-passed"),
        (SandboxFault::AnotherRun, 2, "gates-passed"),
        (SandboxFault::Hangs, 1, "gates-passed"),
        (SandboxFault::Remains, 5, "infrastructure-failure (DESTRUCTION_UNPROVEN)"),
        (SandboxFault::AnotherRun, 5, "infrastructure-failure (DESTRUCTION_UNPROVEN)"),
        (SandboxFault::Hangs, 5, "infrastructure-failure (DESTRUCTION_UNPROVEN)"),
    ] {
        simulate(async {
            let world = world(Setup::standard()).await;
            for skip in 0..times {
                world.sandbox.plan(Verb::Destroy, skip, fault);
            }
            let told = format!("{fault:?} {times} times");
            let seen = drive(&world, &told).await;
            assert_eq!(seen.reason, reason, "{told}");
            let asked = world.sandbox.asked(Verb::Destroy);
            assert_eq!(asked, (times + 1).min(5), "{told}");
        });
    }
}

// proves E-P01 E-P03
// break crates/control-plane/sandboxes/src/lib.rs: `if receipt.remaining_processes > 0 {` -> `if receipt.remaining_processes > 1 {`
#[test]
fn processes_that_remain_are_stopped_again_before_the_sandbox_is_removed() {
    simulate(async {
        let world = world(Setup::standard()).await;
        world.sandbox.plan(Verb::Cancel, 0, SandboxFault::Remains);
        world.sandbox.plan(Verb::Cancel, 1, SandboxFault::Stumbles);
        let agent = world.worker();
        let run = world.start(&agent).await;
        let state = world.drive(&run, &agent).await.ended();
        check_ended(&world, &run, &state, "processes that remain").await;
        let kinds = world.kinds(&run).await;
        let end = kinds.iter().position(|kind| *kind == "run.stopping").unwrap();
        let expected =
            ["run.stopping", "cleanup.failed", "cleanup.failed", "process.terminated", "artifact.exported"];
        assert_eq!(kinds[end..end + 5], expected);
        assert!(matches!(state, State::Ended(ended) if ended.preview_ready));
    });
}

// proves E-D03 E-I12
// break crates/domain/run/src/pending.rs: `effects.push(Effect::WakeAt(deadline));` -> `let _ = deadline;`
#[test]
fn a_gate_that_runs_when_time_is_up_is_stopped() {
    simulate(async {
        let mut setup = Setup::standard();
        setup.blueprint.spec.run_budget.max_elapsed = DurationMs::new(60_000);
        let world = world(setup).await;
        world.sandbox.plan(Verb::Allocate, 0, SandboxFault::Slow(DurationMs::new(30_000)));
        world.sandbox.plan(Verb::Execute, 0, SandboxFault::Slow(DurationMs::new(45_000)));
        let seen = drive(&world, "a slow gate").await;
        assert_eq!(seen.reason, "budget (maxElapsedMinutes)");
        let Observation::GateFinished(record) = seen.first else { panic!("{:?}", seen.first) };
        assert_eq!(record.ending, Ending::Aborted);
    });
}

// proves E-C10 E-F02
// break crates/domain/run/src/step/observe.rs: `} else if !passed {` -> `} else if !passed && false {`
#[test]
fn a_hidden_check_that_cannot_run_accepts_nothing() {
    for (fault, reason) in [
        (SandboxFault::NoExit, "hidden-check-failed"),
        (SandboxFault::Vanishes, "infrastructure-failure (SANDBOX_GONE)"),
        (SandboxFault::LosesReply, "infrastructure-failure (OBSERVATION_LOST)"),
    ] {
        simulate(async {
            let mut setup = Setup::standard();
            setup.blueprint.spec.gates[1].hidden_check = Some("hidden".parse().unwrap());
            let world = world(setup).await;
            world.sandbox.plan(Verb::Execute, 3, fault);
            let seen = drive(&world, "a hidden check").await;
            assert_eq!(seen.reason, reason, "{fault:?}");
        });
    }
}

/// Watches every gate of which it is told.
#[derive(Default)]
struct Onlooker(Mutex<Vec<(GateId, Watcher)>>);

impl Observer for Onlooker {
    fn changed(&self, _: &State, _: &[Event]) {}

    fn gate_begins(&self, gate: &GateId) -> Option<Tap> {
        let (tap, watcher) = Tap::new();
        self.0.lock().unwrap().push((gate.clone(), watcher));
        Some(tap)
    }
}

#[test]
fn whoever_looks_on_sees_what_every_gate_puts_out_and_nothing_of_a_hidden_check() {
    simulate(async {
        let mut setup = Setup::standard();
        setup.blueprint.spec.gates[1].hidden_check = Some("hidden".parse().unwrap());
        let world = world(setup).await;
        let agent = world.worker();
        let run = world.start(&agent).await;
        let onlooker = Onlooker::default();
        world.drive_watched(&run, &agent, &onlooker).await.ended();
        let ran: Vec<GateId> = world.sandbox.executed().into_iter().map(|executed| executed.gate).collect();
        let (hidden, open): (Vec<_>, Vec<_>) = ran.into_iter().partition(|gate| gate.as_str() == "hidden");
        assert!(!hidden.is_empty() && !open.is_empty(), "{hidden:?} {open:?}");
        let (mut watched, mut said) = (Vec::new(), Vec::new());
        for (gate, mut watcher) in onlooker.0.into_inner().unwrap() {
            let Some(Sight::Text { text, .. }) = watcher.next().await else { panic!("{gate} says nothing") };
            assert_eq!(watcher.next().await, None, "{gate}");
            watched.push(gate);
            said.push(text);
        }
        assert_eq!(watched, open);
        // The first patch is wrong.
        let ends = (said.first().map(String::as_str), said.last().map(String::as_str));
        assert_eq!(ends, (Some("AssertionError: the word is wrong\n"), Some("ok\n")));
    });
}
