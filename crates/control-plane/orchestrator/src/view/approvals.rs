use ambit_ids::Digest;
use ambit_run::{Dossier, HeldProposal, Stage, State};
use serde::Serialize;

/// A question to a person, or its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalView {
    /// The proposal.
    pub proposal: String,
    /// `pending`, `approved`, `used` or `void`; `decided` where whoever looks knows of a decision that the run has not taken yet.
    pub state: String,
    /// What is asked for.
    pub capability: String,
    /// The digest that a decision must quote.
    pub digest: Digest,
    /// The position that a decision must quote; `None` once it is decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_sequence: Option<u64>,
    /// When the question, or the receipt, ends.
    pub expires: String,
    /// Who approved; `None` while nobody has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approver: Option<String>,
    /// Why it counts no more, though it was never used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub void: Option<String>,
    /// The exact content that is decided about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<HeldProposal>,
}

/// Receipts, and the question that waits.
pub(super) fn approval_views(state: &State, dossier: &Dossier) -> Vec<ApprovalView> {
    let mut views: Vec<ApprovalView> = dossier
        .approvals
        .receipts()
        .map(|receipt| ApprovalView {
            proposal: receipt.proposal.to_string(),
            state: match (receipt.consumed, receipt.void) {
                (true, _) => "used",
                (false, Some(_)) => "void",
                (false, None) => "approved",
            }
            .to_owned(),
            capability: receipt.capability.to_string(),
            digest: receipt.arguments,
            expected_sequence: None,
            expires: receipt.expires.to_string(),
            approver: Some(receipt.approver.to_string()),
            void: receipt.void.map(|reason| reason.to_string()),
            content: None,
        })
        .collect();
    if let State::Open(open) = state
        && let Stage::Approval { pending, .. } = &open.stage
    {
        views.push(ApprovalView {
            proposal: pending.proposal.to_string(),
            state: "pending".to_owned(),
            capability: pending.capability.to_string(),
            digest: pending.digest,
            expected_sequence: Some(pending.asked_at),
            expires: pending.expires.to_string(),
            approver: None,
            void: None,
            content: dossier.approvals.held(&pending.proposal).cloned(),
        });
    }
    views
}
