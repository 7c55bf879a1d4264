use std::collections::BTreeMap;

use ambit_blueprint::{Explanation, RuleError, ToolRule, as_meant, check_examples, check_rules};
use ambit_ids::{Digest, RuleId};
use ambit_policy::{Answer, Decision, DenialKind, EngineVersion, Request, Verdict, combine};
use ambit_ports::policy::PolicyEngine;

use crate::call::Call;

/// The name and version that decisions carry.
pub const ENGINE: &str = "rules/1";

/// The denials that the engine makes by itself, which no bundle can lift: their names and why they are there.
const BUILT_IN: [(&str, &str); 3] = [
    (POLICY_PIN, "The run is pinned to another policy bundle than the one that was asked."),
    (UNREADABLE, "The request has no canonical form, so the decision could not be made again."),
    (UNCLASSIFIED, "What trusted code cannot classify is never permitted."),
];
const POLICY_PIN: &str = "pin.policy-digest";
const UNREADABLE: &str = "pin.request-form";
const UNCLASSIFIED: &str = "pin.unclassified";

/// Decides by the rules of one bundle, in no order: the strictest answer of all rules that apply wins.
#[derive(Debug)]
pub struct RuleEngine {
    policy: Digest,
    rules: BTreeMap<RuleId, ToolRule>,
}

impl RuleEngine {
    /// An engine for the bundle whose document has the digest `policy`.
    ///
    /// # Errors
    /// [`RuleError`] where the rules are not a bundle, or one of their examples does not come out.
    pub fn new(policy: Digest, rules: &[ToolRule]) -> Result<Self, RuleError> {
        check_rules(rules)?;
        let by_id = as_meant(rules).into_iter().map(|rule| (rule.id.clone(), rule)).collect();
        let engine = Self { policy, rules: by_id };
        check_examples(rules, |example| engine.answer(&Call::from(example)))?;
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
        Decision { verdict, rules, engine: EngineVersion(ENGINE.to_owned()), input }
    }

    fn instead(&self, rule: &RuleId) -> Option<String> {
        self.explanation(rule)?.instead
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_name_is_a_reserved_rule_id_with_a_reason() {
        for (name, why) in BUILT_IN {
            assert!(built_in(name).as_str().starts_with(ambit_blueprint::BUILT_IN_RULES));
            assert!(!why.is_empty());
        }
    }
}
