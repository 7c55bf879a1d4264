use std::collections::BTreeSet;
use std::sync::LazyLock;

use ambit_blueprint::{Explanation, RuleExample, ToolRule, as_meant, check_examples, check_rules};
use ambit_ids::{Digest, RuleId};
use ambit_policy::{Decision, DenialKind, EngineVersion, FactKind, Request, Verdict};
use ambit_ports::policy::PolicyEngine;
use cedar_policy::{EntityUid, PolicySet};

use crate::ground::Ground;
use crate::law::Law;
use crate::laws::Laws;
use crate::question::{Question, kinds_of};
use crate::refusal::CedarError;
use crate::sample::request_of;
use crate::self_test;
use crate::slice::Slices;

/// The name and version that decisions carry. It changes where the same bundle could answer otherwise.
pub const ENGINE: &str = "cedar/1";

/// Denies what has no canonical form.
const UNREADABLE: &str = "pin.request-form";
/// Denies what Cedar could not evaluate.
const EVALUATION: &str = "pin.evaluation";

/// The denials that no Cedar policy makes, and why they are there.
const OUTSIDE_OF_CEDAR: [(&str, &str); 2] = [
    (UNREADABLE, "The request has no canonical form, so the decision could not be made again."),
    (
        EVALUATION,
        "A policy could not be evaluated, or the request does not fit the schema; what fails is denied.",
    ),
];

static GROUND: LazyLock<Result<Ground, CedarError>> = LazyLock::new(|| {
    let ground = Ground::build()?;
    self_test::of_ground(&ground)?;
    Ok(ground)
});

/// The one ground of the process, which passed its self-test.
fn ground() -> Result<&'static Ground, CedarError> {
    GROUND.as_ref().map_err(Clone::clone)
}

/// Decides by the rules of one bundle, through Cedar.
#[derive(Debug)]
pub struct CedarEngine {
    ground: &'static Ground,
    policy: Digest,
    laws: Laws,
    slices: Slices,
    /// Every policy.
    whole: PolicySet,
    /// What is asked where the run is pinned to another policy set, of whose rules this engine knows nothing.
    standing: PolicySet,
}

impl CedarEngine {
    /// An engine for the rules of the policy set whose digest is `policy`.
    ///
    /// # Errors
    /// [`CedarError`] where the rules are not a bundle, Cedar does not take them, an example does not come out, or a call that
    /// must be denied would not be.
    pub fn new(policy: Digest, rules: &[ToolRule]) -> Result<Self, CedarError> {
        let ground = ground()?;
        check_rules(rules)?;
        let mut laws = ground.standing.clone();
        for rule in &as_meant(rules) {
            laws.push(Law::of_rule(rule)?);
        }
        let whole =
            ground.validate("the policies of the bundle", laws.iter().map(|law| law.policy.clone()))?;
        let standing = ground.standing.iter().map(|law| law.policy.clone());
        let engine = Self {
            ground,
            policy,
            slices: Slices::new(&laws)?,
            laws: Laws::new(&laws),
            whole,
            standing: PolicySet::from_policies(standing).map_err(|error| CedarError::unusable(&error))?,
        };
        check_examples(rules, |example| match request_of(policy, example) {
            Ok(request) => engine.answer(&request).unwrap_or_else(|| outside(EVALUATION)),
            Err(_) => outside(EVALUATION),
        })?;
        self_test::of_engine(policy, &engine)?;
        Ok(engine)
    }

    /// The rules that determined the decision, in their own words, in the decision's order. A rule that this engine does not
    /// know, since another one decided, is left out.
    #[must_use]
    pub fn explain(&self, decision: &Decision) -> Vec<Explanation> {
        decision.rules.iter().filter_map(|id| self.explanation(id)).collect()
    }

    /// How many policies Cedar is given for the request: those that can apply to it, however large the bundle is.
    #[must_use]
    pub fn handed(&self, request: &Request) -> usize {
        let kinds = kinds_of(request);
        self.slices.of(request.tool, &kinds, request.asked).map_or(0, |set| set.num_of_policies())
    }

    /// Decides a call as an example tells it: by a run that is pinned to this engine's policy set.
    ///
    /// # Errors
    /// [`CedarError::Unusable`] where there is no such request.
    pub fn decide_example(&self, example: &RuleExample) -> Result<Decision, CedarError> {
        let request = request_of(self.policy, example).map_err(|error| CedarError::unusable(&error))?;
        Ok(self.decide(&request))
    }

    /// Decides as [`PolicyEngine::decide`] does, over every policy there is: what choosing among them is held against.
    #[must_use]
    pub fn decide_by_all(&self, request: &Request) -> Decision {
        self.decided(request, |engine| {
            let kinds = kinds_of(request);
            let action = engine.ground.tools.get(&request.tool)?;
            engine.ask(request, &kinds, action, &engine.whole)
        })
    }

    fn decided(
        &self,
        request: &Request,
        ask: impl FnOnce(&Self) -> Option<(Verdict, Vec<RuleId>)>,
    ) -> Decision {
        let input = request.to_canonical();
        let (verdict, rules) = match &input {
            Err(_) => outside(UNREADABLE),
            Ok(_) => ask(self).unwrap_or_else(|| outside(EVALUATION)),
        };
        // A request without canonical bytes has no digest; that of nothing stands for it beside its own rule.
        let input = input.map_or_else(|_| Digest::of(b""), |bytes| bytes.digest());
        Decision { verdict, rules, engine: EngineVersion(ENGINE.to_owned()), input }
    }

    /// How many policies there are, those around every bundle included.
    #[must_use]
    pub fn policies(&self) -> usize {
        self.laws.len()
    }

    fn explanation(&self, id: &RuleId) -> Option<Explanation> {
        if let Some(law) = self.laws.get(id) {
            return Some(law.explanation());
        }
        let (_, why) = OUTSIDE_OF_CEDAR.iter().find(|(name, _)| *name == id.as_str())?;
        Some(Explanation { rule: id.clone(), why: (*why).to_owned(), instead: None })
    }

    /// What the policies that can apply answer; `None` where they cannot be asked.
    fn answer(&self, request: &Request) -> Option<(Verdict, Vec<RuleId>)> {
        let kinds = kinds_of(request);
        let action = self.ground.tools.get(&request.tool)?;
        if request.policy != self.policy {
            return self.ask(request, &kinds, action, &self.standing);
        }
        let policies = self.slices.of(request.tool, &kinds, request.asked)?;
        self.ask(request, &kinds, action, &policies)
    }

    fn ask(
        &self,
        request: &Request,
        kinds: &BTreeSet<FactKind>,
        action: &EntityUid,
        policies: &PolicySet,
    ) -> Option<(Verdict, Vec<RuleId>)> {
        let question = Question::new(self.ground, self.policy, request, kinds, action)?;
        self.laws.ask(policies, &question)
    }
}

impl PolicyEngine for CedarEngine {
    fn decide(&self, request: &Request) -> Decision {
        self.decided(request, |engine| engine.answer(request))
    }

    fn instead(&self, rule: &RuleId) -> Option<String> {
        self.laws.get(rule)?.instead.clone()
    }
}

#[expect(clippy::expect_used, reason = "the names are constants, and a test reads each of them")]
fn outside(name: &'static str) -> (Verdict, Vec<RuleId>) {
    // INVARIANT: every name in `OUTSIDE_OF_CEDAR` is a rule id.
    let rule = RuleId::new(name).expect("a built-in name is a rule id");
    (Verdict::Deny(DenialKind::Terminating), vec![rule])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_outside_of_cedar_is_a_reserved_rule_id_with_a_reason() {
        for (name, why) in OUTSIDE_OF_CEDAR {
            assert!(outside(name).1[0].as_str().starts_with(ambit_blueprint::BUILT_IN_RULES));
            assert!(!why.is_empty());
        }
    }
}
