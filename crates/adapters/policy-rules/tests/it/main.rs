//! Decisions by rules like the default ones, and what holds for any rules.
#![expect(clippy::unwrap_used, reason = "a test ends where something is not there")]

mod builtin;
mod bundle;
mod conformance;
mod decisions;
mod laws;

use ambit_blueprint::ToolRule;
use ambit_ids::{Digest, OrganizationId, ProjectId, RuleId, RunId, Scope, UnixMs};
use ambit_policy::{ApprovalInHand, Capability, Fact, Request, ToolName};

fn rule_id(name: &str) -> RuleId {
    RuleId::new(name).unwrap()
}

fn policy() -> Digest {
    Digest::of(b"the bundle")
}

fn arguments() -> Digest {
    Digest::of(b"the arguments")
}

fn request(tool: ToolName, facts: &[Fact]) -> Request {
    Request {
        scope: Scope {
            organization: OrganizationId::new("acme").unwrap(),
            project: ProjectId::new("todo").unwrap(),
        },
        run: RunId::new("run_abcdef").unwrap(),
        blueprint: Digest::of(b"the blueprint"),
        policy: policy(),
        tool,
        arguments: arguments(),
        facts: facts.to_vec(),
        asked: None,
        approval: None,
    }
}

fn asking(capability: Capability) -> Request {
    Request { asked: Some(capability), ..request(ToolName::RequestScopedApproval, &[]) }
}

fn with_approval(request: Request, capability: Capability, subject: Digest) -> Request {
    let approval = ApprovalInHand { capability, subject, expires: UnixMs::new(1) };
    Request { approval: Some(approval), ..request }
}

fn dependency() -> Fact {
    Fact::DependencyAdded { manifest: "pyproject.toml".parse().unwrap(), name: "attrs".to_owned() }
}

fn unclassified() -> Fact {
    Fact::Unclassified { why: "the test file does not parse".to_owned() }
}

fn without_examples(rule: ToolRule) -> ToolRule {
    ToolRule { examples: Vec::new(), ..rule }
}
