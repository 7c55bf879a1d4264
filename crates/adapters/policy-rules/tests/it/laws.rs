//! What holds for any rules and any request.

use ambit_blueprint::{ExpectedVerdict, RuleCondition, RuleExample, RuleException, ToolRule};
use ambit_ids::Excerpt;
use ambit_policy::{
    Answer, Capability, DenialKind, Fact, FactKind, Request, Side, ToolName, Verdict, Weakening,
};
use ambit_policy_rules::RuleEngine;
use ambit_ports::policy::PolicyEngine as _;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::{arguments, dependency, policy, request, rule_id, unclassified, with_approval};

fn fact(kind: FactKind) -> Fact {
    let path = "tests/test_a.py".parse().unwrap();
    match kind {
        FactKind::ProtectedPathTouched => Fact::ProtectedPathTouched { path },
        FactKind::AssertionCountFell => Fact::AssertionCountFell { path, before: 2, after: 1 },
        FactKind::SkipMarkerAdded => Fact::SkipMarkerAdded { path, line: 1, marker: "skip".to_owned() },
        FactKind::DependencyAdded => dependency(),
        FactKind::ScopeLeft => Fact::ScopeLeft { path },
        FactKind::ForeignProject => Fact::ForeignProject { project: "ledger".parse().unwrap() },
        FactKind::GateNotGranted => Fact::GateNotGranted { gate: "deploy".parse().unwrap() },
        FactKind::Unclassified => unclassified(),
        weakening => {
            let (was, is) = (Excerpt::of("assert 1"), Excerpt::default());
            Weakening { path, line: 1, side: Side::Before, was, is }.told_as(weakening).unwrap()
        }
    }
}

fn any_answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        Just(Answer::Permit),
        select(Capability::ALL).prop_map(Answer::RequireApproval),
        select(DenialKind::ALL).prop_map(Answer::Forbid),
    ]
}

fn any_condition() -> impl Strategy<Value = RuleCondition> {
    prop_oneof![
        Just(RuleCondition::Always),
        subsequence(FactKind::ALL, 1..4).prop_map(RuleCondition::AnyFact),
        subsequence(Capability::ALL, 1..6).prop_map(RuleCondition::Asked),
    ]
}

/// A rule whose only example is one that always comes out: a call that cannot be classified.
fn any_rule() -> impl Strategy<Value = ToolRule> {
    let unless = prop::option::of(select(Capability::ALL));
    let on = subsequence(ToolName::ALL, 1..=ToolName::ALL.len());
    (any_answer(), on, any_condition(), unless).prop_map(|(answer, tools, when, approved)| ToolRule {
        id: rule_id("placeholder"),
        answer,
        tools,
        when,
        unless: approved.map(|approved| RuleException { approved }),
        why: String::new(),
        instead: None,
        examples: vec![RuleExample {
            tool: ToolName::ApplyProjectPatch,
            facts: vec![unclassified()],
            asked: None,
            approved: None,
            expect: ExpectedVerdict::DenyTerminating,
        }],
    })
}

fn any_rules() -> impl Strategy<Value = Vec<ToolRule>> {
    prop::collection::vec(any_rule(), 0..10).prop_map(|rules| {
        let numbered = rules.into_iter().enumerate();
        numbered.map(|(at, rule)| ToolRule { id: rule_id(&format!("rule-{at}")), ..rule }).collect()
    })
}

fn any_request() -> impl Strategy<Value = Request> {
    let facts = subsequence(&FactKind::ALL[..7], 0..3);
    let (asked, approved) =
        (prop::option::of(select(Capability::ALL)), prop::option::of(select(Capability::ALL)));
    (select(ToolName::ALL), facts, asked, approved).prop_map(|(tool, kinds, asked, approved)| {
        let facts: Vec<Fact> = kinds.into_iter().map(fact).collect();
        let plain = Request { asked, ..request(tool, &facts) };
        match approved {
            Some(capability) => with_approval(plain, capability, arguments()),
            None => plain,
        }
    })
}

/// How much a verdict lets through.
fn freedom(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Deny(DenialKind::Terminating) => 0,
        Verdict::Deny(DenialKind::Call) => 1,
        Verdict::NeedsApproval(_) => 2,
        Verdict::Allow => 3,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_the_rules_changes_nothing(
        (rules, shuffled) in any_rules().prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle())),
        request in any_request(),
    ) {
        let (one, other) = (RuleEngine::new(policy(), &rules).unwrap(), RuleEngine::new(policy(), &shuffled).unwrap());
        prop_assert_eq!(one.decide(&request), other.decide(&request));
        prop_assert_eq!(one.decide(&request), one.decide(&request));
    }

    #[test]
    fn one_more_forbid_never_frees_a_call(
        rules in any_rules(),
        forbid in any_rule(),
        kind in select(DenialKind::ALL),
        request in any_request(),
    ) {
        let before = RuleEngine::new(policy(), &rules).unwrap().decide(&request).verdict;
        let mut more = rules;
        more.push(ToolRule { id: rule_id("one-more"), answer: Answer::Forbid(kind), ..forbid });
        let after = RuleEngine::new(policy(), &more).unwrap().decide(&request).verdict;
        // Where no rule spoke before, a denial of the call is milder than the silence was, and still a denial.
        prop_assert!(freedom(after) <= freedom(before).max(1), "{before:?} became {after:?}");
    }

    #[test]
    fn a_decision_cites_rules_of_the_bundle_and_explains_each(rules in any_rules(), request in any_request()) {
        let engine = RuleEngine::new(policy(), &rules).unwrap();
        let decision = engine.decide(&request);
        prop_assert_eq!(engine.explain(&decision).len(), decision.rules.len());
        prop_assert!(decision.rules.iter().all(|id| rules.iter().any(|rule| rule.id == *id)));
        prop_assert!(!decision.rules.is_empty() || decision.verdict == Verdict::Deny(DenialKind::Terminating));
    }
}
