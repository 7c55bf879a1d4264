//! What every engine answers to the same rules, and what Cedar denies besides.

use ambit_conformance::policy::sample::{Chance, any_request, any_rules, policy};
use ambit_conformance::policy::{is_built_in, suite};
use ambit_policy::FactKind;
use ambit_policy_cedar::CedarEngine;
use ambit_policy_rules::RuleEngine;
use ambit_ports::policy::PolicyEngine as _;

// proves E-H06
// break crates/adapters/policy-cedar/src/compile.rs: `context.approval.subject == context.arguments` -> `context has arguments`
#[test]
fn the_engine_answers_as_every_engine_does() {
    suite(|policy, rules| CedarEngine::new(policy, rules).map_err(|error| error.code().to_owned()));
}

/// Where the standing forbids have nothing to say, both engines answer alike to the last rule.
#[test]
fn both_engines_answer_alike_except_where_a_standing_forbid_denies() {
    let mut chance = Chance::new(7);
    let (mut alike, mut denied) = (0, 0);
    for _ in 0..24 {
        let rules = any_rules(&mut chance);
        let (cedar, plain) =
            (CedarEngine::new(policy(), &rules).unwrap(), RuleEngine::new(policy(), &rules).unwrap());
        for _ in 0..48 {
            let request = any_request(&mut chance);
            let (one, other) = (cedar.decide(&request), plain.decide(&request));
            let foreign = request.facts.iter().any(|fact| fact.kind() == FactKind::ForeignProject);
            let beyond = request.asked.is_some_and(|asked| !asked.is_approvable());
            if foreign || beyond {
                assert!(matches!(one.verdict, ambit_policy::Verdict::Deny(_)), "{request:#?}");
                denied += usize::from(one.rules.iter().any(is_built_in));
            } else {
                assert_eq!((one.verdict, one.rules), (other.verdict, other.rules), "{request:#?}");
                alike += 1;
            }
        }
    }
    assert!(alike > 400 && denied > 50, "{alike} alike, {denied} denied by a standing forbid");
}

/// Choosing the policies that can apply changes nothing about what they answer.
#[test]
fn the_policies_that_are_chosen_answer_as_all_of_them_do() {
    let mut chance = Chance::new(3);
    let (mut chosen, mut all) = (0, 0);
    for _ in 0..16 {
        let engine = CedarEngine::new(policy(), &any_rules(&mut chance)).unwrap();
        for _ in 0..48 {
            let request = any_request(&mut chance);
            assert_eq!(engine.decide(&request), engine.decide_by_all(&request), "{request:#?}");
            (chosen, all) = (chosen + engine.handed(&request), all + engine.policies());
        }
    }
    assert!(chosen < all, "{chosen} of {all} policies were chosen");
}
