use std::collections::BTreeSet;

use ambit_ids::RuleId;
use ambit_policy::{DenialKind, Verdict};

use super::{ExpectedVerdict, RuleExample, ToolRule};

/// What names of an engine's own denials begin with, and no name of a bundle's rule does.
pub const BUILT_IN_RULES: &str = "pin.";

/// Why the tool rules of a bundle are refused. Nothing of it is used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// Two rules have one name.
    #[error("two rules are named {0}; nothing of the bundle is used: give each rule a name of its own")]
    Duplicate(RuleId),
    /// A rule takes the name of a built-in denial.
    #[error("the rule {0} takes a built-in name; nothing of the bundle is used: choose one without `pin.`")]
    Reserved(RuleId),
    /// A rule names no tool and could never apply.
    #[error("the rule {0} names no tool; nothing of the bundle is used: name the tools or take the rule out")]
    NoTool(RuleId),
    /// A rule has no example.
    #[error("the rule {0} has no example; nothing of the bundle is used: add a call and its verdict")]
    NoExample(RuleId),
    /// An example does not come out.
    #[error(
        "example {number} of the rule {rule} expects {expected}, and the bundle answers {found} by {}; nothing of \
         the bundle is used: correct the rule or the example",
        cited(.by)
    )]
    ExampleFails {
        /// The rule that holds the example.
        rule: RuleId,
        /// The example, counted from 1.
        number: usize,
        /// What it expects.
        expected: ExpectedVerdict,
        /// What the bundle answers.
        found: ExpectedVerdict,
        /// The rules that determined the answer.
        by: Vec<RuleId>,
    },
}

impl RuleError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Duplicate(_) => "POLICY_RULE_DUPLICATE",
            Self::Reserved(_) => "POLICY_RULE_RESERVED",
            Self::NoTool(_) => "POLICY_RULE_WITHOUT_TOOL",
            Self::NoExample(_) => "POLICY_RULE_WITHOUT_EXAMPLE",
            Self::ExampleFails { .. } => "POLICY_EXAMPLE_FAILS",
        }
    }
}

/// Checks what every engine asks of rules before it reads them: names of their own, a tool and an example each.
///
/// # Errors
/// [`RuleError`] for the first rule that is none.
pub fn check_rules(rules: &[ToolRule]) -> Result<(), RuleError> {
    let mut names = BTreeSet::new();
    for rule in rules {
        if rule.id.as_str().starts_with(BUILT_IN_RULES) {
            return Err(RuleError::Reserved(rule.id.clone()));
        }
        if rule.tools.is_empty() {
            return Err(RuleError::NoTool(rule.id.clone()));
        }
        if rule.examples.is_empty() {
            return Err(RuleError::NoExample(rule.id.clone()));
        }
        if !names.insert(&rule.id) {
            return Err(RuleError::Duplicate(rule.id.clone()));
        }
    }
    Ok(())
}

/// Checks that every example of the rules comes out as it says, where `answer` is what the whole bundle answers. The
/// rules are looked at by their names, so that the same one is told whatever order they stand in.
///
/// # Errors
/// [`RuleError::ExampleFails`] for the first that does not.
pub fn check_examples(
    rules: &[ToolRule],
    answer: impl Fn(&RuleExample) -> (Verdict, Vec<RuleId>),
) -> Result<(), RuleError> {
    let mut sorted: Vec<&ToolRule> = rules.iter().collect();
    sorted.sort_by_key(|rule| &rule.id);
    for rule in sorted {
        for (number, example) in (1..).zip(&rule.examples) {
            let (verdict, by) = answer(example);
            let found = ExpectedVerdict::from(verdict);
            if found != example.expect {
                let (rule, expected) = (rule.id.clone(), example.expect);
                return Err(RuleError::ExampleFails { rule, number, expected, found, by });
            }
        }
    }
    Ok(())
}

impl From<Verdict> for ExpectedVerdict {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Allow => Self::Allow,
            Verdict::NeedsApproval(_) => Self::NeedsApproval,
            Verdict::Deny(DenialKind::Call) => Self::DenyCall,
            Verdict::Deny(DenialKind::Terminating) => Self::DenyTerminating,
        }
    }
}

/// Why a decision came out as it did, in the words of one rule.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Explanation {
    /// The rule.
    pub rule: RuleId,
    /// Why it is there.
    pub why: String,
    /// What is possible instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
}

fn cited(rules: &[RuleId]) -> String {
    if rules.is_empty() {
        return "no rule".to_owned();
    }
    rules.iter().map(RuleId::as_str).collect::<Vec<_>>().join(", ")
}
