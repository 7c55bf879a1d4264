//! The rules that come with Ambit, decided by the engine that loads them.

use ambit_blueprint::{PolicyBundle, builtin};
use ambit_ids::Digest;
use ambit_policy::{Capability, DenialKind, Fact, Request, ToolName, Verdict};
use ambit_policy_rules::RuleEngine;
use ambit_ports::policy::PolicyEngine as _;

use crate::{arguments, asking, dependency, request, rule_id, unclassified, with_approval};

/// The engine of the bundle, and the digest that a run is pinned to.
fn engine() -> (RuleEngine, Digest) {
    let bundle = PolicyBundle::parse("rules.yaml", builtin::GENERATION_TOOLS_V2.text.as_bytes()).unwrap();
    let digest = bundle.digest().unwrap();
    (RuleEngine::new(digest, bundle.tool_rules().unwrap()).unwrap(), digest)
}

fn decided(plain: Request) -> (Verdict, Vec<String>) {
    let (engine, policy) = engine();
    let decision = engine.decide(&Request { policy, ..plain });
    (decision.verdict, decision.rules.iter().map(ToString::to_string).collect())
}

// proves E-H02
// break documents/policies/generation-tools-v2.yaml: `- message.external` -> `# message.external`
#[test]
fn the_built_in_bundle_loads_and_classifies_each_of_the_twelve_capabilities() {
    assert_eq!(Capability::ALL.len(), 12);
    for asked in Capability::ALL.iter().copied() {
        let (verdict, rule) = match asked {
            Capability::DependencyAdd => (Verdict::Allow, "permit-asking-for-a-dependency"),
            Capability::CheckSilence => (Verdict::Allow, "permit-asking-for-a-silenced-check"),
            _ => (Verdict::Deny(DenialKind::Call), "forbid-asking-for-what-is-prohibited"),
        };
        assert_eq!(decided(asking(asked)), (verdict, vec![rule.to_owned()]), "{asked}");
    }
}

#[test]
fn the_built_in_bundle_holds_back_a_dependency_until_it_is_approved() {
    let patch = request(ToolName::ApplyProjectPatch, &[dependency()]);
    assert_eq!(decided(patch.clone()).0, Verdict::NeedsApproval(Capability::DependencyAdd));
    for approved in Capability::ALL.iter().copied() {
        let (verdict, _) = decided(with_approval(patch.clone(), approved, arguments()));
        assert_eq!(verdict == Verdict::Allow, approved == Capability::DependencyAdd, "{approved}");
    }
}

#[test]
fn the_built_in_bundle_ends_a_run_that_touches_its_oracle_or_cannot_be_classified() {
    let touched = Fact::ProtectedPathTouched { path: "tests/test_todo.py".parse().unwrap() };
    for fact in [touched, unclassified()] {
        let (verdict, _) = decided(request(ToolName::ApplyProjectPatch, &[fact]));
        assert_eq!(verdict, Verdict::Deny(DenialKind::Terminating));
    }
    assert_eq!(decided(request(ToolName::ApplyProjectPatch, &[])).0, Verdict::Allow);
}

#[test]
fn the_built_in_bundle_explains_its_answers() {
    let (engine, policy) = engine();
    let decision = engine.decide(&Request { policy, ..asking(Capability::Deploy) });
    let told = engine.explain(&decision);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].rule, rule_id("forbid-asking-for-what-is-prohibited"));
    assert!(told[0].instead.is_some());
}
