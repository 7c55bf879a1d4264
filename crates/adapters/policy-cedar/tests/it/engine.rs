//! What the engine refuses, says and hands to Cedar.

use ambit_blueprint::{ExpectedVerdict, RuleCondition, ToolRule};
use ambit_conformance::policy::sample::{asking, call, example, fact, policy, rule, rule_id};
use ambit_policy::{Answer, Capability, DenialKind, FactKind, Request, ToolName, Verdict};
use ambit_policy_cedar::{CedarEngine, CedarError, cedar_text, schema_text, standing_text};
use ambit_policy_rules::RuleEngine;
use ambit_ports::policy::PolicyEngine as _;

use crate::table::{first_rules, rules};

const PATCH: ToolName = ToolName::ApplyProjectPatch;

/// Permits every call of every tool, whatever is true of it.
fn permit_everything() -> ToolRule {
    let everything = rule(
        "permit-everything",
        Answer::Permit,
        PATCH,
        RuleCondition::Always,
        example(PATCH, &[], ExpectedVerdict::Allow),
    );
    ToolRule { tools: ToolName::ALL.to_vec(), ..everything }
}

// proves E-N03
// break crates/adapters/policy-cedar/src/standing.rs: `unless {{ principal in resource }};` -> `unless {{ resource is Project }};`
#[test]
fn a_call_on_another_project_is_denied_whatever_the_bundle_permits() {
    let engine = CedarEngine::new(policy(), &[permit_everything()]).unwrap();
    for tool in ToolName::ALL.iter().copied() {
        assert_eq!(engine.decide(&call(tool, &[])).verdict, Verdict::Allow);
        let decision = engine.decide(&call(tool, &[fact(FactKind::ForeignProject)]));
        let denied = (Verdict::Deny(DenialKind::Call), vec![rule_id("pin.other-project")]);
        assert_eq!((decision.verdict, decision.rules), denied);
    }
}

// proves E-H02
#[test]
fn what_reaches_beyond_the_project_cannot_be_asked_for_whatever_the_bundle_permits() {
    let engine = CedarEngine::new(policy(), &[permit_everything()]).unwrap();
    for capability in Capability::ALL.iter().copied() {
        let decision = engine.decide(&asking(capability));
        if capability.is_approvable() {
            assert_eq!(decision.verdict, Verdict::Allow, "{capability}");
        } else {
            let denied = (Verdict::Deny(DenialKind::Call), vec![rule_id("pin.never-approvable")]);
            assert_eq!((decision.verdict, decision.rules), denied, "{capability}");
        }
    }
    let external = Capability::ALL.iter().filter(|capability| !capability.is_approvable());
    assert_eq!(external.count(), 6);
}

#[test]
fn a_bundle_that_offers_an_approval_of_what_none_can_give_is_refused() {
    for capability in Capability::ALL.iter().copied() {
        let unclassified = [fact(FactKind::Unclassified)];
        let certain = example(PATCH, &unclassified, ExpectedVerdict::DenyTerminating);
        let about = RuleCondition::AnyFact(vec![FactKind::DependencyAdded]);
        let asks = rule("ask", Answer::RequireApproval(capability), PATCH, about, certain);
        match CedarEngine::new(policy(), &[asks]) {
            Ok(_) => assert!(capability.is_approvable(), "{capability}"),
            Err(CedarError::NeverApprovable { capability: told, .. }) => {
                assert_eq!((told, capability.is_approvable()), (capability, false));
            }
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn a_decision_is_explained_in_the_words_of_its_rules() {
    let engine = CedarEngine::new(policy(), &rules()).unwrap();
    let told = engine.explain(&engine.decide(&asking(Capability::Deploy)));
    let by: Vec<&str> = told.iter().map(|it| it.rule.as_str()).collect();
    assert_eq!(by, ["forbid-asking-for-what-is-prohibited", "pin.never-approvable"]);
    assert!(told[0].instead.is_some() && told.iter().all(|it| !it.why.is_empty()));

    let stale = Request { policy: ambit_ids::Digest::of(b"another"), ..call(PATCH, &[]) };
    let told = engine.explain(&engine.decide(&stale));
    assert_eq!(told.len(), 1);
    assert!(told[0].why.contains("pinned"));
}

/// A bundle that is ten times as large gives Cedar no more policies, as long as no more of them can apply.
#[test]
fn cedar_is_given_the_policies_that_can_apply_and_no_others() {
    let small = CedarEngine::new(policy(), &rules()).unwrap();
    let mut more = rules();
    for at in 0..128 {
        let kinds = vec![FactKind::ScopeLeft];
        let spare = example(
            ToolName::RunNamedGate,
            &[fact(FactKind::Unclassified)],
            ExpectedVerdict::DenyTerminating,
        );
        let forbid = Answer::Forbid(DenialKind::Call);
        more.push(rule(
            &format!("spare-{at}"),
            forbid,
            ToolName::RunNamedGate,
            RuleCondition::AnyFact(kinds),
            spare,
        ));
    }
    let large = CedarEngine::new(policy(), &more).unwrap();
    assert!(small.policies() > 20 && large.policies() == small.policies() + 128);
    for tool in ToolName::ALL.iter().copied() {
        for kind in [None, Some(FactKind::DependencyAdded), Some(FactKind::Unclassified)] {
            let facts: Vec<_> = kind.into_iter().map(fact).collect();
            let request = call(tool, &facts);
            assert_eq!(large.handed(&request), small.handed(&request), "{tool} {kind:?}");
            assert!(small.handed(&request) <= 6, "{} for {tool} {kind:?}", small.handed(&request));
            let (one, other) = (large.decide(&request), small.decide(&request));
            assert_eq!((one.verdict, one.rules), (other.verdict, other.rules));
        }
    }
    let met = call(ToolName::RunNamedGate, &[fact(FactKind::ScopeLeft)]);
    assert_eq!(large.handed(&met), small.handed(&met) + 128);
}

/// The texts that the proofs are about are those that are decided by.
#[test]
fn the_cedar_texts_that_are_kept_are_those_of_the_engine() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../proofs/policy/cedar");
    let texts = [
        ("calls.cedarschema", schema_text()),
        ("standing.cedar", standing_text()),
        ("generation-tools-v1.cedar", cedar_text(&first_rules())),
        ("generation-tools-v2.cedar", cedar_text(&rules())),
    ];
    for (name, text) in texts {
        let path = folder.join(name);
        if std::env::var_os("AMBIT_WRITE_DECISIONS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap();
        assert_eq!(kept, text, "write {name} anew with AMBIT_WRITE_DECISIONS=1");
    }
}

/// A record of the first engine still comes out: for what a run asks, both engines name the same verdict and rules.
#[test]
fn both_engines_decide_the_built_in_bundle_alike() {
    let (cedar, plain) =
        (CedarEngine::new(policy(), &rules()).unwrap(), RuleEngine::new(policy(), &rules()).unwrap());
    for tool in ToolName::ALL.iter().copied() {
        for kind in FactKind::ALL.iter().copied().filter(|kind| *kind != FactKind::ForeignProject) {
            let request = call(tool, &[fact(kind)]);
            let (one, other) = (cedar.decide(&request), plain.decide(&request));
            assert_eq!((one.verdict, one.rules, one.input), (other.verdict, other.rules, other.input));
            assert_ne!(one.engine, other.engine);
        }
    }
}
