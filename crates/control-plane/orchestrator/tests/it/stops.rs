//! Every reason for which a run ends, each with its evidence.

use std::sync::Arc;

use ambit_ids::{DurationMs, MicroUsd};
use ambit_run::{Phase, State};
use ambit_simulation::{Reply, SandboxFault, Setup, SimAgent, Turn, Verb, World, creation, edit, simulate};
use serde_json::Value;

use crate::invariants::check_ended;
use crate::policies::world;

const WORD: &str = "src/word.txt";

struct Case {
    reason: &'static str,
    change: fn(&mut Setup),
    agent: fn(&World) -> Arc<SimAgent>,
}

const AS_IT_IS: fn(&mut Setup) = |_| {};

/// Patches without end, each of which changes the word and fixes nothing.
fn fumble(turn: &Turn) -> Value {
    let words = ["undone\n", "one\n", "two\n", "three\n", "four\n", "five\n", "six\n", "seven\n"];
    match turn.proposals() {
        0 => turn.plan(&["AC-1", "AC-2"]),
        odd if odd % 2 == 1 => turn.explained(&edit(WORD, words[odd / 2], words[odd / 2 + 1])),
        _ => turn.gate_once("unit"),
    }
}

/// Patches without end and without a gate between them.
fn patch_on(turn: &Turn) -> Value {
    match turn.proposals() {
        0 => turn.plan(&["AC-1"]),
        number => turn.explained(&creation(&format!("src/new-{number}.txt"), "new\n")),
    }
}

fn budget_cases() -> Vec<Case> {
    vec![
        Case { reason: "gates-passed", change: AS_IT_IS, agent: World::worker },
        Case {
            reason: "budget (maxModelSteps)",
            change: |setup| setup.blueprint.spec.run_budget.max_model_steps = 3,
            agent: World::worker,
        },
        Case {
            reason: "budget (maxPatchAttemptsPerGate)",
            change: |setup| setup.blueprint.spec.run_budget.max_patch_attempts_per_gate = 2,
            agent: |world| world.agent(|turn| Reply::Say(patch_on(turn))),
        },
        Case {
            reason: "budget (maxElapsedMinutes)",
            change: AS_IT_IS,
            agent: |world| world.agent(|_| Reply::Silent),
        },
        Case {
            reason: "budget (maxChangedFiles)",
            change: AS_IT_IS,
            agent: |world| world.agent(|turn| Reply::Say(patch_on(turn))),
        },
        Case {
            reason: "budget (maxParallelProcesses)",
            change: |setup| setup.blueprint.spec.run_budget.max_parallel_processes = 1,
            agent: |world| {
                world.script([
                    |turn| turn.plan(&["AC-2"]),
                    |turn| turn.patch(&edit(WORD, "undone\n", "right\n")),
                    |turn| turn.gate_once("integration"),
                ])
            },
        },
        Case {
            reason: "budget (maxToolCostUsd)",
            change: AS_IT_IS,
            agent: |world| world.agent(|turn| Reply::Priced(turn.list(), Some(MicroUsd::new(1_500_000)))),
        },
        Case {
            reason: "budget (maxSideEffects)",
            change: |setup| setup.blueprint.spec.run_budget.max_side_effects = 2,
            agent: World::worker,
        },
        Case {
            reason: "repeated-fingerprint (stopOnRepeatedFailureFingerprint)",
            change: |setup| {
                setup.judge = Box::new(|_| ambit_simulation::Outcome::fails("AssertionError: no\n"));
            },
            agent: |world| world.agent(|turn| Reply::Say(fumble(turn))),
        },
    ]
}

fn other_cases() -> Vec<Case> {
    vec![
        Case {
            reason: "policy-denied (forbid-protected-path)",
            change: AS_IT_IS,
            agent: |world| {
                world.script([
                    |turn| turn.plan(&["AC-1"]),
                    |turn| turn.patch(&edit("tests/protected/check.txt", "the word is right\n", "any\n")),
                ])
            },
        },
        Case { reason: "agent-stopped", change: AS_IT_IS, agent: |world| world.agent(|_| Reply::Finished) },
        Case {
            reason: "hidden-check-failed",
            change: |setup| setup.blueprint.spec.gates[1].hidden_check = Some("hidden".parse().unwrap()),
            agent: |world| {
                world.script([
                    |turn| turn.plan(&["AC-1"]),
                    |turn| turn.patch(&edit(WORD, "undone\n", "right, but secretly wrong\n")),
                    |turn| turn.gate_once("unit"),
                    |turn| turn.gate_once("integration"),
                ])
            },
        },
        Case {
            reason: "infrastructure-failure (AGENT_FAILED)",
            change: AS_IT_IS,
            agent: |world| world.agent(|_| Reply::Unreachable),
        },
    ]
}

// proves E-C08 E-C09 E-B07 E-D01 E-D02 E-D03 E-D04 E-D06 E-D07 E-D08 E-D13 E-D14 E-F04 E-A16
// break crates/domain/run/src/step/draft.rs: `Err(limit) => self.stop_at(limit),` -> `Err(_) => {}`
// break crates/domain/run/src/step/observe.rs: `sightings > dossier.ledger.limits().repeated_failure` -> `sightings > u32::MAX - 1`
// break crates/domain/run/src/step/judge.rs: `if finding.changed_from_base > limits.changed_files {` -> `if finding.changed_from_base > u32::MAX - 1 {`
// break crates/domain/run/src/step/judge.rs: `if attempts >= limits.patch_attempts_per_gate {` -> `if attempts > limits.patch_attempts_per_gate + 1 {`
// break crates/control-plane/broker/src/ground.rs: `protected: spec.protected_oracles.paths.clone(),` -> `protected: PathSet::default(),`
#[test]
fn every_reason_ends_a_run_with_its_evidence() {
    for case in budget_cases().into_iter().chain(other_cases()) {
        let mut setup = Setup::standard();
        (case.change)(&mut setup);
        simulate(async {
            let world = world(setup).await;
            let agent = (case.agent)(&world);
            let run = world.start(&agent).await;
            let state = world.drive(&run, &agent).await.ended();
            let State::Ended(ended) = &state else { panic!("{}: the run is not over", case.reason) };
            assert_eq!(ended.reason.to_string(), case.reason);
            let completed = case.reason == "gates-passed";
            let expected = if completed { Phase::Completed } else { Phase::Failed };
            assert_eq!(ended.phase, expected, "{}", case.reason);
            check_ended(&world, &run, &state, case.reason).await;
        });
    }
}

// proves E-I05 E-P06
// break crates/control-plane/sandboxes/src/lib.rs: `return Err(SandboxesError::AnotherRun);` -> `{}`
#[test]
fn without_a_sandbox_the_agent_is_never_asked() {
    let faults = [
        (Verb::Inspect, SandboxFault::Unavailable, "SANDBOX_UNAVAILABLE"),
        (Verb::Allocate, SandboxFault::Unavailable, "SANDBOX_UNAVAILABLE"),
        (Verb::Allocate, SandboxFault::Stumbles, "SANDBOX_FAILED"),
        (Verb::Allocate, SandboxFault::AnotherRun, "SANDBOX_ANOTHER_RUN"),
        (Verb::Allocate, SandboxFault::Hangs, "SANDBOX_TIMED_OUT"),
    ];
    for (verb, fault, code) in faults {
        simulate(async {
            let world = world(Setup::standard()).await;
            let agent = world.worker();
            let run = world.start(&agent).await;
            world.sandbox.plan(verb, 0, fault);
            let state = world.drive(&run, &agent).await.ended();
            assert_eq!(
                state.stop_reason().unwrap().to_string(),
                format!("infrastructure-failure ({code})"),
                "{fault:?}"
            );
            assert_eq!(agent.told().len(), 0, "{fault:?}");
            check_ended(&world, &run, &state, code).await;
        });
    }
}

#[test]
fn an_agent_that_is_deaf_to_an_abort_does_not_keep_its_run() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.agent(|_| Reply::Deaf);
        let run = world.start(&agent).await;
        let state = world.drive(&run, &agent).await.ended();
        assert_eq!(state.stop_reason().unwrap().to_string(), "budget (maxElapsedMinutes)");
        let spent = state.dossier().unwrap().ledger.spent().cost;
        assert_eq!(spent, agent.pin().turn_quote, "a turn without an answer is charged at its reservation");
        let late = world.agent(|_| Reply::After(DurationMs::new(1), Box::new(Reply::Finished)));
        let again = world.drive(&run, &late).await.ended();
        assert_eq!(again, state, "a run that is over stays as it is");
    });
}
