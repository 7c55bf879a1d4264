use std::collections::BTreeMap;

use ambit_canonical::{CanonicalBytes, EncodeError};
use ambit_ids::{ApproverId, Digest, ProposalId, ReceiptId, RunId, Scope, UnixMs};
use ambit_policy::{ApprovalInHand, Capability};
use serde::{Deserialize, Serialize};

use crate::consent::VoidReason;

/// A call that the policy holds back until a person approves exactly it.
///
/// Its id is derived from its content, so another patch, base, policy or capability is another proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HeldProposal {
    /// The owner of the run.
    pub scope: Scope,
    /// The run.
    pub run: RunId,
    /// The policy set that held it back.
    pub policy: Digest,
    /// What it needs.
    pub capability: Capability,
    /// The digest of the call's exact arguments.
    pub arguments: Digest,
    /// The digest of the patch that would be applied.
    pub subject: Digest,
    /// The digest of the tree that it would be applied to.
    pub target: Digest,
    /// The digest of the tree that would result.
    pub expected_effect: Digest,
    /// The artifacts that speak for or against it: the newest record of each gate.
    pub evidence: Vec<Digest>,
    /// What undoes it.
    pub rollback: Rollback,
    /// The digest of what a person is shown of it. Proposals from before views were kept have none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub view: Option<Digest>,
}

/// What undoes an approved effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rollback {
    /// The effect exists only in the run's own revision: cancelling the run leaves it ineligible, and the base
    /// revision never changes.
    CancelRun,
}

impl HeldProposal {
    /// The canonical bytes: what an approver sees and what is hashed.
    ///
    /// # Errors
    /// [`EncodeError`], which no proposal that was made from a state has.
    pub fn to_canonical(&self) -> Result<CanonicalBytes, EncodeError> {
        ambit_canonical::encode(self)
    }

    /// The digest of the content.
    ///
    /// # Errors
    /// As [`to_canonical`](Self::to_canonical).
    pub fn digest(&self) -> Result<Digest, EncodeError> {
        Ok(self.to_canonical()?.digest())
    }
}

/// The id of the proposal with this digest.
///
/// # Panics
/// Never: thirty-two hexadecimal digits are a valid id.
#[must_use]
pub fn proposal_id(digest: Digest) -> ProposalId {
    #[expect(clippy::expect_used, reason = "hexadecimal digits fit the grammar of ids")]
    // INVARIANT: `prop_` and 32 characters of [0-9a-f].
    ProposalId::new(format!("prop_{}", &digest.to_hex()[..32])).expect("hexadecimal digits are a valid id")
}

/// An approval that was asked for and is not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingApproval {
    /// The proposal.
    pub proposal: ProposalId,
    /// The digest of its content, which the decision must quote.
    pub digest: Digest,
    /// What is asked for.
    pub capability: Capability,
    /// The position in the run's stream at which it was asked for, which the decision must quote.
    pub asked_at: u64,
    /// When the question ends by itself, and the run with it.
    pub expires: UnixMs,
}

/// A decision of a person about one proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalDecision {
    /// The proposal.
    pub proposal: ProposalId,
    /// The digest that the person saw.
    pub digest: Digest,
    /// The position of the question that the person answers.
    pub expected_sequence: u64,
    /// What was decided.
    pub verdict: ApprovalVerdict,
    /// Who decided, as authenticated by the approver's key.
    pub approver: ApproverId,
    /// The receipt that this decision gets.
    pub receipt: ReceiptId,
    /// The digest of the signed decision, kept as a blob.
    pub evidence: Digest,
}

/// The two answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalVerdict {
    /// It may be done once.
    Approved,
    /// It may not be done.
    Rejected,
}

impl ApprovalVerdict {
    /// The answer as tools and records spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Rejected => "rejected",
        }
    }
}

/// An approval that was granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Its id: all that the agent sees of it.
    pub id: ReceiptId,
    /// The proposal.
    pub proposal: ProposalId,
    /// What was approved.
    pub capability: Capability,
    /// The digest of the arguments that were approved.
    pub arguments: Digest,
    /// The tree for which it was approved.
    pub target: Digest,
    /// The policy under which it was approved.
    pub policy: Digest,
    /// Who approved.
    pub approver: ApproverId,
    /// From when on it can be used.
    pub begins: UnixMs,
    /// When it ends.
    pub expires: UnixMs,
    /// Whether it was used. It is used once.
    pub consumed: bool,
    /// Why it counts no more, where something ended it before it was used.
    pub void: Option<VoidReason>,
}

impl Receipt {
    /// Whether it can still be used at some time.
    #[must_use]
    pub const fn is_live(&self) -> bool {
        !self.consumed && self.void.is_none()
    }

    /// Whether its time is over, or did not begin yet.
    #[must_use]
    pub const fn is_out_of_time(&self, now: UnixMs) -> bool {
        now.get() < self.begins.get() || now.get() >= self.expires.get()
    }
}

/// The held proposals and receipts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalBook {
    held: BTreeMap<ProposalId, HeldProposal>,
    receipts: BTreeMap<ReceiptId, Receipt>,
}

impl ApprovalBook {
    /// The held proposal of this id.
    #[must_use]
    pub fn held(&self, id: &ProposalId) -> Option<&HeldProposal> {
        self.held.get(id)
    }

    /// Every proposal that was held back, by id, whatever became of it.
    pub fn proposals(&self) -> impl Iterator<Item = (&ProposalId, &HeldProposal)> {
        self.held.iter()
    }

    /// The receipts, by id.
    pub fn receipts(&self) -> impl Iterator<Item = &Receipt> {
        self.receipts.values()
    }

    /// The unused, unexpired receipt for exactly these arguments that nothing has ended.
    #[must_use]
    pub fn in_hand(&self, arguments: Digest, now: UnixMs) -> Option<&Receipt> {
        self.receipts.values().find(|receipt| {
            receipt.arguments == arguments && receipt.is_live() && !receipt.is_out_of_time(now)
        })
    }

    /// The receipts that can still be used.
    pub fn live(&self) -> impl Iterator<Item = &Receipt> {
        self.receipts.values().filter(|receipt| receipt.is_live())
    }

    /// Why the newest receipt for exactly these arguments was ended; `None` where none was.
    #[must_use]
    pub fn ended(&self, arguments: Digest) -> Option<(&ReceiptId, VoidReason)> {
        let mut of_call = self.receipts.values().filter(|receipt| receipt.arguments == arguments);
        let newest = of_call.by_ref().max_by_key(|receipt| receipt.expires)?;
        newest.void.map(|reason| (&newest.id, reason))
    }

    /// The same as a fact for the policy.
    #[must_use]
    pub fn as_fact(&self, arguments: Digest, now: UnixMs) -> Option<ApprovalInHand> {
        self.in_hand(arguments, now).map(|receipt| ApprovalInHand {
            capability: receipt.capability,
            subject: receipt.arguments,
            expires: receipt.expires,
        })
    }

    /// The book with a proposal held back.
    #[must_use]
    pub fn hold(mut self, id: ProposalId, proposal: HeldProposal) -> Self {
        self.held.insert(id, proposal);
        self
    }

    /// The book with a receipt.
    #[must_use]
    pub fn grant(mut self, receipt: Receipt) -> Self {
        self.receipts.insert(receipt.id.clone(), receipt);
        self
    }

    /// The book with a receipt ended before it was used.
    #[must_use]
    pub fn void(mut self, id: &ReceiptId, reason: VoidReason) -> Self {
        if let Some(receipt) = self.receipts.get_mut(id).filter(|receipt| receipt.is_live()) {
            receipt.void = Some(reason);
        }
        self
    }

    /// The book with a receipt used up.
    #[must_use]
    pub fn consume(mut self, id: &ReceiptId) -> Self {
        if let Some(receipt) = self.receipts.get_mut(id) {
            receipt.consumed = true;
        }
        self
    }
}
