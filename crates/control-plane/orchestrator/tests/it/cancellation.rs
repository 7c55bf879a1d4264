//! A cancellation from another process, in every phase and at every moment.

use std::sync::Arc;

use ambit_ids::DurationMs;
use ambit_orchestrator::RunRef;
use ambit_run::{Phase, State};
use ambit_simulation::{Reply, SandboxFault, Setup, SimAgent, Verb, World, edit, simulate};

use crate::invariants::check_ended;
use crate::policies::world;

const WORD: &str = "src/word.txt";

struct Rest {
    phase: &'static str,
    change: fn(&mut Setup),
    plan: fn(&World),
    agent: fn(&World) -> Arc<SimAgent>,
    /// Processes that run when the cancellation comes.
    running: u32,
}

fn hour() -> DurationMs {
    DurationMs::new(3_600_000)
}

/// A run that rests in each phase.
fn rests() -> Vec<Rest> {
    vec![
        Rest {
            phase: "queued",
            change: |_| {},
            plan: |world| world.sandbox.plan(Verb::Allocate, 0, SandboxFault::Slow(DurationMs::new(60_000))),
            agent: World::worker,
            running: 0,
        },
        Rest {
            phase: "planning",
            change: |_| {},
            plan: |_| {},
            agent: |world| world.agent(|_| Reply::Silent),
            running: 0,
        },
        Rest {
            phase: "editing",
            change: |_| {},
            plan: |_| {},
            agent: |world| {
                world.agent(|turn| match turn.proposals() {
                    0 => Reply::Say(turn.plan(&["AC-1"])),
                    1 => Reply::Say(turn.patch(&edit(WORD, "undone\n", "half\n"))),
                    _ => Reply::Silent,
                })
            },
            running: 0,
        },
        Rest {
            phase: "checking",
            change: |_| {},
            plan: |world| world.sandbox.plan(Verb::Execute, 0, SandboxFault::Slow(hour())),
            agent: World::worker,
            running: 1,
        },
        Rest {
            phase: "needs-approval",
            change: |_| {},
            plan: |_| {},
            agent: |world| {
                world.script([
                    |turn| turn.plan(&["AC-1"]),
                    |turn| {
                        turn.patch(&edit(
                            "requirements.txt",
                            "attrs==25.3.0\n",
                            "attrs==25.3.0\nrequests==2.32.0\n",
                        ))
                    },
                    |turn| turn.ask(),
                ])
            },
            running: 0,
        },
        Rest {
            phase: "checking",
            change: |setup| setup.blueprint.spec.gates[0].hidden_check = Some("hidden".parse().unwrap()),
            plan: |world| world.sandbox.plan(Verb::Execute, 3, SandboxFault::Slow(hour())),
            agent: World::worker,
            running: 1,
        },
    ]
}

/// What a cancelled run leaves: the four effects in their order and nothing after them.
async fn check_cancelled(world: &World, run: &RunRef, told: &str) {
    let kinds = world.kinds(run).await;
    let asked = kinds.iter().position(|kind| *kind == "cancel.requested").unwrap();
    let after: Vec<&str> = kinds[asked..].to_vec();
    for kind in ["tool.decided", "turn.opened", "patch.applied", "plan.accepted"] {
        assert!(!after.contains(&kind), "{told}: {kind} after the cancellation: {after:?}");
    }
    let had_sandbox = kinds.contains(&"lease.allocated");
    let order =
        ["cancel.requested", "run.stopping", "process.terminated", "artifact.exported", "sandbox.destroyed"];
    let order = order.into_iter().chain(["revision.ineligible", "run.terminal"]);
    // A sandbox that arrives after the cancellation begins the cleanup anew: the last of each counts.
    let places: Vec<Option<usize>> = order
        .filter(|kind| had_sandbox || *kind != "process.terminated")
        .map(|kind| after.iter().rposition(|seen| *seen == kind))
        .collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{told}: {after:?}");
    let links = world.links(run).await;
    let exported = links.iter().rposition(|link| link.record.kind() == "artifact.exported").unwrap();
    let rows = world.journal().rows(&run.stream()).await.unwrap();
    let records: Vec<u8> =
        rows[..exported].iter().flat_map(|row| [row.bytes.as_slice(), b"\n"].concat()).collect();
    assert_eq!(
        world.blob(links[exported].record.artifact.unwrap()).unwrap(),
        records,
        "{told}: the trace is kept"
    );
}

// proves E-P01 E-P02 E-P03 E-P04 E-M07 E-C08 E-S15 E-G04 E-P05
// break crates/domain/run/src/evolve.rs: `let cleanup = if open.sandbox.is_some() { Cleanup::Terminate } else { Cleanup::Export };` -> `let cleanup = Cleanup::Export;`
#[test]
fn a_cancellation_from_another_process_ends_a_run_in_every_phase() {
    for rest in rests() {
        let mut setup = Setup::standard();
        (rest.change)(&mut setup);
        simulate(async {
            let world = world(setup).await;
            (rest.plan)(&world);
            let agent = (rest.agent)(&world);
            let run = world.start(&agent).await;
            let (driven, phase) = tokio::join!(world.drive(&run, &agent), async {
                world.clock.pass(DurationMs::new(1_000)).await;
                let phase = world.state(&run).await.phase().unwrap();
                world.cancel(&run).await;
                phase
            });
            let told = rest.phase;
            assert_eq!(phase.as_str(), told, "the run did not rest where it was cancelled");
            let state = driven.ended();
            let State::Ended(ended) = &state else { panic!("{told}: the run is not over") };
            assert_eq!((ended.phase, ended.preview_ready), (Phase::Cancelled, false), "{told}");
            assert!(ended.cleanup_proven, "{told}");
            let (asked, now) = (1_000, ambit_ports::runtime::Clock::now(&world.clock));
            let took = now.since(ambit_simulation::EPOCH).get() - asked;
            let waited = if told == "queued" { 60_000 } else { 100 };
            assert!(took <= waited, "{told}: it took {took} ms");
            check_cancelled(&world, &run, told).await;
            check_ended(&world, &run, &state, told).await;
            let killed = world.links(&run).await.into_iter().find_map(|link| match link.record.event() {
                Ok(ambit_run::Event::ProcessesTerminated { killed, .. }) => Some(killed),
                _ => None,
            });
            assert!(killed.unwrap_or_default() <= rest.running, "{told}: {killed:?}");
        });
    }
}

// proves E-P02 E-P04 E-S15
// break crates/domain/run/src/evolve.rs: `let in_flight = match open.stage {` -> `let in_flight = match Stage::Sandbox {`
#[test]
fn a_cancellation_at_every_moment_of_a_run_lets_no_effect_begin_after_it() {
    // Every turn and every command takes thirty milliseconds, so that a run has as many moments.
    let step = DurationMs::new(30);
    for moment in (0..250).step_by(5) {
        let mut setup = Setup::standard();
        let judge = setup.judge;
        setup.judge = Box::new(move |execution| judge(execution).after(step));
        simulate(async {
            let world = world(setup).await;
            let agent = world.thoughtful_worker(step);
            let run = world.start(&agent).await;
            let (driven, ()) = tokio::join!(world.drive(&run, &agent), async {
                world.clock.pass(DurationMs::new(moment)).await;
                world.cancel(&run).await;
            });
            let told = format!("cancelled after {moment} ms");
            let state = driven.ended();
            assert_eq!(state.phase(), Some(Phase::Cancelled), "{told}");
            check_cancelled(&world, &run, &told).await;
            check_ended(&world, &run, &state, &told).await;
        });
    }
}

// proves E-S15 E-S20 D7
// break crates/control-plane/orchestrator/src/drive.rs: `pilot.dismiss_rest().await?;` -> `let _ = &pilot;`
#[test]
fn a_cancellation_that_comes_too_late_changes_nothing_and_does_not_wait_for_ever() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.worker();
        let run = world.start(&agent).await;
        let state = world.drive(&run, &agent).await.ended();
        let records = world.links(&run).await.len();
        world.cancel(&run).await;
        assert_eq!(world.drive(&run, &agent).await.ended(), state);
        assert_eq!(world.links(&run).await.len(), records, "a run that is over stays as it is");
        assert!(world.waiting(&run).await.is_empty());
    });
}

#[test]
fn whatever_else_is_left_for_a_run_is_taken_away() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.agent(|_| Reply::Silent);
        let run = world.start(&agent).await;
        let junk =
            ambit_canonical::encode(&serde_json::json!({"command": "complete", "acceptanceMet": true}))
                .unwrap();
        let (driven, ()) = tokio::join!(world.drive(&run, &agent), async {
            world.clock.pass(DurationMs::new(1_000)).await;
            ambit_ports::store::Store::send(&world.store, &run.stream(), junk).await.unwrap();
            world.clock.pass(DurationMs::new(1_000)).await;
            assert!(world.waiting(&run).await.is_empty(), "it is not looked at for ever");
            assert!(matches!(world.state(&run).await, State::Open(_)), "and it does nothing");
            world.cancel(&run).await;
        });
        assert_eq!(driven.ended().phase(), Some(Phase::Cancelled));
    });
}
