use ambit_gates::Ending;
use ambit_policy::{Capability, Verdict};
use ambit_run::table::{CommandKind, StateKind, takes};
use ambit_run::{
    Answered, ApprovalDecision, ApprovalVerdict, CallOutcome, Command, Denial, DenialCode, Event,
    Observation, Proposal, State, proposal_id, step,
};

use crate::world::{World, approval_call, decided, digest, gate, pins, sandbox};

/// One run in each state.
fn states() -> Vec<(StateKind, World)> {
    let mut in_flight = World::planned(pins());
    in_flight.patch("tree-1");
    let call = in_flight.gate_call("unit");
    in_flight.call(call);
    let mut terminating = World::planned(pins());
    terminating.patch("tree-1");
    let call = terminating.gate_call("unit");
    terminating.call(call);
    terminating.tell(Command::Cancel { by: "c".to_owned() }).unwrap();
    let mut exporting = World::admitted(pins());
    exporting.tell(Command::Cancel { by: "c".to_owned() }).unwrap();
    let mut destroying = World::admitted(pins());
    destroying.tell(Command::Cancel { by: "c".to_owned() }).unwrap();
    destroying.tell(Command::TraceExported { artifact: digest("t") }).unwrap();
    let mut ended = World::planned(pins());
    ended.tell(Command::Cancel { by: "c".to_owned() }).unwrap();
    ended.close();
    vec![
        (StateKind::Vacant, World::vacant()),
        (StateKind::AwaitingSandbox, World::admitted(pins())),
        (StateKind::AwaitingAgent, World::planned(pins())),
        (StateKind::CallInFlight, in_flight),
        (StateKind::AwaitingApproval, awaiting_approval()),
        (StateKind::CheckingHidden, checking_hidden()),
        (StateKind::Terminating, terminating),
        (StateKind::Exporting, exporting),
        (StateKind::Destroying, destroying),
        (StateKind::Ended, ended),
    ]
}

fn awaiting_approval() -> World {
    let mut world = World::planned(pins());
    let call =
        decided(world.patch_call("tree-1"), Verdict::NeedsApproval(Capability::DependencyAdd), Vec::new());
    let events = world.call(call);
    let id = events
        .iter()
        .find_map(|event| match event {
            Event::CallDecided(made) => match &made.outcome {
                CallOutcome::Held(held) => Some(proposal_id(held.digest().unwrap())),
                _ => None,
            },
            _ => None,
        })
        .unwrap();
    world.call(approval_call(&id, Capability::DependencyAdd));
    world
}

fn checking_hidden() -> World {
    let mut pins = pins();
    pins.gates[0].hidden_check = Some(gate("hidden"));
    let mut world = World::planned(pins);
    world.patch("tree-1");
    world.gate("unit", 0, "");
    world.gate("integration", 0, "");
    // The agent's sandbox was given back.
    world.allocate();
    world
}

/// For each kind, the command that fits the state best.
fn command(kind: CommandKind, world: &World) -> Command {
    let allocations = world.state.dossier().map_or(0, |dossier| dossier.allocations);
    let open_turn = match &world.state {
        State::Open(open) => match &open.stage {
            ambit_run::Stage::Agent(turn) => turn.turn,
            _ => 0,
        },
        _ => 0,
    };
    match kind {
        CommandKind::Admit => Command::Admit(Box::new(pins())),
        CommandKind::SandboxAllocated => Command::SandboxAllocated(sandbox(allocations + 1)),
        CommandKind::SandboxRefused => Command::SandboxRefused { code: "X".to_owned() },
        CommandKind::SandboxLost => {
            Command::SandboxLost { incarnation: sandbox(allocations.max(1)).incarnation }
        }
        CommandKind::Propose => Command::Propose(Box::new(Answered {
            turn: open_turn,
            cost: None,
            answer: digest("a"),
            proposal: Proposal::Unusable(Denial::new(DenialCode::AnswerMalformed, "x")),
        })),
        CommandKind::AgentStopped => Command::AgentStopped { turn: open_turn, cost: None, failure: None },
        CommandKind::Observe => {
            let turn = match &world.state {
                State::Open(open) if matches!(open.stage, ambit_run::Stage::Call(_)) => world.flight().turn,
                State::Closing(closing) => closing.in_flight.as_ref().map_or(0, |flight| flight.turn),
                _ => 0,
            };
            Command::Observe { turn, observation: Observation::Failed { code: "X".to_owned() } }
        }
        CommandKind::ObserveHidden => Command::ObserveHidden(hidden_record(world)),
        CommandKind::HiddenCheckFailed => {
            Command::HiddenCheckFailed { gate: gate("unit"), code: "X".to_owned() }
        }
        CommandKind::DecideApproval => Command::DecideApproval(approval(world)),
        CommandKind::RevokeApprover => Command::RevokeApprover { approver: "ada".parse().unwrap() },
        CommandKind::WithdrawBlueprint => Command::WithdrawBlueprint,
        CommandKind::Cancel => Command::Cancel { by: "c".to_owned() },
        CommandKind::Tick => Command::Tick,
        CommandKind::Recover => Command::Recover,
        CommandKind::ProcessesTerminated => Command::ProcessesTerminated { killed: 0, receipt: digest("r") },
        CommandKind::TraceExported => Command::TraceExported { artifact: digest("t") },
        CommandKind::SandboxDestroyed => Command::SandboxDestroyed { receipt: digest("r") },
        CommandKind::CleanupFailed => Command::CleanupFailed { code: "X".to_owned() },
    }
}

fn hidden_record(world: &World) -> ambit_run::GateRecord {
    ambit_run::GateRecord {
        gate: gate("hidden"),
        attempt: 1,
        key: "hidden-1".parse().unwrap(),
        tree: world.state.dossier().map_or(digest("x"), |dossier| dossier.head),
        ending: Ending::Exited { code: 0 },
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

fn approval(world: &World) -> ApprovalDecision {
    let pending = match &world.state {
        State::Open(open) => match &open.stage {
            ambit_run::Stage::Approval { pending, .. } => Some(pending.clone()),
            _ => None,
        },
        _ => None,
    };
    ApprovalDecision {
        proposal: pending.as_ref().map_or_else(|| "prop_000000".parse().unwrap(), |p| p.proposal.clone()),
        digest: pending.as_ref().map_or(digest("x"), |p| p.digest),
        expected_sequence: pending.as_ref().map_or(0, |p| p.asked_at),
        verdict: ApprovalVerdict::Approved,
        approver: "ada".parse().unwrap(),
        receipt: "apr_000001".parse().unwrap(),
        evidence: digest("e"),
    }
}

// proves E-B02 E-C01 E-S19
// break crates/domain/run/src/step/mod.rs: `table::admit(state, &command)?;` -> `let _ = table::admit(state, &command);`
#[test]
fn every_state_takes_exactly_the_commands_that_the_table_gives_it() {
    let states = states();
    assert_eq!(states.len(), StateKind::ALL.len());
    let mut refused_by_content = Vec::new();
    for (kind, world) in &states {
        assert_eq!(StateKind::of(&world.state), *kind);
        for command_kind in CommandKind::ALL {
            let command = command(command_kind, world);
            assert_eq!(CommandKind::of(&command), command_kind);
            let answer = step(&world.state, world.at, command);
            match takes(*kind, command_kind) {
                Err(refusal) => assert_eq!(answer, Err(refusal), "{kind:?} x {command_kind:?}"),
                Ok(()) if answer.is_err() => refused_by_content.push((*kind, command_kind)),
                Ok(()) => {}
            }
        }
    }
    assert_eq!(refused_by_content, EXPECTED);
}

/// Pairs that the table lets through and that these runs refuse by content: nothing is due yet, a sandbox is held
/// already, nothing is in flight, nobody has given a receipt.
const EXPECTED: [(StateKind, CommandKind); 25] = [
    (StateKind::AwaitingSandbox, CommandKind::RevokeApprover),
    (StateKind::AwaitingSandbox, CommandKind::WithdrawBlueprint),
    (StateKind::AwaitingSandbox, CommandKind::Tick),
    (StateKind::AwaitingAgent, CommandKind::SandboxAllocated),
    (StateKind::AwaitingAgent, CommandKind::SandboxRefused),
    (StateKind::AwaitingAgent, CommandKind::RevokeApprover),
    (StateKind::AwaitingAgent, CommandKind::WithdrawBlueprint),
    (StateKind::AwaitingAgent, CommandKind::Tick),
    (StateKind::CallInFlight, CommandKind::SandboxAllocated),
    (StateKind::CallInFlight, CommandKind::SandboxRefused),
    (StateKind::CallInFlight, CommandKind::RevokeApprover),
    (StateKind::CallInFlight, CommandKind::WithdrawBlueprint),
    (StateKind::CallInFlight, CommandKind::Tick),
    (StateKind::AwaitingApproval, CommandKind::SandboxAllocated),
    (StateKind::AwaitingApproval, CommandKind::SandboxRefused),
    (StateKind::AwaitingApproval, CommandKind::RevokeApprover),
    (StateKind::AwaitingApproval, CommandKind::WithdrawBlueprint),
    (StateKind::AwaitingApproval, CommandKind::Tick),
    (StateKind::CheckingHidden, CommandKind::SandboxAllocated),
    (StateKind::CheckingHidden, CommandKind::SandboxRefused),
    (StateKind::CheckingHidden, CommandKind::RevokeApprover),
    (StateKind::CheckingHidden, CommandKind::WithdrawBlueprint),
    (StateKind::CheckingHidden, CommandKind::Tick),
    (StateKind::Terminating, CommandKind::SandboxAllocated),
    (StateKind::Exporting, CommandKind::Observe),
];

#[test]
fn a_final_state_never_changes_again_whatever_comes() {
    let (_, ended) = states().pop().unwrap();
    for kind in CommandKind::ALL {
        assert!(step(&ended.state, ended.at, command(kind, &ended)).is_err(), "{kind:?}");
    }
}
