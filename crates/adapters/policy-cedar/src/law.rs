use ambit_blueprint::{Explanation, RuleCondition, ToolRule};
use ambit_ids::RuleId;
use ambit_policy::{Answer, Capability, DenialKind, ToolName};
use cedar_policy::{Effect, Policy, PolicyId};

use crate::compile::policy_text;
use crate::refusal::CedarError;
use crate::standing;

/// One Cedar policy, with what its annotations say and with what it can apply to.
#[derive(Debug, Clone)]
pub(crate) struct Law {
    pub(crate) policy: Policy,
    pub(crate) id: RuleId,
    pub(crate) answer: Answer,
    pub(crate) why: String,
    pub(crate) instead: Option<String>,
    /// The tools whose calls it can apply to.
    pub(crate) tools: Vec<ToolName>,
    /// What must be true of a call for it to apply: what the policy says, for choosing the policies that can.
    pub(crate) when: RuleCondition,
}

impl Law {
    /// The law of a rule of a bundle.
    pub(crate) fn of_rule(rule: &ToolRule) -> Result<Self, CedarError> {
        if let Answer::RequireApproval(capability) = rule.answer
            && !capability.is_approvable()
        {
            return Err(CedarError::NeverApprovable { rule: rule.id.clone(), capability });
        }
        let name = rule.id.as_str();
        let refused =
            |why: String| CedarError::Refused { policy: format!("the policy of the rule {name}"), why };
        let policy = Policy::parse(Some(PolicyId::new(name)), policy_text(rule))
            .map_err(|error| refused(error.to_string()))?;
        Self::read(policy, rule.tools.clone(), rule.when.clone())
            .ok_or_else(|| refused("its annotations do not say what it answers".to_owned()))
    }

    /// The law of a policy that stands around every bundle.
    pub(crate) fn of_standing(policy: &Policy) -> Result<Self, CedarError> {
        let name = policy.annotation("id").unwrap_or_default().to_owned();
        let when = standing::condition_of(&name);
        let renamed = policy.new_id(PolicyId::new(&name));
        Self::read(renamed, ToolName::ALL.to_vec(), when)
            .ok_or_else(|| CedarError::Unusable(format!("the standing policy {name:?} lacks an annotation")))
    }

    /// Reads the answer from the policy itself, so that what Cedar decides by and what is answered cannot differ.
    pub(crate) fn read(policy: Policy, tools: Vec<ToolName>, when: RuleCondition) -> Option<Self> {
        let said = |name: &str| policy.annotation(name);
        let answer = match (policy.effect(), said("approvable"), said("denial")) {
            (Effect::Permit, None, None) => Answer::Permit,
            (Effect::Forbid, Some(capability), None) => {
                Answer::RequireApproval(capability.parse::<Capability>().ok()?)
            }
            (Effect::Forbid, None, Some(kind)) => Answer::Forbid(kind.parse::<DenialKind>().ok()?),
            _ => return None,
        };
        let id = RuleId::new(said("id")?).ok()?;
        let why = said("why")?.to_owned();
        let instead = said("instead").map(str::to_owned);
        Some(Self { policy, id, answer, why, instead, tools, when })
    }

    pub(crate) fn explanation(&self) -> Explanation {
        Explanation { rule: self.id.clone(), why: self.why.clone(), instead: self.instead.clone() }
    }
}
