use std::collections::HashMap;

use ambit_ids::RuleId;
use ambit_policy::{Answer, Verdict, combine};
use cedar_policy::{Authorizer, PolicyId, PolicySet};

use crate::law::Law;
use crate::question::Question;

/// The laws by the names of their policies.
#[derive(Debug)]
pub(crate) struct Laws(HashMap<PolicyId, Law>);

impl Laws {
    pub(crate) fn new(laws: &[Law]) -> Self {
        Self(laws.iter().map(|law| (law.policy.id().clone(), law.clone())).collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn get(&self, id: &RuleId) -> Option<&Law> {
        self.0.get(&PolicyId::new(id.as_str()))
    }

    /// Asks Cedar. `None` where an evaluation failed, or where Cedar's answer and the determining policies differ.
    pub(crate) fn ask(&self, policies: &PolicySet, question: &Question) -> Option<(Verdict, Vec<RuleId>)> {
        let response = Authorizer::new().is_authorized(&question.request, policies, &question.entities);
        if response.diagnostics().errors().next().is_some() {
            return None;
        }
        let determining: Option<Vec<&Law>> =
            response.diagnostics().reason().map(|policy| self.0.get(policy)).collect();
        let mut answers: Vec<(RuleId, Answer)> =
            determining?.into_iter().map(|law| (law.id.clone(), law.answer)).collect();
        // Cedar tells its reasons in no order; which of two approvals is asked for first must not depend on it.
        answers.sort_by(|(one, _), (other, _)| one.cmp(other));
        let (verdict, rules) = combine(&answers);
        let allowed = response.decision() == cedar_policy::Decision::Allow;
        (allowed == (verdict == Verdict::Allow)).then_some((verdict, rules))
    }
}
