//! Proposals that were answered before.

use ambit_gates::Ending;
use ambit_policy::Verdict;
use ambit_run::{CallOutcome, Denial, DenialCode, Event, Observation, Pins, Rules};

use crate::world::{CALL_DENIAL, World, decided, denied, digest, patch_call, pins, read_call};

fn denial(events: &[Event]) -> Denial {
    let found = events.iter().find_map(|event| match event {
        Event::CallDecided(decided) => match &decided.outcome {
            CallOutcome::Denied(denial) => Some(denial.clone()),
            _ => None,
        },
        _ => None,
    });
    found.unwrap()
}

#[test]
fn a_call_that_was_denied_is_told_so_when_it_comes_again_and_nothing_has_changed() {
    let mut world = World::planned(pins());
    let foreign = || decided(read_call("src/a.py"), CALL_DENIAL, Vec::new());
    let turn = world.open_turn();
    assert_eq!(denied(&world.call(foreign())), Some(DenialCode::PolicyDenied));
    for _ in 0..2 {
        let again = denial(&world.call(foreign()));
        assert_eq!(again.code, DenialCode::ProposalRepeated);
        assert!(again.detail.contains(&format!("in turn {turn}")), "it names the first: {again}");
        assert!(again.detail.contains("POLICY_DENIED"), "and why: {again}");
        assert_eq!(again.rules.len(), 1, "and by which rule");
    }
    let other = decided(read_call("src/b.py"), CALL_DENIAL, Vec::new());
    assert_eq!(denied(&world.call(other)), Some(DenialCode::PolicyDenied), "another call is none");
    world.patch("tree-1");
    assert_eq!(denied(&world.call(foreign())), Some(DenialCode::PolicyDenied), "nor is one on another tree");
}

#[test]
fn what_was_denied_is_judged_anew_once_something_about_it_has_changed() {
    let mut world = World::ready(pins());
    let tree = world.dossier().head;
    assert_eq!(denied(&world.call(patch_call(tree, "tree-1"))), Some(DenialCode::PlanMissing));
    world.plan(&[("s1", "domain", &["AC-1", "AC-2"])]);
    let mut uncited = patch_call(tree, "tree-1");
    uncited.step = None;
    assert_eq!(denied(&world.call(uncited)), Some(DenialCode::StepUncited));
    let early = || crate::world::gate_call("integration", "key-early");
    assert_eq!(denied(&world.call(early())), Some(DenialCode::GateOutOfOrder));
    world.gate("unit", 0, "");
    assert_eq!(denied(&world.call(early())), None, "the cheaper gate passes now");
    let record = world.record(Ending::Exited { code: 1 }, "here");
    world.observe(Observation::GateFinished(record));
    let patch = || patch_call(tree, "tree-1");
    for _ in 0..2 {
        assert_eq!(denied(&world.call(patch())), Some(DenialCode::HypothesisMissing));
    }
    let mut explained = patch();
    explained.hypothesis = Some("it was not checked".to_owned());
    assert_eq!(denied(&world.call(explained)), None, "the same patch with a cause is another proposal");
}

#[test]
fn a_patch_that_led_to_a_failure_is_not_applied_to_the_same_tree_again() {
    let mut world = World::planned(pins());
    let base = world.dossier().head;
    world.patch("tree-1");
    world.gate("unit", 1, "here");
    let artifact = world.dossier().gates.records()[0].artifact;
    world.patch("tree-0");
    assert_eq!(world.dossier().head, base, "it was undone");
    let again = denial(&world.call(patch_call(base, "tree-1")));
    assert_eq!(again.code, DenialCode::ProposalRepeated);
    assert!(again.detail.contains(&artifact.to_string()), "{again}");
    assert_eq!(denial(&world.call(patch_call(base, "tree-1"))), again, "it stays what it is");
    assert_eq!(denied(&world.call(patch_call(base, "tree-2"))), None, "another patch is applied");
    assert_eq!(world.flight().expected_tree, Some(digest("tree-2")));
}

#[test]
fn a_proposal_that_is_held_back_again_is_no_repeat() {
    let mut world = World::planned(pins());
    let base = world.dossier().head;
    let verdict = Verdict::NeedsApproval(ambit_policy::Capability::DependencyAdd);
    for _ in 0..2 {
        let events = world.call(decided(patch_call(base, "tree-1"), verdict, Vec::new()));
        assert_eq!(denied(&events), None, "{events:?}");
    }
}

#[test]
fn a_run_from_before_repeats_were_told_goes_on_by_the_rules_of_its_admission() {
    let mut world = World::planned(Pins { rules: Rules::First, ..pins() });
    let base = world.dossier().head;
    for _ in 0..2 {
        let foreign = decided(read_call("src/a.py"), CALL_DENIAL, Vec::new());
        assert_eq!(denied(&world.call(foreign)), Some(DenialCode::PolicyDenied));
    }
    world.patch("tree-1");
    world.gate("unit", 1, "here");
    world.patch("tree-0");
    assert_eq!(denied(&world.call(patch_call(base, "tree-1"))), None, "it is applied as it was then");
}
