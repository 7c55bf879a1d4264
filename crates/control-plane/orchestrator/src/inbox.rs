use ambit_canonical::{CanonicalBytes, EncodeError};
use ambit_evidence::Project;
use ambit_evidence::signature::approval_decision_message;
use ambit_ids::{ApproverId, Digest, ProposalId, Scope, limits};
use ambit_run::ApprovalVerdict;
use serde::{Deserialize, Serialize};

/// What another process can leave for the owner of a run. It holds no lease, so it cannot write to the run itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum InboxCommand {
    /// The customer wants the run to end.
    Cancel {
        /// Who asks.
        by: String,
    },
    /// A person decided about a proposal.
    Decide(SignedDecision),
}

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
    /// The Ed25519 signature, in hexadecimal digits.
    pub signature: String,
}

impl InboxCommand {
    /// The canonical bytes.
    ///
    /// # Errors
    /// [`EncodeError`], which no command that was made here has.
    pub fn to_canonical(&self) -> Result<CanonicalBytes, EncodeError> {
        ambit_canonical::encode(self)
    }

    /// Reads a command that was left.
    ///
    /// # Errors
    /// [`EncodeError`] where the bytes are none.
    pub fn read(bytes: &[u8]) -> Result<Self, EncodeError> {
        ambit_canonical::decode(bytes, limits::RECORD_BYTES)
    }
}

impl SignedDecision {
    /// The answer.
    #[must_use]
    pub const fn verdict(&self) -> ApprovalVerdict {
        if self.approved { ApprovalVerdict::Approved } else { ApprovalVerdict::Rejected }
    }

    /// Whether an approver of the project signed exactly this.
    #[must_use]
    pub fn is_genuine(&self, scope: &Scope, project: &Project) -> bool {
        let message = approval_decision_message(
            scope,
            &self.proposal,
            self.digest,
            self.expected_sequence,
            self.verdict(),
        );
        project.approver(&self.approver).is_some_and(|key| key.verifies_hex(&message, &self.signature))
    }
}
