use std::collections::BTreeSet;

use ambit_blueprint::{ArchetypeProbe, Blueprint, Document, ExpectedOutcome, ProbeCase, builtin};
use ambit_ids::{CaseId, Digest, Scope};
use ambit_policy::{Capability, Fact, Request, ToolName, Verdict};
use ambit_policy_rules::RuleEngine;
use ambit_ports::policy::PolicyEngine as _;
use serde::Serialize;
use serde_json::json;

use crate::answer::Answer;
use crate::cli::ProbeVerb;
use crate::failure::{Failure, exit};
use crate::input_file::read_document;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Probed {
    id: String,
    archetype: String,
    expected: &'static str,
    found: &'static str,
    holds: bool,
}

/// Runs the probes of a blueprint: what its scope and the policy answer to other kinds of application. No sandbox is
/// made, no run exists, nothing is stored.
pub(crate) fn run(verb: &ProbeVerb) -> Result<Answer, Failure> {
    let ProbeVerb::Run { archetypes } = verb;
    let blueprint = read_document(archetypes, Blueprint::parse)?;
    let rules = Rules::built_in()?;
    let probed: Result<Vec<Probed>, Failure> =
        blueprint.spec.archetype_probes.iter().map(|probe| one(probe, &blueprint, &rules)).collect();
    let probed = probed?;
    let wrong = probed.iter().filter(|probe| !probe.holds).count();
    let mut text = String::new();
    for probe in &probed {
        let mark = if probe.holds { "ok   " } else { "WRONG" };
        text.push_str(&format!("{mark} {:<44} {} (expected {})\n", probe.id, probe.found, probe.expected));
    }
    let json = json!({"probes": probed, "wrong": wrong, "allocations": 0});
    Ok(Answer::new(text, json).prose().exiting(if wrong == 0 { exit::OK } else { exit::RUN_FAILED }))
}

/// The built-in tool rules, under their own digest.
struct Rules {
    policy: Digest,
    engine: RuleEngine,
}

impl Rules {
    fn built_in() -> Result<Self, Failure> {
        let document = builtin::GENERATION_TOOLS_V2.parse().map_err(Failure::of_document)?;
        let Document::Bundle(bundle) = &document else {
            return Err(Failure::new("POLICY_UNUSABLE", "the built-in rules are no bundle"));
        };
        let policy = document.digest().map_err(|error| Failure::of("POLICY_UNUSABLE", &error))?;
        let engine = RuleEngine::new(policy, bundle.tool_rules().unwrap_or_default())
            .map_err(|error| Failure::of("POLICY_UNUSABLE", &error))?;
        Ok(Self { policy, engine })
    }
}

fn one(probe: &ArchetypeProbe, blueprint: &Blueprint, rules: &Rules) -> Result<Probed, Failure> {
    let found = match &probe.case {
        ProbeCase::PlanStep { work, cases } => plan_step(blueprint, work.as_str(), cases),
        ProbeCase::ToolCall { tool, facts } => decide(rules, *tool, facts.clone(), None)?,
        ProbeCase::Capability(capability) => {
            decide(rules, ToolName::RequestScopedApproval, Vec::new(), Some(*capability))?
        }
    };
    Ok(Probed {
        id: probe.id.to_string(),
        archetype: probe.archetype.to_string(),
        expected: word(probe.expect),
        found: word(found),
        holds: found == probe.expect,
    })
}

const fn word(outcome: ExpectedOutcome) -> &'static str {
    match outcome {
        ExpectedOutcome::Allowed => "allowed",
        ExpectedOutcome::NeedsApproval => "needs-approval",
        ExpectedOutcome::Denied => "denied",
    }
}

/// The same two rules that a run's plan is accepted by.
fn plan_step(blueprint: &Blueprint, work: &str, cases: &[CaseId]) -> ExpectedOutcome {
    let works: BTreeSet<String> =
        blueprint.spec.scope.work.iter().map(|work| work.as_str().to_owned()).collect();
    let known: BTreeSet<CaseId> =
        blueprint.spec.acceptance_cases.iter().map(|case| case.id.clone()).collect();
    match ambit_run::check_step(work, &cases.iter().cloned().collect(), &works, &known) {
        Ok(()) => ExpectedOutcome::Allowed,
        Err(_) => ExpectedOutcome::Denied,
    }
}

fn decide(
    rules: &Rules,
    tool: ToolName,
    facts: Vec<Fact>,
    asked: Option<Capability>,
) -> Result<ExpectedOutcome, Failure> {
    let id = |error: ambit_ids::IdError| Failure::of("PROBE_ID", &error);
    let request = Request {
        scope: Scope { organization: "probe".parse().map_err(id)?, project: "probe".parse().map_err(id)? },
        run: "run_probe00".parse().map_err(id)?,
        blueprint: Digest::of(b"probe"),
        policy: rules.policy,
        tool,
        arguments: Digest::of(b"probe"),
        facts,
        asked,
        approval: None,
    };
    Ok(match rules.engine.decide(&request).verdict {
        Verdict::Allow => ExpectedOutcome::Allowed,
        Verdict::NeedsApproval(_) => ExpectedOutcome::NeedsApproval,
        Verdict::Deny(_) => ExpectedOutcome::Denied,
    })
}
