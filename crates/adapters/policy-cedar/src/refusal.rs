use ambit_blueprint::RuleError;
use ambit_ids::RuleId;
use ambit_policy::Capability;

/// Why there is no engine for a bundle. Nothing of it is used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CedarError {
    /// The rules are not a bundle, or one of their examples does not come out.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// A rule offers an approval that nobody can give to a run.
    #[error(
        "the rule {rule} asks for an approval of {capability}, which no approval gives to a run; nothing of the bundle is \
         used: forbid it instead"
    )]
    NeverApprovable {
        /// The rule.
        rule: RuleId,
        /// What it asks for.
        capability: Capability,
    },
    /// Cedar does not take the policy of a rule.
    #[error("Cedar refuses {policy}: {why}; nothing of the bundle is used")]
    Refused {
        /// The policy, by the name of its rule, or all of them.
        policy: String,
        /// What Cedar says.
        why: String,
    },
    /// A call that is known to be denied would not be, or one that is known to be permitted would not be.
    #[error(
        "the policy engine failed its self-test: {case} was answered otherwise than it must be; no call is decided: \
         report this defect"
    )]
    SelfTest {
        /// What was asked.
        case: String,
    },
    /// The parts of the engine that no bundle changes do not fit together.
    #[error("the policy engine cannot be built: {0}; no call is decided: report this defect")]
    Unusable(String),
}

impl CedarError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Rules(error) => error.code(),
            Self::NeverApprovable { .. } => "POLICY_NEVER_APPROVABLE",
            Self::Refused { .. } => "POLICY_REFUSED_BY_CEDAR",
            Self::SelfTest { .. } => "POLICY_SELF_TEST_FAILED",
            Self::Unusable(_) => "POLICY_ENGINE_UNUSABLE",
        }
    }

    pub(crate) fn unusable(error: &impl std::fmt::Display) -> Self {
        Self::Unusable(error.to_string())
    }
}
