use ambit_ids::vocabulary;

use crate::predicate::PredicateType;

vocabulary!(
    /// What a key is for. Each part of a deployment has a key of its own, and one key has one role, so that whoever steals
    /// one can tell one part of a story and no more.
    KeyRole {
        /// Signs the checkpoints of a log.
        Log = "log",
        /// Says how a revision came to be.
        Orchestrator = "orchestrator",
        /// Says what a patch made of which tree.
        ToolBroker = "toolBroker",
        /// Says how a gate ended on which tree.
        Evaluator = "evaluator",
        /// Says what a person decided.
        ApprovalBroker = "approvalBroker",
        /// Says what a sandbox could do, what it was denied, and that nothing of it is left.
        SandboxManager = "sandboxManager",
        /// Says whether a revision may be previewed.
        PolicyEvaluator = "policyEvaluator",
        /// Signs checkpoints of logs of others.
        Witness = "witness",
    }
);

impl KeyRole {
    /// The statements that a key of this role may sign. What is not listed it may not.
    #[must_use]
    pub const fn may_sign(self) -> &'static [PredicateType] {
        match self {
            Self::Orchestrator => &[PredicateType::Provenance],
            Self::ToolBroker => &[PredicateType::Link],
            Self::Evaluator => &[PredicateType::TestResult, PredicateType::Link],
            Self::ApprovalBroker => &[PredicateType::ApprovalReceipt],
            Self::SandboxManager => {
                &[PredicateType::SandboxManifest, PredicateType::DenialProbe, PredicateType::CleanupProof]
            }
            Self::PolicyEvaluator => &[PredicateType::VerificationSummary],
            // Their signatures stand under checkpoints, which are no statements.
            Self::Log | Self::Witness => &[],
        }
    }

    /// Whether keys of this role are Ed25519: checkpoints are signed with it, statements with ECDSA.
    #[must_use]
    pub const fn is_of_a_log(self) -> bool {
        matches!(self, Self::Log | Self::Witness)
    }
}
