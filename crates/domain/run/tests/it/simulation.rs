//! Seeded lives of a run: every command at every moment, repeated, reordered, and cut by crashes.

use ambit_gates::Ending;
use ambit_ids::MicroUsd;
use ambit_policy::{Capability, Verdict};
use ambit_run::{
    Acceptance, Answered, ApprovalDecision, ApprovalVerdict, CallOutcome, Command, Denial, DenialCode,
    Effect, Event, Observation, Phase, Proposal, Stage, State, StopReason, acceptance, evolve, pending, step,
};

use crate::world::{
    CALL_DENIAL, END, World, approval_call, decided, digest, gate, pins, plan_step, read_call,
    read_observation, sandbox,
};

/// SplitMix64: small, seeded, and the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}

fn random_pins(dice: &mut Dice) -> ambit_run::Pins {
    let mut pins = pins();
    pins.limits.model_steps = 3 + u32::try_from(dice.roll(25)).unwrap();
    pins.limits.side_effects = 2 + u32::try_from(dice.roll(20)).unwrap();
    pins.limits.tool_cost = MicroUsd::new(20_000 + dice.roll(300_000));
    if dice.roll(3) == 0 {
        pins.gates[1].hidden_check = Some(gate("hidden"));
    }
    pins
}

/// A command for whatever the run waits for; sometimes one for something else.
fn next_command(world: &mut World, dice: &mut Dice) -> Command {
    if dice.roll(12) == 0 {
        return stray(world, dice);
    }
    match &world.state {
        State::Vacant => Command::Admit(Box::new(random_pins(dice))),
        State::Open(open) => match open.stage.clone() {
            _ if open.sandbox.is_none() && dice.roll(4) > 0 => {
                Command::SandboxAllocated(sandbox(open.dossier.allocations + 1))
            }
            Stage::Sandbox => Command::SandboxAllocated(sandbox(open.dossier.allocations + 1)),
            Stage::Agent(turn) => propose(world, turn.turn, dice),
            Stage::Call(flight) => {
                Command::Observe { turn: flight.turn, observation: observation(world, dice) }
            }
            Stage::Approval { pending, .. } => Command::DecideApproval(ApprovalDecision {
                proposal: pending.proposal,
                digest: pending.digest,
                expected_sequence: pending.asked_at,
                verdict: if dice.roll(2) == 0 {
                    ApprovalVerdict::Approved
                } else {
                    ApprovalVerdict::Rejected
                },
                approver: "ada".parse().unwrap(),
                receipt: format!("apr_{:06}", open.dossier.events).parse().unwrap(),
                evidence: digest("signed"),
            }),
            Stage::Observed => panic!("a run rests between two stages"),
            Stage::HiddenChecks(_) => {
                let mut record = world_record(world, Ending::Exited { code: u8::from(dice.roll(4) == 0) });
                record.gate = gate("hidden");
                Command::ObserveHidden(record)
            }
        },
        State::Closing(closing) => match pending(&world.state).first() {
            Some(_) if dice.roll(8) == 0 => Command::CleanupFailed { code: "TRY_AGAIN".to_owned() },
            Some(Effect::TerminateProcesses) => {
                Command::ProcessesTerminated { killed: 1, receipt: digest("r") }
            }
            Some(Effect::ExportTrace) => Command::TraceExported { artifact: digest("t") },
            Some(_) => Command::SandboxDestroyed { receipt: digest("r") },
            None => {
                let turn = closing.in_flight.as_ref().map_or(0, |flight| flight.turn);
                Command::Observe { turn, observation: Observation::Unknown }
            }
        },
        State::Ended(_) => Command::Tick,
    }
}

fn world_record(world: &World, ending: Ending) -> ambit_run::GateRecord {
    ambit_run::GateRecord {
        gate: gate("unit"),
        attempt: 1,
        key: "k".parse().unwrap(),
        tree: world.dossier().head,
        ending,
        breaches: std::collections::BTreeSet::new(),
        fingerprint: None,
        artifact: digest("a"),
        output: ambit_ids::ByteCount::ZERO,
        redactions: None,
        duration: ambit_ids::DurationMs::ZERO,
        objections: Vec::new(),
        tests: None,
    }
}

fn propose(world: &mut World, turn: u32, dice: &mut Dice) -> Command {
    let tree = format!("tree-{}", dice.roll(50));
    let proposal = match dice.roll(10) {
        0 => Proposal::Unusable(Denial::new(DenialCode::AnswerMalformed, "prose")),
        1 => Proposal::Plan(vec![plan_step("s1", "domain", &["AC-1", "AC-2"])]),
        2 => Proposal::Call(Box::new(read_call("a.py"))),
        3 => Proposal::Call(Box::new(decided(world.patch_call(&tree), CALL_DENIAL, Vec::new()))),
        4 if dice.roll(6) == 0 => Proposal::Call(Box::new(decided(world.patch_call(&tree), END, Vec::new()))),
        4 => {
            let needs = Verdict::NeedsApproval(Capability::DependencyAdd);
            Proposal::Call(Box::new(decided(world.patch_call(&tree), needs, Vec::new())))
        }
        5 => match world.events.iter().rev().find_map(|event| match event {
            Event::CallDecided(made) => match &made.outcome {
                CallOutcome::Held(held) => Some(ambit_run::proposal_id(held.digest().unwrap())),
                _ => None,
            },
            _ => None,
        }) {
            Some(id) => Proposal::Call(Box::new(approval_call(&id, Capability::DependencyAdd))),
            None => Proposal::Plan(vec![plan_step("s1", "domain", &["AC-1", "AC-2"])]),
        },
        6 => {
            let mut call = world.patch_call(&tree);
            call.hypothesis = Some("cause".to_owned());
            Proposal::Call(Box::new(call))
        }
        7 => Proposal::Call(Box::new(world.gate_call("integration"))),
        _ => Proposal::Call(Box::new(world.gate_call("unit"))),
    };
    let cost = (dice.roll(3) > 0).then(|| MicroUsd::new(dice.roll(12_000)));
    Command::Propose(Box::new(Answered { turn, cost, answer: digest("answer"), proposal }))
}

fn observation(world: &World, dice: &mut Dice) -> Observation {
    let flight = world.flight();
    if dice.roll(10) == 0 {
        return Observation::Failed { code: "SANDBOX_GONE".to_owned() };
    }
    match flight.call {
        ambit_run::ToolCall::ReadProjectFile { .. } => read_observation("a.py"),
        ambit_run::ToolCall::ApplyProjectPatch { expected_base_sha, patch, .. } => {
            Observation::PatchApplied(ambit_run::AppliedPatch {
                base: expected_base_sha,
                tree: flight.expected_tree.unwrap(),
                proposed: patch,
                canonical: digest("c"),
                files: Vec::new(),
                changed_from_base: 1,
                added_dependencies: 0,
            })
        }
        _ => {
            let ending = match dice.roll(4) {
                0 => Ending::Exited { code: 1 },
                1 if dice.roll(4) == 0 => Ending::Indeterminate,
                _ => Ending::Exited { code: 0 },
            };
            Observation::GateFinished(world.record(ending, &format!("place {}", dice.roll(5))))
        }
    }
}

/// A command that was never asked for: a repeat, a stranger, a cancellation, a tick, a crash.
fn stray(world: &World, dice: &mut Dice) -> Command {
    match dice.roll(9) {
        0 => Command::Cancel { by: "customer".to_owned() },
        1 => Command::Tick,
        2 | 3 => Command::Recover,
        4 => Command::Observe {
            turn: u32::try_from(dice.roll(30)).unwrap(),
            observation: Observation::Failed { code: "LATE".to_owned() },
        },
        5 => Command::SandboxLost {
            incarnation: sandbox(1 + u32::try_from(dice.roll(3)).unwrap()).incarnation,
        },
        6 => Command::ProcessesTerminated { killed: 0, receipt: digest("r") },
        7 => Command::SandboxDestroyed { receipt: digest("r") },
        _ => {
            let allocation = world.state.dossier().map_or(0, |dossier| dossier.allocations) + 1;
            Command::SandboxAllocated(sandbox(allocation))
        }
    }
}

/// What must hold after every step of every life.
fn check(world: &World, seed: u64) {
    let Some(dossier) = world.state.dossier() else { return };
    assert_eq!(dossier.events, world.events.len() as u64, "seed {seed}: an event was not counted");
    let (ledger, limits) = (&dossier.ledger, &dossier.pins.limits);
    assert!(
        ledger.spent().side_effects + ledger.reserved().side_effects <= limits.side_effects,
        "seed {seed}"
    );
    assert!(ledger.spent().model_steps + ledger.reserved().model_steps <= limits.model_steps, "seed {seed}");
    if let State::Open(open) = &world.state {
        assert!(ledger.overdrawn().is_none(), "seed {seed}: an open run is past a limit");
        let idle = !matches!(open.stage, Stage::Agent(_) | Stage::Call(_));
        assert!(
            !idle || *ledger.reserved() == ambit_run::Amounts::default(),
            "seed {seed}: a reservation is lost"
        );
        assert!(!pending(&world.state).is_empty(), "seed {seed}: an open run asks for nothing");
    }
    if let State::Ended(ended) = &world.state {
        assert_eq!(
            *ledger.reserved(),
            ambit_run::Amounts::default(),
            "seed {seed}: a reservation outlived the run"
        );
        assert_eq!(ended.preview_ready, ended.phase == Phase::Completed, "seed {seed}");
        if ended.phase == Phase::Completed {
            assert_eq!(acceptance(dossier), Acceptance::Met, "seed {seed}");
            assert!(ended.cleanup_proven, "seed {seed}");
            assert_eq!(ended.reason, StopReason::GatesPassed, "seed {seed}");
        }
        assert_eq!(pending(&world.state), Vec::<Effect>::new(), "seed {seed}");
    }
}

/// No intent comes after the run began to end, and every intent has at most one observation.
fn check_history(world: &World, seed: u64) {
    let replayed = world.events.iter().fold(State::Vacant, evolve);
    assert_eq!(replayed, world.state, "seed {seed}: the log is not the state");
    let mut stopping = false;
    let mut open_intent = None;
    let mut ended = 0;
    for event in &world.events {
        match event {
            Event::Stopping { .. } => {
                assert!(!stopping, "seed {seed}: a run stopped twice");
                stopping = true;
            }
            Event::CallDecided(made) => {
                assert!(!stopping, "seed {seed}: a call after the run began to end");
                assert!(open_intent.is_none(), "seed {seed}: two intents at once");
                open_intent = (made.outcome == CallOutcome::Perform).then_some(made.turn);
            }
            Event::CallObserved { turn, .. } => {
                assert_eq!(open_intent.take(), Some(*turn), "seed {seed}: an observation of nothing");
            }
            Event::TurnOpened { .. } => assert!(!stopping, "seed {seed}: a turn after the run began to end"),
            Event::Ended { .. } => ended += 1,
            _ => {}
        }
    }
    assert!(ended <= 1, "seed {seed}");
}

// proves E-P06 E-B02 E-D13 E-P02 E-S20
// break crates/domain/run/src/step/draft.rs: `&& turn.reserved.model_steps > 0` -> `&& turn.reserved.model_steps > 1`
#[test]
fn no_order_of_commands_repeats_or_crashes_breaks_a_run() {
    let mut ends = std::collections::BTreeMap::new();
    for seed in 0..3_000 {
        let mut dice = Dice(seed);
        let mut world = World::vacant();
        let mut last: Option<Command> = None;
        for _ in 0..160 {
            world.later(dice.roll(40_000));
            let command = next_command(&mut world, &mut dice);
            let repeated = if dice.roll(10) == 0 { last.clone() } else { None };
            for command in repeated.into_iter().chain([command.clone()]) {
                let before = world.state.clone();
                if world.tell(command).is_err() {
                    assert_eq!(world.state, before, "seed {seed}: a refusal changed the run");
                }
                check(&world, seed);
            }
            last = Some(command);
        }
        check_history(&world, seed);
        if let State::Ended(ended) = &world.state {
            *ends.entry(ended.reason.code()).or_insert(0_u32) += 1;
        }
    }
    for reason in ["gates-passed", "budget", "policy-denied", "customer-cancelled", "hidden-check-failed"] {
        assert!(ends.contains_key(reason), "no life ended by {reason}: {ends:?}");
    }
}

#[test]
fn a_step_is_a_pure_function_of_state_moment_and_command() {
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let mut world = World::admitted(random_pins(&mut dice));
        for _ in 0..30 {
            let command = next_command(&mut world, &mut dice);
            assert_eq!(
                step(&world.state, world.at, command.clone()),
                step(&world.state, world.at, command.clone())
            );
            let _ = world.tell(command);
        }
    }
}
