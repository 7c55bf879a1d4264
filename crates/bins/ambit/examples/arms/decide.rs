//! A thousand decisions about patches, each with its rules and the digest of what was asked.

use std::time::{Duration, Instant};

use ambit_blueprint::{Document, ExpectedVerdict, RuleCondition, RuleExample, ToolRule, builtin};
use ambit_ids::{Digest, Scope};
use ambit_policy::{Answer, Decision, DenialKind, FactKind, Request, ToolName};
use ambit_policy_cedar::CedarEngine;
use ambit_policy_rules::RuleEngine;
use ambit_ports::policy::PolicyEngine as _;
use async_trait::async_trait;

use crate::failed;
use crate::failure::Failure;
use crate::protocol::{Arm, answer};

const DECISIONS: usize = 1000;
/// As many rules as a bundle may have.
const LARGE: usize = 256;

/// How a decision is made.
#[derive(Clone, Copy)]
pub(crate) enum By {
    /// By Cedar, over the policies that can apply.
    Cedar,
    /// By Cedar, over all policies of the bundle.
    CedarOverAll,
    /// By the first engine.
    Rules,
    /// Not at all: the request is only written down and digested.
    Nothing,
}

/// Decides about runs of so many projects in turn.
pub(crate) async fn decide(projects: usize, is_large: bool, by: By) -> Result<(), Failure> {
    let rules = rules(is_large)?;
    let policy = Digest::of(b"the policy set");
    let requests: Result<Vec<Request>, Failure> = (0..projects).map(|at| request(policy, at)).collect();
    let cedar = CedarEngine::new(policy, &rules).map_err(failed)?;
    let plain = RuleEngine::new(policy, &rules).map_err(failed)?;
    answer(&mut Decisions { cedar, plain, requests: requests?, by, at: 0 }).await
}

struct Decisions {
    cedar: CedarEngine,
    plain: RuleEngine,
    requests: Vec<Request>,
    by: By,
    at: usize,
}

#[async_trait]
impl Arm for Decisions {
    async fn operate(&mut self) -> Result<Duration, Failure> {
        let mut cited = 0;
        let started = Instant::now();
        for _ in 0..DECISIONS {
            self.at = (self.at + 1) % self.requests.len();
            let request = &self.requests[self.at];
            let decision: Option<Decision> = match self.by {
                By::Cedar => Some(self.cedar.decide(request)),
                By::CedarOverAll => Some(self.cedar.decide_by_all(request)),
                By::Rules => Some(self.plain.decide(request)),
                By::Nothing => {
                    std::hint::black_box(request.to_canonical().map_err(failed)?.digest());
                    None
                }
            };
            cited += decision.map_or(1, |decision| decision.rules.len());
        }
        let took = started.elapsed();
        if cited != DECISIONS {
            return Err(Failure::new("ARM_FAILED", "a decision cites other rules than one"));
        }
        Ok(took)
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        let handed = match self.by {
            By::Cedar => self.cedar.handed(&self.requests[self.at]),
            By::CedarOverAll => self.cedar.policies(),
            By::Rules | By::Nothing => return Vec::new(),
        };
        vec![("policiesPerDecision", handed as u64)]
    }
}

/// The rules that come along, and as many more as a bundle may have, about facts that the calls do not have.
fn rules(is_large: bool) -> Result<Vec<ToolRule>, Failure> {
    let document = builtin::GENERATION_TOOLS_V2.parse().map_err(failed)?;
    let Document::Bundle(bundle) = document else { return Err(Failure::new("ARM_FAILED", "no bundle")) };
    let mut rules = bundle.tool_rules().unwrap_or_default().to_vec();
    let tool = ToolName::ApplyProjectPatch;
    while is_large && rules.len() < LARGE {
        let facts = FactKind::ScopeLeft.example().into_iter().collect();
        let expect = ExpectedVerdict::DenyCall;
        rules.push(ToolRule {
            id: format!("spare-{}", rules.len()).parse().map_err(failed)?,
            answer: Answer::Forbid(DenialKind::Call),
            tools: vec![tool],
            when: RuleCondition::AnyFact(vec![FactKind::ScopeLeft]),
            unless: None,
            why: "A spare rule.".to_owned(),
            instead: None,
            examples: vec![RuleExample { tool, facts, asked: None, approved: None, expect }],
        });
    }
    Ok(rules)
}

/// A patch that adds a dependency: the most that a decision is about as a rule.
fn request(policy: Digest, at: usize) -> Result<Request, Failure> {
    Ok(Request {
        scope: Scope {
            organization: "acme".parse().map_err(failed)?,
            project: format!("project-{at}").parse().map_err(failed)?,
        },
        run: format!("run_a{at:06}").parse().map_err(failed)?,
        blueprint: Digest::of(b"the blueprint"),
        policy,
        tool: ToolName::ApplyProjectPatch,
        arguments: Digest::of(&at.to_be_bytes()),
        facts: FactKind::DependencyAdded.example().into_iter().collect(),
        asked: None,
        approval: None,
    })
}
