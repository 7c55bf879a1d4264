//! What the default-like rules answer.

use ambit_blueprint::{ExpectedVerdict, RuleError, ToolRule};
use ambit_ids::Digest;
use ambit_policy::{Capability, DenialKind, Request, ToolName, Verdict};
use ambit_policy_rules::RuleEngine;
use ambit_ports::policy::PolicyEngine as _;

use crate::{
    arguments, asking, bundle, dependency, policy, request, rule_id, unclassified, with_approval,
    without_examples,
};

const PATCH: ToolName = ToolName::ApplyProjectPatch;
const TERMINATING: Verdict = Verdict::Deny(DenialKind::Terminating);

fn engine() -> RuleEngine {
    RuleEngine::new(policy(), &bundle::rules()).unwrap()
}

fn verdict(request: &Request) -> Verdict {
    engine().decide(request).verdict
}

// proves E-H02
// break crates/adapters/policy-rules/src/call.rs: `self.asked.is_some_and(|asked| capabilities.contains(&asked))` -> `self.asked.is_some()`
#[test]
fn each_of_the_twelve_capabilities_is_classified_by_itself() {
    assert_eq!(Capability::ALL.len(), 12);
    for asked in Capability::ALL.iter().copied() {
        let expected = if asked == Capability::DependencyAdd {
            (Verdict::Allow, "permit-asking-for-a-dependency")
        } else {
            (Verdict::Deny(DenialKind::Call), "forbid-asking-for-what-is-prohibited")
        };
        let decision = engine().decide(&asking(asked));
        assert_eq!((decision.verdict, decision.rules), (expected.0, vec![rule_id(expected.1)]), "{asked}");

        // No approval lends its force to another capability, neither to asking for it nor to using it.
        for approved in Capability::ALL.iter().copied() {
            let held = with_approval(asking(asked), approved, arguments());
            assert_eq!(verdict(&held), expected.0, "{asked} with an approval of {approved}");
        }
    }
}

// proves E-H02
// break crates/adapters/policy-rules/src/call.rs: `self.approved == Some(unless.approved)` -> `self.approved.is_some()`
#[test]
fn only_the_approval_of_the_same_capability_lifts_a_rule() {
    let patch = request(PATCH, &[dependency()]);
    assert_eq!(verdict(&patch), Verdict::NeedsApproval(Capability::DependencyAdd));
    for approved in Capability::ALL.iter().copied() {
        let lifted = verdict(&with_approval(patch.clone(), approved, arguments())) == Verdict::Allow;
        assert_eq!(lifted, approved == Capability::DependencyAdd, "{approved}");
    }
}

// proves E-H03
// break crates/adapters/policy-rules/src/call.rs: `approval.subject == request.arguments` -> `approval.subject != request.blueprint`
#[test]
fn an_approval_of_other_arguments_lifts_nothing() {
    let other = with_approval(
        request(PATCH, &[dependency()]),
        Capability::DependencyAdd,
        Digest::of(b"the arguments of another patch"),
    );
    assert_eq!(verdict(&other), Verdict::NeedsApproval(Capability::DependencyAdd));
    let same = with_approval(request(PATCH, &[dependency()]), Capability::DependencyAdd, arguments());
    assert_eq!(verdict(&same), Verdict::Allow);
}

// proves E-H06
// break crates/adapters/policy-rules/src/engine.rs: `if call.is_unclassified() {` -> `if false {`
#[test]
fn what_nobody_can_classify_ends_the_run_whatever_the_bundle_says() {
    let permits: Vec<ToolRule> =
        bundle::rules().into_iter().filter(|rule| rule.id.as_str().starts_with("permit-")).collect();
    let lax = RuleEngine::new(policy(), &permits).unwrap();
    assert_eq!(lax.decide(&request(PATCH, &[])).verdict, Verdict::Allow);
    let decision = lax.decide(&request(PATCH, &[unclassified()]));
    assert_eq!((decision.verdict, &decision.rules), (TERMINATING, &vec![rule_id("pin.unclassified")]));
    assert!(!lax.explain(&decision)[0].why.is_empty());
}

// proves E-H06
// break crates/domain/policy/src/decision.rs: `.map_or(Verdict::Deny(DenialKind::Terminating), |(_, verdict)| verdict);` -> `.map_or(Verdict::Allow, |(_, verdict)| verdict);`
#[test]
fn a_call_that_no_rule_speaks_of_ends_the_run() {
    let decision = engine().decide(&request(ToolName::RunNamedGate, &[]));
    assert_eq!((decision.verdict, decision.rules), (TERMINATING, Vec::new()));
    let nothing_asked = request(ToolName::RequestScopedApproval, &[]);
    assert_eq!(verdict(&nothing_asked), TERMINATING);
    assert_eq!(
        RuleEngine::new(policy(), &[]).unwrap().decide(&asking(Capability::Deploy)).verdict,
        TERMINATING
    );
}

#[test]
fn a_request_that_is_pinned_to_another_bundle_ends_the_run() {
    let foreign = Request { policy: Digest::of(b"another bundle"), ..request(PATCH, &[]) };
    let decision = engine().decide(&foreign);
    assert_eq!((decision.verdict, decision.rules), (TERMINATING, vec![rule_id("pin.policy-digest")]));
    assert_eq!(verdict(&request(PATCH, &[])), Verdict::Allow);
}

#[test]
fn a_decision_names_its_input_and_its_reasons() {
    let asked = request(PATCH, &[dependency()]);
    let decision = engine().decide(&asked);
    assert_eq!(decision.input, asked.to_canonical().unwrap().digest());
    assert_ne!(decision.input, engine().decide(&request(PATCH, &[])).input);
    let told = engine().explain(&decision);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].rule, rule_id("require-approval-of-dependency"));
    assert_eq!(told[0].why, "why of require-approval-of-dependency");
    assert_eq!(told[0].instead.as_deref(), Some("instead of require-approval-of-dependency"));
}

#[test]
fn a_bundle_whose_example_does_not_come_out_is_refused() {
    let mut rules = bundle::rules();
    let forbidden = rules.iter_mut().find(|rule| rule.id.as_str() == "forbid-leaving-scope").unwrap();
    forbidden.examples[1].expect = ExpectedVerdict::DenyCall;
    let error = RuleEngine::new(policy(), &rules).unwrap_err();
    assert_eq!(error.code(), "POLICY_EXAMPLE_FAILS");
    assert_eq!(
        error,
        RuleError::ExampleFails {
            rule: rule_id("forbid-leaving-scope"),
            number: 2,
            expected: ExpectedVerdict::DenyCall,
            found: ExpectedVerdict::DenyTerminating,
            by: vec![rule_id("forbid-protected-path")],
        }
    );

    let without_forbid: Vec<ToolRule> =
        bundle::rules().into_iter().filter(|rule| rule.id.as_str() != "forbid-protected-path").collect();
    assert!(matches!(RuleEngine::new(policy(), &without_forbid), Err(RuleError::ExampleFails { .. })));
}

#[test]
fn a_bundle_that_is_none_is_refused() {
    let first = || bundle::rules().remove(0);
    let cases = [
        (vec![first(), first()], "POLICY_RULE_DUPLICATE"),
        (vec![ToolRule { id: rule_id("pin.policy-digest"), ..first() }], "POLICY_RULE_RESERVED"),
        (vec![ToolRule { tools: Vec::new(), ..first() }], "POLICY_RULE_WITHOUT_TOOL"),
        (vec![without_examples(first())], "POLICY_RULE_WITHOUT_EXAMPLE"),
    ];
    for (rules, code) in cases {
        assert_eq!(RuleEngine::new(policy(), &rules).unwrap_err().code(), code);
    }
    assert!(RuleEngine::new(policy(), &[first()]).is_ok());
}
