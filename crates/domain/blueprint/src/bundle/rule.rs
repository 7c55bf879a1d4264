use ambit_ids::{RuleId, vocabulary};
use ambit_policy::{Answer, Capability, Fact, FactKind, ToolName};
use serde::Serialize;

/// One rule for tool calls. Where no rule applies to a call, the call is denied and the run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRule {
    /// The name under which decisions cite it.
    pub id: RuleId,
    /// What it answers where it applies: `effect`, `denial` and `capability` of the document.
    pub answer: Answer,
    /// The tools whose calls it can apply to; never empty.
    pub tools: Vec<ToolName>,
    /// What must be true of a call for it to apply.
    pub when: RuleCondition,
    /// What keeps it from applying.
    pub unless: Option<RuleException>,
    /// Why it is there, for whoever is told of its answer.
    pub why: String,
    /// What is possible instead.
    pub instead: Option<String>,
    /// Calls, and what the whole bundle answers to them; never empty.
    pub examples: Vec<RuleExample>,
}

vocabulary!(
    /// What a rule does, as documents spell it.
    RuleEffect {
        /// Permits.
        Permit = "permit",
        /// Forbids, whatever else permits. Its `denial` says in which of the two ways.
        Forbid = "forbid",
        /// Holds back until the `capability` is approved.
        RequireApproval = "require-approval",
    }
);

impl ToolRule {
    /// What the rule does.
    #[must_use]
    pub const fn effect(&self) -> RuleEffect {
        match self.answer {
            Answer::Permit => RuleEffect::Permit,
            Answer::Forbid(_) => RuleEffect::Forbid,
            Answer::RequireApproval(_) => RuleEffect::RequireApproval,
        }
    }
}

/// What must be true of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleCondition {
    /// At least one of its facts is of one of these kinds.
    AnyFact(Vec<FactKind>),
    /// The capability that it asks for is one of these.
    Asked(Vec<Capability>),
    /// Nothing.
    Always,
}

/// What keeps a rule from applying.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RuleException {
    /// An unused approval of this capability for exactly the arguments of the call.
    pub approved: Capability,
}

/// A call, and what the whole bundle answers to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleExample {
    /// The tool that is called: one of the rule's own.
    pub tool: ToolName,
    /// What is true of the call.
    pub facts: Vec<Fact>,
    /// The capability that the call asks for: always and only with `request_scoped_approval`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Capability>,
    /// The capability of which an unused approval for the call is in hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved: Option<Capability>,
    /// The verdict.
    pub expect: ExpectedVerdict,
}

vocabulary!(
    /// A verdict, as examples spell it.
    ExpectedVerdict {
        /// The call may proceed.
        Allow = "allow",
        /// The call may proceed once a person has approved exactly it.
        NeedsApproval = "needs-approval",
        /// The call has no effect, and the run goes on.
        DenyCall = "deny-call",
        /// The call has no effect, and the run ends.
        DenyTerminating = "deny-terminating",
    }
);
