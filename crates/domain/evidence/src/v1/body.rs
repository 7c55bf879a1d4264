use std::collections::BTreeSet;

use ambit_ids::{
    ApproverId, BackendId, CaseId, Digest, GateId, Incarnation, LeaseId, MicroUsd, ProposalId, ReceiptId,
    RevisionId, RuleId, StepId, UnixMs,
};
use ambit_policy::Capability;
use ambit_run::VoidReason;
use serde::{Deserialize, Serialize};

use super::call::{CallV1, DenialV1};
use super::observation::{GateRecordV1, ObservationV1};
use super::pins::PinsV1;

/// What happens in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body", rename_all_fields = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "each is the event of the same name, field by field")]
pub enum RunBody {
    #[serde(rename = "run.admitted")]
    Admitted { pins: Box<PinsV1>, at_ms: UnixMs },
    #[serde(rename = "lease.allocated")]
    LeaseAllocated {
        allocation: u32,
        lease: LeaseId,
        incarnation: Incarnation,
        backend: BackendId,
        manifest: Digest,
    },
    #[serde(rename = "lease.lost")]
    LeaseLost { incarnation: Incarnation },
    #[serde(rename = "lease.retired")]
    LeaseRetired { incarnation: Incarnation },
    #[serde(rename = "turn.opened")]
    TurnOpened { turn: u32, reserved_micro_usd: MicroUsd },
    #[serde(rename = "budget.charged")]
    BudgetCharged { turn: u32, charged_micro_usd: MicroUsd, reported: bool },
    #[serde(rename = "plan.accepted")]
    PlanAccepted { turn: u32, steps: Vec<PlanStepV1> },
    #[serde(rename = "plan.rejected")]
    PlanRejected { turn: u32, answer: Digest, denial: DenialV1 },
    #[serde(rename = "proposal.rejected")]
    ProposalRejected { turn: u32, answer: Digest, denial: DenialV1 },
    #[serde(rename = "hypothesis.recorded")]
    HypothesisRecorded { turn: u32, gate: GateId, attempt: u32, text: String },
    #[serde(rename = "tool.decided")]
    ToolDecided(Box<CallV1>),
    #[serde(rename = "tool.effect")]
    ToolEffect { turn: u32, observation: ObservationV1 },
    #[serde(rename = "patch.applied")]
    PatchApplied { turn: u32, observation: ObservationV1 },
    #[serde(rename = "gate.finished")]
    GateFinished { turn: u32, observation: ObservationV1 },
    #[serde(rename = "tool.unknown")]
    ToolUnknown { turn: u32, observation: ObservationV1 },
    #[serde(rename = "approval.requested")]
    ApprovalRequested {
        turn: u32,
        proposal: ProposalId,
        digest: Digest,
        capability: Capability,
        expires_ms: UnixMs,
    },
    #[serde(rename = "approval.decided")]
    ApprovalDecided {
        proposal: ProposalId,
        digest: Digest,
        expected_sequence: u64,
        approved: bool,
        approver: ApproverId,
        receipt: ReceiptId,
        evidence: Digest,
        receipt_expires_ms: UnixMs,
    },
    #[serde(rename = "approval.consumed")]
    ApprovalConsumed { turn: u32, receipt: ReceiptId },
    #[serde(rename = "approval.voided")]
    ApprovalVoided { proposal: ProposalId },
    #[serde(rename = "receipt.voided")]
    ReceiptVoided { receipt: ReceiptId, reason: VoidReason },
    #[serde(rename = "budget.exhausted")]
    BudgetExhausted { limit: String },
    #[serde(rename = "cancel.requested")]
    CancelRequested { by: String },
    #[serde(rename = "run.stopping")]
    RunStopping { reason: StopReasonV1 },
    #[serde(rename = "hidden-check.finished")]
    HiddenCheckFinished(Box<GateRecordV1>),
    #[serde(rename = "process.terminated")]
    ProcessTerminated { killed: u32, receipt: Digest },
    #[serde(rename = "artifact.exported")]
    ArtifactExported { artifact: Digest },
    #[serde(rename = "sandbox.destroyed")]
    SandboxDestroyed { receipt: Digest },
    #[serde(rename = "cleanup.failed")]
    CleanupFailed { code: String },
    #[serde(rename = "revision.eligible")]
    RevisionEligible { revision: RevisionId, tree: Digest },
    #[serde(rename = "revision.ineligible")]
    RevisionIneligible { revision: RevisionId, tree: Digest },
    #[serde(rename = "run.terminal")]
    RunTerminal { phase: String, reason: StopReasonV1 },
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "each field is the one of the plan step")]
pub struct PlanStepV1 {
    pub id: StepId,
    pub summary: String,
    pub work: String,
    pub cases: BTreeSet<CaseId>,
}

/// Why a run ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StopReasonV1 {
    /// The code of the reason.
    pub code: String,
    /// The limit, for a budget.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<String>,
    /// The rules, for a denial.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub rules: Vec<RuleId>,
    /// The code of the failure, for one of the platform.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<String>,
}

impl RunBody {
    /// The kind, as it is listed.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Admitted { .. } => "run.admitted",
            Self::LeaseAllocated { .. } => "lease.allocated",
            Self::LeaseLost { .. } => "lease.lost",
            Self::LeaseRetired { .. } => "lease.retired",
            Self::TurnOpened { .. } => "turn.opened",
            Self::BudgetCharged { .. } => "budget.charged",
            Self::PlanAccepted { .. } => "plan.accepted",
            Self::PlanRejected { .. } => "plan.rejected",
            Self::ProposalRejected { .. } => "proposal.rejected",
            Self::HypothesisRecorded { .. } => "hypothesis.recorded",
            Self::ToolDecided(_) => "tool.decided",
            Self::ToolEffect { .. } => "tool.effect",
            Self::PatchApplied { .. } => "patch.applied",
            Self::GateFinished { .. } => "gate.finished",
            Self::ToolUnknown { .. } => "tool.unknown",
            Self::ApprovalRequested { .. } => "approval.requested",
            Self::ApprovalDecided { .. } => "approval.decided",
            Self::ApprovalConsumed { .. } => "approval.consumed",
            Self::ApprovalVoided { .. } => "approval.voided",
            Self::ReceiptVoided { .. } => "receipt.voided",
            Self::BudgetExhausted { .. } => "budget.exhausted",
            Self::CancelRequested { .. } => "cancel.requested",
            Self::RunStopping { .. } => "run.stopping",
            Self::HiddenCheckFinished(_) => "hidden-check.finished",
            Self::ProcessTerminated { .. } => "process.terminated",
            Self::ArtifactExported { .. } => "artifact.exported",
            Self::SandboxDestroyed { .. } => "sandbox.destroyed",
            Self::CleanupFailed { .. } => "cleanup.failed",
            Self::RevisionEligible { .. } => "revision.eligible",
            Self::RevisionIneligible { .. } => "revision.ineligible",
            Self::RunTerminal { .. } => "run.terminal",
        }
    }
}
