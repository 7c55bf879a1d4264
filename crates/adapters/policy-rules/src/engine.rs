use std::collections::BTreeMap;

use ambit_blueprint::{ExpectedVerdict, ToolRule};
use ambit_ids::{Digest, RuleId};
use ambit_policy::{Answer, Decision, DenialKind, EngineVersion, Request, Verdict, combine};
use ambit_ports::policy::PolicyEngine;

use crate::call::{Call, as_expected};

/// The name and version that decisions carry.
const VERSION: &str = "rules/1";

/// The denials that the engine makes by itself, which no bundle can lift: their names and why they are there.
const BUILT_IN: [(&str, &str); 3] = [
    (POLICY_PIN, "The run is pinned to another policy bundle than the one that was asked."),
    (UNREADABLE, "The request has no canonical form, so the decision could not be made again."),
    (UNCLASSIFIED, "What trusted code cannot classify is never permitted."),
];
const POLICY_PIN: &str = "pin.policy-digest";
const UNREADABLE: &str = "pin.request-form";
const UNCLASSIFIED: &str = "pin.unclassified";
/// What names of built-in denials begin with, and no name of a bundle's rule does.
const RESERVED: &str = "pin.";

/// Decides by the rules of one bundle, in no order: the strictest answer of all rules that apply wins.
#[derive(Debug)]
pub struct RuleEngine {
    policy: Digest,
    rules: BTreeMap<RuleId, ToolRule>,
}

/// Why a bundle is refused. Nothing of it is used.
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

/// Why a decision came out as it did, in the words of one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The rule.
    pub rule: RuleId,
    /// Why it is there.
    pub why: String,
    /// What is possible instead.
    pub instead: Option<String>,
}

impl RuleEngine {
    /// An engine for the bundle whose document has the digest `policy`.
    ///
    /// # Errors
    /// [`RuleError`] where the rules are not a bundle, or one of their examples does not come out.
    pub fn new(policy: Digest, rules: &[ToolRule]) -> Result<Self, RuleError> {
        let mut by_id = BTreeMap::new();
        for rule in rules {
            check(rule)?;
            if let Some(first) = by_id.insert(rule.id.clone(), rule.clone()) {
                return Err(RuleError::Duplicate(first.id));
            }
        }
        let engine = Self { policy, rules: by_id };
        engine.check_examples()?;
        Ok(engine)
    }

    /// The rules that determined the decision, in their own words, in the decision's order. A rule that this engine
    /// does not know, since another one decided, is left out.
    #[must_use]
    pub fn explain(&self, decision: &Decision) -> Vec<Explanation> {
        decision.rules.iter().filter_map(|id| self.explanation(id)).collect()
    }

    fn explanation(&self, id: &RuleId) -> Option<Explanation> {
        let (why, instead) = match self.rules.get(id) {
            Some(rule) => (rule.why.clone(), rule.instead.clone()),
            None => BUILT_IN
                .iter()
                .find(|(name, _)| *name == id.as_str())
                .map(|(_, why)| ((*why).to_owned(), None))?,
        };
        Some(Explanation { rule: id.clone(), why, instead })
    }

    fn answer(&self, call: &Call) -> (Verdict, Vec<RuleId>) {
        let applying = self.rules.values().filter(|rule| call.meets(rule));
        let mut answers: Vec<_> = applying.map(|rule| (rule.id.clone(), rule.answer)).collect();
        if call.is_unclassified() {
            answers.push((built_in(UNCLASSIFIED), Answer::Forbid(DenialKind::Terminating)));
        }
        combine(&answers)
    }

    /// Decides every example by the whole bundle.
    fn check_examples(&self) -> Result<(), RuleError> {
        for rule in self.rules.values() {
            for (number, example) in (1..).zip(&rule.examples) {
                let (verdict, by) = self.answer(&Call::from(example));
                let found = as_expected(verdict);
                if found != example.expect {
                    let (rule, expected) = (rule.id.clone(), example.expect);
                    return Err(RuleError::ExampleFails { rule, number, expected, found, by });
                }
            }
        }
        Ok(())
    }
}

impl PolicyEngine for RuleEngine {
    fn decide(&self, request: &Request) -> Decision {
        let input = request.to_canonical();
        let (verdict, rules) = match &input {
            Err(_) => denied_by(UNREADABLE),
            Ok(_) if request.policy != self.policy => denied_by(POLICY_PIN),
            Ok(_) => self.answer(&Call::from(request)),
        };
        // A request without canonical bytes has no digest; that of nothing stands for it beside its own rule.
        let input = input.map_or_else(|_| Digest::of(b""), |bytes| bytes.digest());
        Decision { verdict, rules, engine: EngineVersion(VERSION.to_owned()), input }
    }
}

fn denied_by(name: &'static str) -> (Verdict, Vec<RuleId>) {
    (Verdict::Deny(DenialKind::Terminating), vec![built_in(name)])
}

#[expect(clippy::expect_used, reason = "the built-in names are constants, and a test reads each of them")]
fn built_in(name: &'static str) -> RuleId {
    // INVARIANT: every name in `BUILT_IN` is a rule id.
    RuleId::new(name).expect("a built-in name is a rule id")
}

fn check(rule: &ToolRule) -> Result<(), RuleError> {
    if rule.id.as_str().starts_with(RESERVED) {
        return Err(RuleError::Reserved(rule.id.clone()));
    }
    if rule.tools.is_empty() {
        return Err(RuleError::NoTool(rule.id.clone()));
    }
    if rule.examples.is_empty() {
        return Err(RuleError::NoExample(rule.id.clone()));
    }
    Ok(())
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

fn cited(rules: &[RuleId]) -> String {
    if rules.is_empty() {
        return "no rule".to_owned();
    }
    rules.iter().map(RuleId::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_name_is_a_reserved_rule_id_with_a_reason() {
        for (name, why) in BUILT_IN {
            assert!(built_in(name).as_str().starts_with(RESERVED));
            assert!(!why.is_empty());
        }
    }
}
