//! What the bundle that comes with Ambit answers, as one table that people read: `generation-tools-v2.decisions.txt`.

use std::path::Path;

use ambit_blueprint::{ExpectedVerdict, PolicyBundle, ToolRule, builtin};
use ambit_conformance::policy::is_built_in;
use ambit_conformance::policy::sample::{arguments, asking, call, fact, policy, with_approval};
use ambit_policy::{Capability, FactKind, Request, ToolName, Verdict};
use ambit_policy_cedar::CedarEngine;
use ambit_ports::policy::PolicyEngine as _;

/// The table as it was agreed on.
const TABLE: &str = include_str!("../generation-tools-v2.decisions.txt");

/// What a person can approve for a generation run.
const APPROVED: [Capability; 2] = [Capability::DependencyAdd, Capability::CheckSilence];

/// The kinds of weakening that do not end the run: directives in source that silence a check.
const DIRECTIVES: [FactKind; 2] = [FactKind::DirectiveAdded, FactKind::BlanketDirectiveAdded];

/// The rules that come with Ambit.
pub(crate) fn rules() -> Vec<ToolRule> {
    let text = builtin::GENERATION_TOOLS_V2.text.as_bytes();
    PolicyBundle::parse("rules.yaml", text).unwrap().tool_rules().unwrap().to_vec()
}

/// The rules to which older runs are pinned.
pub(crate) fn first_rules() -> Vec<ToolRule> {
    let text = builtin::GENERATION_TOOLS_V1.text.as_bytes();
    PolicyBundle::parse("rules.yaml", text).unwrap().tool_rules().unwrap().to_vec()
}

/// Every call with one fact or none; every capability that is asked for; and patches with an approval in hand.
fn requests() -> Vec<(String, Request)> {
    let mut requests = Vec::new();
    for tool in ToolName::ALL.iter().copied() {
        requests.push((tool.to_string(), call(tool, &[])));
        for kind in FactKind::ALL.iter().copied() {
            requests.push((format!("{tool} {kind}"), call(tool, &[fact(kind)])));
        }
    }
    for capability in Capability::ALL.iter().copied() {
        let asked = asking(capability);
        requests.push((format!("{} asked={capability}", asked.tool), asked));
    }
    for approved in APPROVED {
        for kind in FactKind::ALL.iter().copied() {
            let patch = call(ToolName::ApplyProjectPatch, &[fact(kind)]);
            let name = format!("{} {kind} approved={approved}", patch.tool);
            requests.push((name, with_approval(patch, approved, arguments())));
        }
    }
    requests
}

/// The table that an engine gives.
pub(crate) fn table(engine: &CedarEngine) -> String {
    let lines = requests().into_iter().map(|(name, request)| {
        let decision = engine.decide(&request);
        let mut verdict = ExpectedVerdict::from(decision.verdict).to_string();
        if let Verdict::NeedsApproval(capability) = decision.verdict {
            verdict = format!("{verdict}={capability}");
        }
        let rules: Vec<&str> = decision.rules.iter().map(ambit_ids::RuleId::as_str).collect();
        format!(
            "{name}: {verdict} by {}\n",
            if rules.is_empty() { "silence".to_owned() } else { rules.join(", ") }
        )
    });
    lines.collect()
}

/// Whether the engine answers as was agreed on.
pub(crate) fn is_as_agreed(engine: &CedarEngine) -> bool {
    table(engine) == TABLE
}

// proves E-H02
// break documents/policies/generation-tools-v2.yaml: `- message.external` -> `# message.external`
#[test]
fn the_built_in_bundle_answers_as_was_agreed_on() {
    let engine = CedarEngine::new(policy(), &rules()).unwrap();
    let found = table(&engine);
    if std::env::var_os("AMBIT_WRITE_DECISIONS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generation-tools-v2.decisions.txt");
        std::fs::write(path, &found).unwrap();
        return;
    }
    for (one, other) in found.lines().zip(TABLE.lines()) {
        assert_eq!(one, other, "read what changed, and write it anew with AMBIT_WRITE_DECISIONS=1");
    }
    assert_eq!(found, TABLE);
}

#[test]
fn every_rule_of_the_built_in_bundle_determines_a_line_of_the_table() {
    let cited: Vec<&str> =
        TABLE.lines().filter_map(|line| line.split_once(" by ")).flat_map(|(_, by)| by.split(", ")).collect();
    for rule in rules() {
        assert!(!is_built_in(&rule.id));
        assert!(cited.contains(&rule.id.as_str()), "{} determines nothing", rule.id);
    }
}

// proves E-H06
#[test]
fn whatever_weakens_a_test_ends_the_run_and_no_approval_lifts_it() {
    let engine = CedarEngine::new(policy(), &rules()).unwrap();
    let weakens = |kind: &FactKind| {
        (fact(*kind).weakening().is_some() && !DIRECTIVES.contains(kind))
            || *kind == FactKind::SkipMarkerAdded
    };
    for kind in FactKind::ALL.iter().copied().filter(weakens) {
        for capability in Capability::ALL.iter().copied() {
            let patch =
                with_approval(call(ToolName::ApplyProjectPatch, &[fact(kind)]), capability, arguments());
            let ends = Verdict::Deny(ambit_policy::DenialKind::Terminating);
            assert_eq!(engine.decide(&patch).verdict, ends, "{kind} with an approval of {capability}");
        }
    }
}

// proves E-F07 E-H02
// break documents/policies/generation-tools-v2.yaml: `unless: {approved: check.silence}` -> `unless: {approved: dependency.add}`
#[test]
fn a_check_that_is_silenced_takes_its_own_approval_and_one_that_is_not_named_has_none() {
    let engine = CedarEngine::new(policy(), &rules()).unwrap();
    let verdict = |facts: &[FactKind], approved: Option<Capability>| {
        let facts: Vec<_> = facts.iter().copied().map(fact).collect();
        let patch = call(ToolName::ApplyProjectPatch, &facts);
        let held = approved.map(|approved| with_approval(patch.clone(), approved, arguments()));
        engine.decide(&held.unwrap_or(patch)).verdict
    };
    let [named, blanket] = DIRECTIVES;
    let denied = Verdict::Deny(ambit_policy::DenialKind::Call);
    let needs = Verdict::NeedsApproval(Capability::CheckSilence);
    for approved in std::iter::once(None).chain(Capability::ALL.iter().copied().map(Some)) {
        let lifts = approved == Some(Capability::CheckSilence);
        assert_eq!(verdict(&[named], approved), if lifts { Verdict::Allow } else { needs }, "{approved:?}");
        assert_eq!(verdict(&[blanket], approved), denied, "{approved:?}");
        assert_eq!(verdict(&[named, blanket], approved), denied, "{approved:?}");
        // One approval never stands for two.
        let both = verdict(&[named, FactKind::DependencyAdded], approved);
        assert!(matches!(both, Verdict::NeedsApproval(_)), "{approved:?}: {both:?}");
    }
}

// proves E-F07
// break crates/domain/blueprint/src/bundle/earlier.rs: `kinds.extend(SPLIT_OFF);` -> `kinds.extend([]);`
#[test]
fn a_run_that_is_pinned_to_the_first_version_ends_on_a_directive_as_it_did() {
    let engine = CedarEngine::new(policy(), &first_rules()).unwrap();
    for kind in DIRECTIVES {
        let decision = engine.decide(&call(ToolName::ApplyProjectPatch, &[fact(kind)]));
        assert_eq!(decision.verdict, Verdict::Deny(ambit_policy::DenialKind::Terminating), "{kind}");
        assert_eq!(decision.rules[0].as_str(), "forbid-skip-marker");
    }
}
