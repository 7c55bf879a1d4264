use ambit_ids::{ApproverId, Digest, ProposalId, Scope};
use ambit_run::ApprovalVerdict;
use serde::{Deserialize, Serialize};

use crate::signature::approval_decision_message;
use crate::{CredentialForm, Project};

/// A decision with the signature of the approver. Whoever can write to an inbox can leave one; only the approver can
/// make one that counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignedDecision {
    /// The proposal.
    pub proposal: ProposalId,
    /// The digest of what the approver saw.
    pub digest: Digest,
    /// The position of the question in the run's stream.
    pub expected_sequence: u64,
    /// Whether it was approved.
    pub approved: bool,
    /// Who decided.
    pub approver: ApproverId,
    /// How the approver's credential was kept. Decisions from before it was told do not say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub credential: Option<CredentialForm>,
    /// The Ed25519 signature, in hexadecimal digits.
    pub signature: String,
}

impl SignedDecision {
    /// The answer.
    #[must_use]
    pub const fn verdict(&self) -> ApprovalVerdict {
        if self.approved { ApprovalVerdict::Approved } else { ApprovalVerdict::Rejected }
    }

    /// Whether somebody who may approve now signed exactly this.
    #[must_use]
    pub fn counts(&self, scope: &Scope, project: &Project) -> bool {
        project.may_approve(&self.approver).is_some() && self.is_genuine(scope, project)
    }

    /// Whether an approver of the project signed exactly this, who may have been revoked since.
    #[must_use]
    pub fn is_genuine(&self, scope: &Scope, project: &Project) -> bool {
        let message = approval_decision_message(
            scope,
            &self.proposal,
            self.digest,
            self.expected_sequence,
            self.verdict(),
            self.credential,
        );
        project.approver(&self.approver).is_some_and(|key| key.verifies_hex(&message, &self.signature))
    }
}
