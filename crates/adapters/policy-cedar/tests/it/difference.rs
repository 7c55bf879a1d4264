//! What one bundle lets through that another does not.

use ambit_blueprint::{ExpectedVerdict, RuleCondition, ToolRule};
use ambit_conformance::policy::sample::{Chance, any_request, any_rules, policy};
use ambit_conformance::policy::{freedom, reference};
use ambit_policy::{Answer, DenialKind, FactKind, ToolName};
use ambit_policy_cedar::{CedarEngine, Difference, Side, differences};

use crate::table::rules;

fn engine(rules: &[ToolRule]) -> CedarEngine {
    CedarEngine::new(policy(), rules).unwrap()
}

fn between(old: &[ToolRule], new: &[ToolRule]) -> Vec<Difference> {
    let (before, after) = (engine(old), engine(new));
    differences(Side { rules: old, engine: &before }, Side { rules: new, engine: &after }).unwrap()
}

#[test]
fn a_bundle_differs_in_nothing_from_itself() {
    assert_eq!(between(&rules(), &rules()), Vec::new());
}

#[test]
fn a_forbid_that_is_taken_out_is_a_widening_one_way_and_a_narrowing_the_other() {
    let rest: Vec<ToolRule> =
        rules().into_iter().filter(|rule| rule.id.as_str() != "forbid-leaving-scope").collect();
    let found = between(&rules(), &rest);
    assert!(found.iter().all(|difference| difference.widens), "{found:#?}");
    let first = &found[0];
    assert_eq!((first.call.tool, first.call.facts.len()), (ToolName::ApplyProjectPatch, 1));
    assert_eq!(first.call.facts[0].kind(), FactKind::ScopeLeft);
    assert_eq!((first.was, first.call.expect), (ExpectedVerdict::DenyCall, ExpectedVerdict::Allow));
    assert_eq!(first.was_by[0].as_str(), "forbid-leaving-scope");
    assert!(between(&rest, &rules()).iter().all(|difference| !difference.widens));
}

#[test]
fn a_rule_that_ends_the_run_no_more_is_a_widening() {
    let mut milder = rules();
    let rule = milder.iter_mut().find(|rule| rule.id.as_str() == "forbid-test-detection").unwrap();
    rule.answer = Answer::Forbid(DenialKind::Call);
    rule.examples[0].expect = ExpectedVerdict::DenyCall;
    let found = between(&rules(), &milder);
    assert!(found.iter().any(|difference| difference.widens), "{found:#?}");
}

/// Whatever random call the new rules let further through than the old ones, a widening was told.
#[test]
fn no_widening_goes_untold() {
    let mut chance = Chance::new(11);
    let mut widened = 0;
    for _ in 0..12 {
        let (mut old, mut new) = (any_rules(&mut chance), any_rules(&mut chance));
        // One tool and no condition on what is asked, so that random calls meet the rules often.
        for rule in old.iter_mut().chain(&mut new) {
            rule.tools = vec![ToolName::ApplyProjectPatch];
            if matches!(rule.when, RuleCondition::Asked(_)) {
                rule.when = RuleCondition::AnyFact(vec![FactKind::ScopeLeft]);
            }
        }
        let told = between(&old, &new);
        for _ in 0..200 {
            let mut request = any_request(&mut chance);
            (request.tool, request.asked) = (ToolName::ApplyProjectPatch, None);
            request
                .facts
                .retain(|fact| !matches!(fact.kind(), FactKind::Unclassified | FactKind::ForeignProject));
            let (before, after) = (reference(&old, &request).0, reference(&new, &request).0);
            if freedom(after) > freedom(before) {
                widened += 1;
                assert!(told.iter().any(|difference| difference.widens), "{request:#?}");
            }
        }
    }
    assert!(widened > 50, "{widened} calls let further through");
}
