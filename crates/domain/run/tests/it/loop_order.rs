use ambit_gates::Ending;
use ambit_ids::GateId;
use ambit_policy::ToolName;
use ambit_run::{
    CallOutcome, Command, Denial, DenialCode, Effect, Event, GateStatus, Observation, Phase, Proposal,
    Refusal, State, acceptance, pending,
};

use crate::world::{
    CALL_DENIAL, END, World, decided, denied, digest, gate_call, intended, patch_call, pins, read_call,
    read_observation,
};

// proves E-B02
// break crates/domain/run/src/phase.rs: `NeedsApproval = "needs-approval",` -> `NeedsApproval = "waiting",`
#[test]
fn there_are_exactly_the_eight_phases_and_three_of_them_are_final() {
    let words: Vec<&str> = Phase::ALL.iter().map(|phase| phase.as_str()).collect();
    assert_eq!(
        words,
        ["queued", "planning", "editing", "checking", "needs-approval", "completed", "failed", "cancelled"]
    );
    let last: Vec<&str> =
        Phase::ALL.iter().filter(|phase| phase.is_terminal()).map(|phase| phase.as_str()).collect();
    assert_eq!(last, ["completed", "failed", "cancelled"]);
}

// proves E-C01 E-C06 E-C11 E-F11
// break crates/domain/run/src/acceptance.rs: `.find(|(_, status)| *status != GateStatus::Passed)` -> `.find(|(_, status)| *status == GateStatus::Failed)`
#[test]
fn a_run_goes_plan_patch_gate_by_gate_to_completed() {
    let mut world = World::admitted(pins());
    assert_eq!(world.phase(), Phase::Queued);
    world.allocate();
    assert_eq!(world.phase(), Phase::Planning);
    world.plan(&[("s1", "domain", &["AC-1", "AC-2"])]);
    assert_eq!(world.phase(), Phase::Editing);
    world.patch("tree-1");
    assert_eq!(world.dossier().head, digest("tree-1"));
    let gate = world.gate_call("unit");
    world.call(gate);
    assert_eq!(world.phase(), Phase::Checking);
    let record = world.record(Ending::Exited { code: 0 }, "");
    assert_eq!(record.tree, digest("tree-1"), "a gate attests exactly the current tree");
    world.observe(Observation::GateFinished(record));
    assert_eq!(world.phase(), Phase::Editing, "one gate of two is no acceptance");
    world.gate("integration", 0, "");
    assert_eq!(world.stop_code(), Some("gates-passed"));
    world.close();
    assert_eq!(world.phase(), Phase::Completed);
    assert!(matches!(world.events.last(), Some(Event::Ended { phase: Phase::Completed, .. })));
}

// proves E-C01
// break crates/domain/run/src/step/propose.rs: `CallOutcome::Denied(_) | CallOutcome::Held(_) | CallOutcome::Replayed(_) => draft.open_next_turn(),` -> `CallOutcome::Denied(_) | CallOutcome::Held(_) | CallOutcome::Replayed(_) => {}`
#[test]
fn every_proposal_has_one_decision_and_every_performed_call_one_observation_before_the_next() {
    let mut world = World::planned(pins());
    world.patch("tree-1");
    world.call(decided(read_call("x"), CALL_DENIAL, Vec::new()));
    world.gate("unit", 1, "here");
    world.patch("tree-2");
    let mut open = false;
    let mut decisions = 0;
    for event in &world.events {
        match event {
            Event::CallDecided(decided) => {
                assert!(!open, "a decision while a call is in flight");
                decisions += 1;
                open = decided.outcome == CallOutcome::Perform;
            }
            Event::CallObserved { .. } => {
                assert!(open, "an observation of nothing");
                open = false;
            }
            Event::TurnOpened { .. } => assert!(!open, "a turn while a call is in flight"),
            _ => {}
        }
    }
    assert_eq!(decisions, 4);
    assert_eq!(world.open_turn(), 6, "each proposal took one turn, and the next is open");
}

// proves E-C02
// break crates/domain/run/src/plan.rs: `if cases.is_empty() {` -> `if false {`
#[test]
fn plan_step_without_case_rejected() {
    let mut world = World::ready(pins());
    assert_eq!(denied(&world.plan(&[("s1", "domain", &[])])), Some(DenialCode::StepUncited));
    assert_eq!(denied(&world.plan(&[("s1", "domain", &["AC-9"])])), Some(DenialCode::CaseUnknown));
    assert_eq!(denied(&world.plan(&[])), Some(DenialCode::PlanEmpty));
    assert_eq!(
        denied(&world.plan(&[("s1", "domain", &["AC-1"]), ("s1", "tests", &["AC-1"])])),
        Some(DenialCode::PlanStepRepeated)
    );
    assert_eq!(world.phase(), Phase::Planning);
    assert_eq!(denied(&world.plan(&[("s1", "domain", &["AC-1"])])), None);
    assert_eq!(world.phase(), Phase::Editing);
}

// proves E-C03
// break crates/domain/run/src/plan.rs: `if !scope.contains(work) {` -> `if false {`
#[test]
fn work_outside_the_scope_is_refused_by_its_word() {
    for word in ["notification", "analytics", "identity", "connector", "deployment", ""] {
        let mut world = World::ready(pins());
        let events = world.plan(&[("s1", "domain", &["AC-1"]), ("s2", word, &["AC-1"])]);
        assert_eq!(denied(&events), Some(DenialCode::WorkOutOfScope), "{word}");
        assert!(world.dossier().plan.is_none(), "a plan is accepted whole or not at all");
    }
}

// proves E-C04
// break crates/domain/run/src/step/propose.rs: `draft.push(Event::ProposalDenied { turn, answer, was_plan: false, denial });` -> `let _ = (answer, denial);`
#[test]
fn what_is_no_proposal_is_denied_recorded_and_costs_a_turn() {
    let mut world = World::planned(pins());
    let before = world.dossier().turns;
    let events = world.answer(Proposal::Unusable(Denial::new(DenialCode::AnswerMalformed, "prose")));
    assert_eq!(denied(&events), Some(DenialCode::AnswerMalformed));
    assert_eq!(world.dossier().turns, before + 1);
    assert_eq!(world.dossier().denials, 1);
}

// proves E-C04
// break crates/domain/run/src/step/judge.rs: `if has_effect && dossier.plan.is_none() {` -> `if false {`
#[test]
fn nothing_is_changed_before_a_plan_but_reading_is_possible() {
    let mut world = World::ready(pins());
    assert_eq!(denied(&world.call(patch_call(digest("tree-0"), "tree-1"))), Some(DenialCode::PlanMissing));
    assert_eq!(denied(&world.call(gate_call("unit", "k"))), Some(DenialCode::PlanMissing));
    let events = world.call(read_call("a.py"));
    assert_eq!(intended(&events, ToolName::ReadProjectFile), 1);
    world.observe(read_observation("a.py"));
    assert_eq!(world.phase(), Phase::Planning);
}

// proves E-C05
// break crates/domain/run/src/step/judge.rs: `if expected != dossier.head {` -> `if false {`
#[test]
fn a_patch_against_another_base_is_a_conflict_and_changes_nothing() {
    let mut world = World::planned(pins());
    world.patch("tree-1");
    let mut stale = patch_call(digest("tree-0"), "tree-2");
    if let ambit_run::Finding::Patch(finding) = &mut stale.finding {
        finding.base = digest("tree-1");
    }
    let events = world.call(stale);
    assert_eq!(denied(&events), Some(DenialCode::BaseConflict));
    assert_eq!(world.dossier().head, digest("tree-1"));
    let fitting = world.patch_call("tree-2");
    assert_eq!(denied(&world.call(fitting)), None);
}

// proves E-C05
// break crates/domain/run/src/step/judge.rs: `Finding::Patch(finding) if finding.base == dossier.head => Ok(()),` -> `Finding::Patch(_) => Ok(()),`
#[test]
fn an_assessment_of_another_tree_than_the_current_one_is_a_conflict() {
    let mut world = World::planned(pins());
    let mut call = world.patch_call("tree-1");
    if let ambit_run::Finding::Patch(finding) = &mut call.finding {
        finding.base = digest("another tree");
    }
    assert_eq!(denied(&world.call(call)), Some(DenialCode::BaseConflict));
}

#[test]
fn a_patch_cites_a_step_of_the_plan() {
    let mut world = World::planned(pins());
    let mut uncited = world.patch_call("tree-1");
    uncited.step = None;
    assert_eq!(denied(&world.call(uncited)), Some(DenialCode::StepUncited));
    let mut unknown = world.patch_call("tree-1");
    unknown.step = Some("s9".parse().unwrap());
    assert_eq!(denied(&world.call(unknown)), Some(DenialCode::StepUnknown));
}

// proves E-C06
// break crates/domain/run/src/step/judge.rs: `.find(|pin| dossier.gates.status(&pin.id, dossier.head) != GateStatus::Passed);` -> `.find(|_| false);`
#[test]
fn a_dearer_gate_waits_for_the_cheaper_one_on_the_current_digest() {
    let mut world = World::planned(pins());
    world.patch("tree-1");
    let early = world.gate_call("integration");
    assert_eq!(denied(&world.call(early)), Some(DenialCode::GateOutOfOrder));
    world.gate("unit", 0, "");
    world.gate("integration", 1, "there");
    world.patch("tree-2");
    let stale = world.gate_call("integration");
    assert_eq!(denied(&world.call(stale)), Some(DenialCode::GateOutOfOrder), "unit passed on another digest");
}

#[test]
fn a_cheaper_gate_that_checks_no_case_of_the_plan_is_not_relevant() {
    let mut world = World::ready(pins());
    world.plan(&[("s1", "domain", &["AC-2"])]);
    world.patch("tree-1");
    let call = world.gate_call("integration");
    assert_eq!(denied(&world.call(call)), None);
}

// proves E-C07 E-F09
// break crates/domain/run/src/step/judge.rs: `Some(failed) if hypothesis.is_none_or(|text| text.trim().is_empty()) =>` -> `Some(failed) if hypothesis.is_none_or(|text| text.trim().is_empty()) && false =>`
#[test]
fn after_a_failure_a_patch_needs_a_hypothesis_and_the_failure_is_kept() {
    let mut world = World::planned(pins());
    world.patch("tree-1");
    world.gate("unit", 1, "duplicate event");
    for empty in [None, Some(String::new()), Some("  \n".to_owned())] {
        let mut call = world.patch_call("tree-2");
        call.hypothesis = empty;
        assert_eq!(denied(&world.call(call)), Some(DenialCode::HypothesisMissing));
    }
    let events = world.patch("tree-2");
    let hypothesis =
        events.iter().position(|event| matches!(event, Event::HypothesisRecorded { attempt: 1, .. }));
    let intent = events.iter().position(|event| matches!(event, Event::CallDecided(_)));
    assert!(hypothesis.unwrap() < intent.unwrap(), "the hypothesis is recorded before the intent");
    world.gate("unit", 0, "");
    let first = &world.dossier().gates.records()[0];
    assert_eq!((first.attempt, first.ending), (1, Ending::Exited { code: 1 }), "the first failure stays");
    let plain = world.patch_call("tree-3");
    assert_eq!(denied(&world.call(plain)), None, "after a pass no hypothesis is asked for");
}

// proves E-F10
// break crates/domain/run/src/gate_book.rs: `u32::try_from(attempts).unwrap_or(u32::MAX).saturating_add(1)` -> `u32::try_from(attempts).unwrap_or(u32::MAX).max(1)`
#[test]
fn the_same_gate_runs_again_after_a_correction_as_its_next_attempt() {
    let mut world = World::planned(pins());
    world.patch("tree-1");
    world.gate("unit", 1, "here");
    world.patch("tree-2");
    world.gate("unit", 0, "");
    let attempts: Vec<_> = world
        .dossier()
        .gates
        .records()
        .iter()
        .map(|record| (record.attempt, record.ending.is_success()))
        .collect();
    assert_eq!(attempts, [(1, false), (2, true)]);
}

// proves E-C08 E-C09 E-B07
// break crates/domain/run/src/step/judge.rs: `if decision.verdict == Verdict::Deny(DenialKind::Terminating) {` -> `if false {`
#[test]
fn a_denial_that_ends_the_run_ends_it_without_an_effect_and_names_its_rule() {
    let mut world = World::planned(pins());
    let call = decided(world.patch_call("tree-1"), END, Vec::new());
    let events = world.call(call);
    assert_eq!(intended(&events, ToolName::ApplyProjectPatch), 0);
    assert_eq!(world.stop_code(), Some("policy-denied"));
    assert_eq!(world.state.stop_reason().unwrap().to_string(), "policy-denied (a.rule)");
    world.close();
    assert_eq!(world.phase(), Phase::Failed);
    assert_eq!(world.dossier().head, digest("tree-0"));
}

// proves E-C08
// break crates/domain/run/src/step/judge.rs: `.by(&decision.rules)` -> `.by(&[])`
#[test]
fn a_denial_of_one_call_is_an_observation_with_its_rule_and_the_run_goes_on() {
    let mut world = World::planned(pins());
    let call = decided(world.patch_call("tree-1"), CALL_DENIAL, Vec::new());
    let events = world.call(call);
    let rules = events.iter().find_map(|event| match event {
        Event::CallDecided(decided) => match &decided.outcome {
            CallOutcome::Denied(denial) => Some(denial.rules.len()),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(rules, Some(1));
    assert_eq!(world.phase(), Phase::Editing);
}

// proves E-C10 E-F02 E-F03
// break crates/domain/run/src/gate_book.rs: `.filter(|record| record.gate == *gate && record.tree == tree)` -> `.filter(|record| record.gate == *gate && (record.tree == tree || true))`
#[test]
fn a_pass_on_an_earlier_digest_is_stale_and_accepts_nothing() {
    let mut world = World::planned(pins());
    world.patch("tree-1");
    world.gate("unit", 0, "");
    world.patch("tree-2");
    assert_eq!(
        acceptance(world.dossier()),
        ambit_run::Acceptance::Waiting { gate: GateId::new("unit").unwrap(), status: GateStatus::NotRun }
    );
    world.gate("unit", 0, "");
    world.gate("integration", 0, "");
    assert_eq!(world.stop_code(), Some("gates-passed"));
}

#[test]
fn a_gate_that_fails_and_passes_on_one_digest_is_flaky_and_no_pass() {
    let mut world = World::planned(pins());
    world.patch("tree-1");
    world.gate("unit", 1, "here");
    world.gate("unit", 0, "");
    let unit = GateId::new("unit").unwrap();
    assert_eq!(world.dossier().gates.status(&unit, digest("tree-1")), GateStatus::Flaky);
    let next = world.gate_call("integration");
    assert_eq!(denied(&world.call(next)), Some(DenialCode::GateOutOfOrder));
}

// proves E-C10
// break crates/domain/run/src/acceptance.rs: `None if dossier.patches.is_empty() => Acceptance::NothingChanged,` -> `None if false => Acceptance::NothingChanged,`
#[test]
fn gates_that_pass_on_the_unchanged_base_complete_nothing() {
    let mut world = World::planned(pins());
    world.gate("unit", 0, "");
    world.gate("integration", 0, "");
    assert_eq!(world.stop_code(), None);
    assert_eq!(world.phase(), Phase::Editing);
}

// proves E-D12 E-E04
// break crates/domain/run/src/step/judge.rs: `return if record.gate == *gate && record.tree == dossier.head {` -> `return if false {`
#[test]
fn a_repeated_key_answers_the_original_execution_and_runs_nothing() {
    let mut world = World::planned(pins());
    world.patch("tree-1");
    world.call(gate_call("unit", "same"));
    let record = world.record(Ending::Exited { code: 1 }, "here");
    world.observe(Observation::GateFinished(record.clone()));
    let events = world.call(gate_call("unit", "same"));
    assert_eq!(intended(&events, ToolName::RunNamedGate), 0);
    assert!(events.iter().any(|event| matches!(event, Event::CallDecided(decided)
        if decided.outcome == CallOutcome::Replayed(Box::new(Observation::GateFinished(record.clone()))))));
    world.patch("tree-2");
    assert_eq!(denied(&world.call(gate_call("unit", "same"))), Some(DenialCode::IdempotencyConflict));
}

// proves E-D12
// break crates/domain/run/src/step/judge.rs: `Some(applied) => Fit::Repeated(Box::new(Observation::PatchApplied(applied.clone()))),` -> `Some(_) => Fit::Denied(conflict(expected, dossier.head)),`
#[test]
fn a_patch_that_was_applied_answers_its_original_effect() {
    let mut world = World::planned(pins());
    let call = world.patch_call("tree-1");
    world.call(call.clone());
    world.apply();
    let events = world.call(call);
    assert_eq!(intended(&events, ToolName::ApplyProjectPatch), 0);
    assert!(events.iter().any(|event| matches!(event, Event::CallDecided(decided)
        if matches!(decided.outcome, CallOutcome::Replayed(_)))));
    assert_eq!(world.dossier().patches.len(), 1);
}

// proves E-D12
// break crates/domain/run/src/step/judge.rs: `    if expected != dossier.head {` -> `    if expected != dossier.head || dossier.patches.iter().any(|it| it.base == expected) {`
#[test]
fn a_patch_that_was_undone_is_applied_anew() {
    let mut world = World::planned(pins());
    for tree in ["tree-1", "tree-2", "tree-1", "tree-2"] {
        let events = world.patch(tree);
        assert_eq!(intended(&events, ToolName::ApplyProjectPatch), 1, "{tree}");
        assert_eq!(world.dossier().head, digest(tree));
    }
    assert_eq!(world.dossier().patches.len(), 4);
}

// proves E-N04 E-A17
// break crates/domain/run/src/step/start.rs: `if !pins.stage.is_actionable() {` -> `if false {`
#[test]
fn only_the_generate_stage_is_admitted_and_completing_it_asks_for_nothing_more() {
    use ambit_policy::LifecycleStage;
    for stage in LifecycleStage::ALL.iter().filter(|stage| **stage != LifecycleStage::Generate) {
        let mut pins = pins();
        pins.stage = *stage;
        let refused = ambit_run::step(&State::Vacant, crate::world::START, Command::Admit(Box::new(pins)));
        assert_eq!(refused, Err(Refusal::StageNotActionable), "{stage}");
    }
    let mut world = World::planned(pins());
    world.patch("tree-1");
    world.gate("unit", 0, "");
    world.gate("integration", 0, "");
    world.close();
    assert_eq!(pending(&world.state), Vec::<Effect>::new());
}

// proves E-F08
// break crates/domain/run/src/step/observe.rs: `record.gate == *gate_id` -> `(record.gate == *gate_id || true)`
#[test]
fn an_observation_of_another_gate_or_tree_is_never_taken_for_the_one_in_flight() {
    let mut world = World::planned(pins());
    world.patch("tree-1");
    let call = world.gate_call("unit");
    world.call(call);
    let mut forged = world.record(Ending::Exited { code: 0 }, "");
    forged.gate = GateId::new("integration").unwrap();
    let events = world.observe(Observation::GateFinished(forged));
    assert!(matches!(&events[0], Event::CallObserved { observation: Observation::Failed { code }, .. }
        if code == "OBSERVATION_MISMATCH"));
    assert!(world.dossier().gates.records().is_empty());
    assert_eq!(world.stop_code(), Some("infrastructure-failure"));
}
