//! What takes a green away: objections, flaky gates, and checks that the agent's sandbox never saw.

use ambit_gates::{BaseTests, Counts, Ending, GateTests, Objection, TestTally};
use ambit_ids::{ByteCount, MicroUsd};
use ambit_run::{
    Acceptance, Command, DenialCode, Effect, Event, GateStatus, Limit, Observation, Phase, Pins, Refusal,
    Rules, Stage, State, StopReason, acceptance, pending, step,
};

use crate::world::{World, denied, digest, gate, pins};

const EXIT_0: Ending = Ending::Exited { code: 0 };

/// A gate that exits with 0 and is objected to.
fn objected(world: &mut World, id: &str) -> Vec<Event> {
    let call = world.gate_call(id);
    world.call(call);
    let mut record = world.record(EXIT_0, "");
    record.objections = vec![Objection::NoTests];
    record.fingerprint = Objection::fingerprint(&record.gate, &record.objections);
    world.observe(Observation::GateFinished(record))
}

// proves E-F02 E-F11
// break crates/domain/run/src/gate_book.rs: `self.ending.is_success() && self.objections.is_empty()` -> `self.ending.is_success() || self.objections.is_empty()`
#[test]
fn a_gate_that_is_objected_to_does_not_pass_and_its_failure_is_to_be_explained() {
    let mut world = World::planned(pins());
    world.patch("tree-1");
    objected(&mut world, "unit");
    let dossier = world.dossier();
    assert_eq!(dossier.gates.status(&gate("unit"), dossier.head), GateStatus::Failed);
    assert_eq!(acceptance(dossier), Acceptance::Waiting { gate: gate("unit"), status: GateStatus::Failed });
    assert!(dossier.unexplained.is_some());
    assert_eq!(dossier.gates.records()[0].objections, [Objection::NoTests], "it is kept");
    // The same objection again and again is the same failure again and again.
    let mut trees = 1;
    while world.state.stop_reason().is_none() && trees < 20 {
        trees += 1;
        world.patch(&format!("tree-{trees}"));
        objected(&mut world, "unit");
    }
    assert!(matches!(world.state.stop_reason(), Some(StopReason::BudgetExhausted(_))), "{trees}");
}

// proves E-F02
// break crates/domain/run/src/step/judge.rs: `dossier.pins.rules >= Rules::Guarded && dossier.gates.status(gate, dossier.head) == GateStatus::Flaky` -> `dossier.pins.rules >= Rules::Guarded && dossier.gates.status(gate, dossier.head) == GateStatus::NotRun && false`
#[test]
fn what_failed_and_passed_on_one_digest_is_flaky_and_only_another_digest_gets_past_it() {
    let mut world = World::planned(pins());
    world.patch("tree-1");
    world.gate("unit", 1, "a");
    world.gate("unit", 0, "");
    let head = world.dossier().head;
    assert_eq!(world.dossier().gates.status(&gate("unit"), head), GateStatus::Flaky);
    let again = world.gate("unit", 0, "");
    assert_eq!(denied(&again), Some(DenialCode::GateFlaky));
    assert_eq!(world.dossier().gates.records().len(), 2, "both are kept, and no third one was made");
    assert!(matches!(acceptance(world.dossier()), Acceptance::Waiting { status: GateStatus::Flaky, .. }));
    world.patch("tree-2");
    world.gate("unit", 0, "");
    world.gate("integration", 0, "");
    assert_eq!(world.state.stop_reason(), Some(&StopReason::GatesPassed));

    // A run of earlier rules asks again, and gets nothing by it.
    let mut earlier = World::planned(Pins { rules: Rules::Repeats, ..pins() });
    earlier.patch("tree-1");
    for code in [1, 0] {
        earlier.gate("unit", code, "a");
    }
    assert_eq!(denied(&earlier.gate("unit", 0, "")), None);
    let head = earlier.dossier().head;
    assert_eq!(earlier.dossier().gates.status(&gate("unit"), head), GateStatus::Flaky);
}

fn with_hidden(rules: Rules) -> Pins {
    let mut pins = Pins { rules, ..pins() };
    pins.gates[0].hidden_check = Some(gate("hidden"));
    pins
}

// proves E-F02
// break crates/domain/run/src/step/observe.rs: `draft.push(Event::SandboxRetired { incarnation });` -> `let _ = incarnation;`
#[test]
fn hidden_checks_wait_for_a_life_of_the_sandbox_that_no_call_of_the_agent_saw() {
    let mut world = World::planned(with_hidden(Rules::NEWEST));
    world.patch("tree-1");
    world.gate("unit", 0, "");
    let events = world.gate("integration", 0, "");
    let State::Open(open) = &world.state else { panic!("{:?}", world.state) };
    assert!(events.iter().any(|event| matches!(event, Event::SandboxRetired { .. })), "{events:?}");
    assert!(matches!(&open.stage, Stage::HiddenChecks(_)) && open.sandbox.is_none());
    let effects = pending(&world.state);
    assert!(effects.contains(&Effect::AllocateSandbox { allocation: 2 }), "{effects:?}");
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::CheckHidden(_))), "{effects:?}");
    let mut record = world.dossier().gates.records()[0].clone();
    record.gate = gate("hidden");
    let early = world.tell(Command::ObserveHidden(record.clone()));
    assert_eq!(early, Err(Refusal::NotInFlight), "nothing of it is held, so nothing of it was seen");
    world.allocate();
    assert!(pending(&world.state).iter().any(|effect| matches!(effect, Effect::CheckHidden(_))));
    // A hidden check is objected to like a gate.
    let objected = ambit_run::GateRecord { objections: vec![Objection::NoTests], ..record.clone() };
    let failed = step(&world.state, world.at, Command::ObserveHidden(objected)).unwrap();
    assert!(failed.contains(&Event::Stopping { reason: StopReason::HiddenCheckFailed }), "{failed:?}");
    world.tell(Command::ObserveHidden(record)).unwrap();
    assert_eq!(world.state.stop_reason(), Some(&StopReason::GatesPassed));
    world.close();
    assert_eq!(world.state.phase(), Some(Phase::Completed));

    // A run of earlier rules goes on in the sandbox that it has.
    let mut earlier = World::planned(with_hidden(Rules::Repeats));
    earlier.patch("tree-1");
    earlier.gate("unit", 0, "");
    earlier.gate("integration", 0, "");
    assert!(pending(&earlier.state).iter().any(|effect| matches!(effect, Effect::CheckHidden(_))));
}

// proves E-F02
// break crates/domain/run/src/gate_book.rs: `match here.or(tests.base) {` -> `match tests.base.or(None) {`
#[test]
fn what_a_gate_reports_on_the_base_is_found_out_once() {
    let mut world = World::planned(pins());
    let tally =
        |passed| TestTally { counts: Counts { passed, ..Counts::default() }, report: digest("report") };
    let ran = |world: &mut World, code, tests| {
        let call = world.gate_call("unit");
        world.call(call);
        let seen = world.flight().base_tests;
        let mut record = world.record(Ending::Exited { code }, "a");
        record.tests = tests;
        world.observe(Observation::GateFinished(record));
        seen
    };
    assert_eq!(ran(&mut world, 1, Some(GateTests { own: Some(tally(3)), ..GateTests::default() })), None);
    let artifact = world.dossier().gates.records()[0].artifact;
    world.patch("tree-1");
    let known = Some(BaseTests { artifact, tests: Some(tally(3)) });
    assert_eq!(
        ran(&mut world, 0, Some(GateTests { own: Some(tally(2)), base: known, base_output_bytes: None })),
        known
    );

    // Where it never ran on the base, the first execution beside another tree is remembered.
    let mut world = World::planned(pins());
    world.patch("tree-1");
    let beside = Some(BaseTests { artifact: digest("beside"), tests: Some(tally(5)) });
    assert_eq!(ran(&mut world, 1, Some(GateTests { base: beside, ..GateTests::default() })), None);
    world.patch("tree-2");
    assert_eq!(ran(&mut world, 0, None), beside);
}

// proves E-D07
// break crates/domain/run/src/step/judge.rs: `let base = if runs_on_base(dossier, pin) { one } else { Amounts::default() };` -> `let base = Amounts::default();`
// break crates/domain/run/src/evolve.rs: `let output = ByteCount::new(record.output.get().saturating_add(beside.get()));` -> `let output = record.output;`
#[test]
fn the_execution_on_the_base_is_reserved_and_charged_with_the_one_that_is_asked_for() {
    let reporting = |rules, reports| {
        let mut pins = Pins { rules, ..pins() };
        pins.gates[0].cost = MicroUsd::new(7);
        pins.gates[0].reports = reports;
        pins
    };
    let base = |output| GateTests {
        base: Some(BaseTests { artifact: digest("beside"), tests: None }),
        base_output_bytes: output,
        ..GateTests::default()
    };
    for (reports, executions) in [(true, 2), (false, 1)] {
        let mut world = World::planned(reporting(Rules::NEWEST, reports));
        world.patch("tree-1");
        let before = *world.dossier().ledger.spent();
        let ran = |world: &mut World, output| {
            let call = world.gate_call("unit");
            world.call(call);
            let reserved = world.flight().reserved;
            let mut record = world.record(Ending::Exited { code: 1 }, "a");
            record.tests = reports.then(|| base(output));
            world.observe(Observation::GateFinished(record));
            reserved
        };
        let reserved = ran(&mut world, Some(ByteCount::new(40)));
        assert_eq!((reserved.cost.get(), reserved.output.get()), (7 * executions, 1024 * executions));
        assert_eq!((reserved.processes, reserved.side_effects), (1, 1), "one after the other, for one call");
        let spent = *world.dossier().ledger.spent();
        let output = if reports { 140 } else { 100 };
        assert_eq!(spent.output.get() - before.output.get(), output);
        // Once it is known it costs nothing again.
        world.patch("tree-2");
        assert_eq!(ran(&mut world, None).cost.get(), 7);
    }
    // On the base itself there is only one, and what does not fit twice is not begun.
    let mut world = World::planned(reporting(Rules::NEWEST, true));
    let call = world.gate_call("unit");
    world.call(call);
    assert_eq!(world.flight().reserved.cost.get(), 7);
    let mut tight = reporting(Rules::NEWEST, true);
    tight.limits.output = ByteCount::new(2 * 1024 - 1);
    let mut world = World::planned(tight);
    world.patch("tree-1");
    let call = world.gate_call("unit");
    world.call(call);
    assert_eq!(world.state.stop_reason(), Some(&StopReason::BudgetExhausted(Limit::OutputBytes)));
}
