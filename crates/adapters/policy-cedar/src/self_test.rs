//! Calls whose answer is known beforehand, asked before an engine is used.

use ambit_blueprint::{ExpectedVerdict, RuleCondition, RuleExample};
use ambit_ids::{Digest, ProjectId};
use ambit_policy::{Capability, Fact, Request, ToolName, Verdict};
use ambit_ports::policy::PolicyEngine;
use cedar_policy::{EntityUid, Policy, PolicyId, PolicySet};

use crate::ground::{Ground, uid};
use crate::law::Law;
use crate::laws::Laws;
use crate::question::{Question, kinds_of};
use crate::refusal::CedarError;
use crate::sample::request_of;
use crate::schema::beyond_the_tools;
use crate::standing::never_approvable;

/// A policy that permits everything: under it only the standing forbids deny.
const PERMIT_ALL: &str = r#"@id("permit-all") @why("The self-test.") permit (principal, action, resource);"#;

/// Under a bundle that permits everything, each tool is permitted and everything beyond the tools is denied: the hierarchy
/// of actions is there, and forbids win.
pub(crate) fn of_ground(ground: &Ground) -> Result<(), CedarError> {
    let permit = Policy::parse(Some(PolicyId::new("permit-all")), PERMIT_ALL)
        .map_err(|error| CedarError::unusable(&error))?;
    let permit = Law::read(permit, ToolName::ALL.to_vec(), RuleCondition::Always)
        .ok_or_else(|| CedarError::Unusable("the policy of the self-test is none".to_owned()))?;
    let mut laws = ground.standing.clone();
    laws.push(permit);
    let policies = PolicySet::from_policies(laws.iter().map(|law| law.policy.clone()))
        .map_err(|error| CedarError::unusable(&error))?;
    let laws = Laws::new(&laws);
    let policy = Digest::of(b"the self-test");
    let request = call(policy, ToolName::ReadProjectFile, Vec::new(), None)?;
    let permits = |action: &EntityUid| {
        let question = Question::new(ground, policy, &request, &kinds_of(&request), action)?;
        Some(laws.ask(&policies, &question)?.0 == Verdict::Allow)
    };
    for (tool, action) in &ground.tools {
        expect(permits(action) == Some(true), || format!("a call of {tool}"))?;
    }
    for (name, class) in beyond_the_tools() {
        let denied = permits(&uid(&ground.types.action, name)) == Some(false);
        expect(denied, || format!("{name}, which is of the class {class},"))?;
    }
    Ok(())
}

/// What every bundle denies, for each tool, and what no bundle lets a run ask for.
pub(crate) fn of_engine(policy: Digest, engine: &dyn PolicyEngine) -> Result<(), CedarError> {
    let other = ProjectId::new("another").map_err(|error| CedarError::unusable(&error))?;
    let facts =
        [Fact::Unclassified { why: "the self-test".to_owned() }, Fact::ForeignProject { project: other }];
    for tool in ToolName::ALL.iter().copied() {
        let stale = call(Digest::of(b"another policy set"), tool, Vec::new(), None)?;
        expect(denies(engine, &stale), || format!("a call of {tool} under another policy set"))?;
        for fact in &facts {
            let told = call(policy, tool, vec![fact.clone()], None)?;
            expect(denies(engine, &told), || format!("a call of {tool} that {fact}"))?;
        }
    }
    for capability in never_approvable() {
        let asked = call(policy, ToolName::RequestScopedApproval, Vec::new(), Some(capability))?;
        expect(denies(engine, &asked), || format!("asking for {capability}"))?;
    }
    Ok(())
}

fn call(
    policy: Digest,
    tool: ToolName,
    facts: Vec<Fact>,
    asked: Option<Capability>,
) -> Result<Request, CedarError> {
    let expect = ExpectedVerdict::DenyTerminating;
    let example = RuleExample { tool, facts, asked, approved: None, expect };
    request_of(policy, &example).map_err(|error| CedarError::unusable(&error))
}

fn denies(engine: &dyn PolicyEngine, request: &Request) -> bool {
    matches!(engine.decide(request).verdict, Verdict::Deny(_))
}

fn expect(came_out: bool, case: impl FnOnce() -> String) -> Result<(), CedarError> {
    if came_out { Ok(()) } else { Err(CedarError::SelfTest { case: case() }) }
}
