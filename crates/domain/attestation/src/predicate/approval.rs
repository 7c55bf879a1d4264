use ambit_ids::{ApproverId, Digest, OrganizationId, ProjectId, ReceiptId, RunId, vocabulary};
use ambit_policy::Capability;
use serde::{Deserialize, Serialize};

use super::{Predicate, PredicateType};
use crate::key::KeyId;
use crate::wording::{Moment, Name, Uri};

/// The longest time for which an approval counts.
pub const RECEIPT_MS: u64 = 15 * 60_000;

vocabulary!(
    /// The two answers.
    Decision {
        /// It may be done once.
        Approved = "approved",
        /// It may not be done.
        Rejected = "rejected",
    }
);

/// What a person decided about exactly which proposal. The subject of the statement is the proposal, by the digest of its
/// canonical bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalReceipt {
    /// All that the agent sees of it.
    pub receipt: ReceiptId,
    /// What was decided.
    pub decision: Decision,
    /// What for.
    pub capability: Capability,
    /// The digest of the exact arguments of the call.
    pub arguments: Digest,
    /// For which run, on which tree, under which policy. It counts for no other.
    pub scope: RunScope,
    /// Who decided.
    pub approver: Approver,
    /// When.
    pub decided_at: Moment,
    /// Until when it counts; from [`Self::decided_at`] on, and never longer than [`RECEIPT_MS`].
    pub expires_at: Moment,
    /// The digest of what the person was shown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub view: Option<Digest>,
    /// The key of whoever may act on it, where that is one key.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub audience: Option<KeyId>,
    /// How often it may be used. It is used once.
    pub uses: u32,
}

/// Where an approval counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunScope {
    /// The organisation.
    pub org: OrganizationId,
    /// The project.
    pub project: ProjectId,
    /// The run.
    pub run: RunId,
    /// The tree that it was given for.
    pub tree: Digest,
    /// The policy set.
    pub policy: Digest,
}

/// Who decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approver {
    /// By the name under which the person's own key is registered.
    pub id: ApproverId,
    /// The digest of what the person signed with that key.
    pub evidence: Digest,
    /// How the person's key was kept, where the decision says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub credential: Option<Name>,
}

impl Predicate for ApprovalReceipt {
    const TYPE: PredicateType = PredicateType::ApprovalReceipt;

    fn check(&self) -> Result<(), &'static str> {
        let (decided, expires) = (self.decided_at.get(), self.expires_at.get());
        if expires <= decided {
            return Err("the receipt ends before it begins");
        }
        if expires.since(decided).get() > RECEIPT_MS {
            return Err("the receipt counts for too long");
        }
        if self.uses != 1 {
            return Err("a receipt is used once");
        }
        Ok(())
    }

    fn deployment(&self) -> Option<&Uri> {
        None
    }
}
