use std::collections::BTreeSet;

use ambit_blueprint::{RuleCondition, RuleExample, ToolRule};
use ambit_policy::{Capability, Fact, FactKind, Request, ToolName};

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

    /// Whether the rule applies to the call.
    pub(crate) fn meets(&self, rule: &ToolRule) -> bool {
        let lifted = rule.unless.is_some_and(|unless| self.approved == Some(unless.approved));
        rule.tools.contains(&self.tool) && self.fulfils(&rule.when) && !lifted
    }

    fn fulfils(&self, condition: &RuleCondition) -> bool {
        match condition {
            RuleCondition::AnyFact(kinds) => kinds.iter().any(|kind| self.facts.contains(kind)),
            RuleCondition::Asked(capabilities) => {
                self.asked.is_some_and(|asked| capabilities.contains(&asked))
            }
            RuleCondition::Always => true,
        }
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

impl From<&RuleExample> for Call {
    fn from(example: &RuleExample) -> Self {
        Self {
            tool: example.tool,
            facts: example.facts.iter().map(Fact::kind).collect(),
            asked: example.asked,
            approved: example.approved,
        }
    }
}
