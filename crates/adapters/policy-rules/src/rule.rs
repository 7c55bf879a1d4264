//! The rules as the engine reads them: one to one what a bundle's document says.

use std::collections::BTreeSet;
use std::fmt;

use ambit_ids::RuleId;
use ambit_policy::{Answer, Capability, DenialKind, Fact, FactKind, Request, ToolName, Verdict};

/// One rule for tool calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The name under which decisions cite it.
    pub id: RuleId,
    /// What it answers where it applies.
    pub answer: Answer,
    /// The tools whose calls it can apply to; never empty.
    pub tools: BTreeSet<ToolName>,
    /// What must be true of a call for it to apply.
    pub when: Condition,
    /// The capability whose unused approval, for exactly the arguments of the call, keeps it from applying.
    pub unless_approved: Option<Capability>,
    /// Why it is there, for whoever is told of its answer.
    pub why: String,
    /// What is possible instead.
    pub instead: Option<String>,
    /// Calls, and what the whole bundle answers to them; never empty.
    pub examples: Vec<Example>,
}

/// What must be true of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// At least one of its facts is of one of these kinds.
    AnyFact(BTreeSet<FactKind>),
    /// The capability that it asks for is one of these.
    Asked(BTreeSet<Capability>),
    /// Nothing.
    Always,
}

/// A call, and what the whole bundle answers to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The tool that is called.
    pub tool: ToolName,
    /// What is true of the call.
    pub facts: Vec<Fact>,
    /// The capability that the call asks for.
    pub asked: Option<Capability>,
    /// The capability of which an unused approval for the call is in hand.
    pub approved: Option<Capability>,
    /// The verdict.
    pub expect: Expected,
}

/// A verdict, as examples tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The call may proceed.
    Allow,
    /// The call may proceed once a person has approved exactly it.
    NeedsApproval,
    /// The call has no effect, and the run goes on.
    DenyCall,
    /// The call has no effect, and the run ends.
    DenyTerminating,
}

/// What rules see of a call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    tool: ToolName,
    facts: BTreeSet<FactKind>,
    asked: Option<Capability>,
    /// The capability that was approved for exactly this call.
    approved: Option<Capability>,
}

impl Call {
    /// Whether trusted code could not tell what the call would do.
    pub(crate) fn is_unclassified(&self) -> bool {
        self.facts.contains(&FactKind::Unclassified)
    }
}

impl From<&Request> for Call {
    fn from(request: &Request) -> Self {
        let approval = request.approval.as_ref().filter(|approval| approval.subject == request.arguments);
        Self {
            tool: request.tool,
            facts: request.facts.iter().map(Fact::kind).collect(),
            asked: request.asked,
            approved: approval.map(|approval| approval.capability),
        }
    }
}

impl From<&Example> for Call {
    fn from(example: &Example) -> Self {
        Self {
            tool: example.tool,
            facts: example.facts.iter().map(Fact::kind).collect(),
            asked: example.asked,
            approved: example.approved,
        }
    }
}

impl Rule {
    /// Whether the rule applies to the call.
    pub(crate) fn applies(&self, call: &Call) -> bool {
        let lifted = self.unless_approved.is_some() && self.unless_approved == call.approved;
        self.tools.contains(&call.tool) && self.when.holds(call) && !lifted
    }
}

impl Condition {
    fn holds(&self, call: &Call) -> bool {
        match self {
            Self::AnyFact(kinds) => !kinds.is_disjoint(&call.facts),
            Self::Asked(capabilities) => call.asked.is_some_and(|asked| capabilities.contains(&asked)),
            Self::Always => true,
        }
    }
}

impl From<Verdict> for Expected {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Allow => Self::Allow,
            Verdict::NeedsApproval(_) => Self::NeedsApproval,
            Verdict::Deny(DenialKind::Call) => Self::DenyCall,
            Verdict::Deny(DenialKind::Terminating) => Self::DenyTerminating,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::NeedsApproval => "needs-approval",
            Self::DenyCall => "deny-call",
            Self::DenyTerminating => "deny-terminating",
        })
    }
}
