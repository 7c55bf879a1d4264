use ambit_ids::{
    BackendId, ByteCount, Digest, GateId, Incarnation, LeaseId, MicroUsd, ProposalId, ReceiptId, RepoPath,
    RevisionId, RuleId, StepId, UnixMs,
};
use ambit_policy::{Capability, Decision, Fact};
use ambit_redaction::Redactions;

use crate::approvals::{ApprovalDecision, ApprovalVerdict, HeldProposal};
use crate::call::ToolCall;
use crate::consent::VoidReason;
use crate::denial::Denial;
use crate::gate_book::GateRecord;
use crate::ledger::Amounts;
use crate::pins::Pins;
use crate::plan::Plan;
use crate::{Limit, Phase, StopReason};

/// Something that happened to a run. Events are facts: they are stored before anything acts on them and never change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The run exists, pinned.
    Admitted {
        /// What it is pinned to.
        pins: Box<Pins>,
        /// When.
        at: UnixMs,
    },
    /// A sandbox is ready.
    SandboxAllocated(SandboxHeld),
    /// The sandbox is gone, together with whatever ran in it.
    SandboxLost {
        /// Which life of it.
        incarnation: Incarnation,
    },
    /// The sandbox in which the agent's calls ran is given back, and another one is made for what the agent must not know
    /// of.
    SandboxRetired {
        /// Which life of it.
        incarnation: Incarnation,
    },
    /// The agent is asked. What the turn can cost is reserved.
    TurnOpened {
        /// The turn, counted from 1.
        turn: u32,
        /// The reservation.
        reserved: MicroUsd,
    },
    /// The turn's reservation is replaced by a charge.
    TurnSettled {
        /// The turn.
        turn: u32,
        /// What it is charged at.
        charged: MicroUsd,
        /// What the charge rests on.
        basis: ChargeBasis,
    },
    /// The agent's plan is accepted; it replaces an earlier one.
    PlanAccepted {
        /// The turn.
        turn: u32,
        /// The plan.
        plan: Plan,
    },
    /// An answer without a call had no effect: a plan that was not accepted, or no proposal at all.
    ProposalDenied {
        /// The turn.
        turn: u32,
        /// The digest of the answer's bytes.
        answer: Digest,
        /// Whether it was a plan.
        was_plan: bool,
        /// Why.
        denial: Denial,
    },
    /// The agent says what it takes to be the cause of a failure.
    HypothesisRecorded {
        /// The turn.
        turn: u32,
        /// The gate that failed.
        gate: GateId,
        /// The execution that failed. Its artifact is kept.
        attempt: u32,
        /// The hypothesis, in the agent's words.
        text: String,
    },
    /// A call is decided. Where the outcome is to perform it, this is the intent that its effect waits for.
    CallDecided(Box<CallDecided>),
    /// What came of a call that was to be performed.
    CallObserved {
        /// The turn.
        turn: u32,
        /// What was seen.
        observation: Observation,
    },
    /// A person is asked.
    ApprovalRequested {
        /// The turn.
        turn: u32,
        /// The proposal.
        proposal: ProposalId,
        /// The digest of its content.
        digest: Digest,
        /// What is asked for.
        capability: Capability,
        /// When the question ends, and the run with it.
        expires: UnixMs,
    },
    /// A person decided.
    ApprovalDecided {
        /// The decision.
        decision: ApprovalDecision,
        /// When the receipt ends.
        receipt_expires: UnixMs,
    },
    /// A receipt was used, in the same commit as the intent that it allows.
    ApprovalConsumed {
        /// The turn.
        turn: u32,
        /// The receipt.
        receipt: ReceiptId,
    },
    /// A receipt counts no more, though it was never used.
    ReceiptVoided {
        /// The receipt.
        receipt: ReceiptId,
        /// Why.
        reason: VoidReason,
    },
    /// Nobody decided in time.
    ApprovalExpired {
        /// The proposal.
        proposal: ProposalId,
    },
    /// A limit is reached; the effect that would pass it does not happen.
    LimitReached {
        /// The limit.
        limit: Limit,
    },
    /// The customer wants the run to end.
    CancelRequested {
        /// Who asked.
        by: String,
    },
    /// No new call begins from here on.
    Stopping {
        /// Why.
        reason: StopReason,
    },
    /// A hidden check ran. The agent is not told.
    HiddenCheckObserved(GateRecord),
    /// Every process of the sandbox is stopped.
    ProcessesTerminated {
        /// Processes that were killed for it.
        killed: u32,
        /// The digest of the backend's receipt.
        receipt: Digest,
    },
    /// The trace so far is kept as an artifact.
    TraceExported {
        /// Its digest.
        artifact: Digest,
    },
    /// Nothing of the sandbox is left.
    SandboxDestroyed {
        /// The digest of the backend's receipt.
        receipt: Digest,
    },
    /// The sandbox could not be removed, or not provably.
    CleanupFailed {
        /// The stable code.
        code: String,
    },
    /// The revision's standing is settled.
    RevisionMarked {
        /// The revision.
        revision: RevisionId,
        /// The tree that it ended with.
        tree: Digest,
        /// Whether it is preview-ready. It never means more than that.
        preview_ready: bool,
    },
    /// The run is over.
    Ended {
        /// The final phase.
        phase: Phase,
        /// Why.
        reason: StopReason,
    },
}

/// A sandbox in the run's hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxHeld {
    /// Which allocation of this run, counted from 1.
    pub allocation: u32,
    /// The lease.
    pub lease: LeaseId,
    /// Which life of it.
    pub incarnation: Incarnation,
    /// The backend.
    pub backend: BackendId,
    /// The digest of the capability manifest as it was measured.
    pub manifest: Digest,
}

/// What a charge rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChargeBasis {
    /// What the agent's provider reported.
    Reported,
    /// The reservation, since nobody can tell.
    Reservation,
}

/// A decided call, with everything that the decision rested on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallDecided {
    /// The turn.
    pub turn: u32,
    /// The call.
    pub call: ToolCall,
    /// The digest of its exact arguments.
    pub arguments: Digest,
    /// The plan step that it cites.
    pub step: Option<StepId>,
    /// What trusted code found out about it; the first of them where they are too many for a record.
    pub facts: Vec<Fact>,
    /// How many facts there are in all. Every one of them stands in the request that the decision's input names.
    pub facts_in_all: u32,
    /// What the policy answered.
    pub decision: Decision,
    /// What follows.
    pub outcome: CallOutcome,
    /// What is reserved for its effect.
    pub reserved: Amounts,
    /// For a patch that is to be performed, the tree that must result.
    pub expected_tree: Option<Digest>,
}

/// What follows from a decision about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// Its effect is performed.
    Perform,
    /// It has no effect.
    Denied(Denial),
    /// It has no effect until a person approves exactly it.
    Held(Box<HeldProposal>),
    /// It was performed before under the same key; the original observation is the answer.
    Replayed(Box<Observation>),
    /// It has no effect, and the run ends.
    Ends {
        /// The rules that decided.
        rules: Vec<RuleId>,
        /// What is possible instead, in another run; empty where the record says nothing of it.
        instead: String,
    },
    /// It has no effect, since a limit is reached, and the run ends.
    OverLimit(Limit),
}

/// What was seen of a call's effect. Contents are artifacts; here are their digests.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one is made for each call and moved a few times")]
pub enum Observation {
    /// A file was read.
    FileRead {
        /// The file.
        path: RepoPath,
        /// The digest of its whole content.
        sha256: Digest,
        /// Its size.
        bytes: ByteCount,
        /// Whether the agent got only the beginning.
        truncated: bool,
        /// What the agent got a mark in place of; `None` for reads from before there were rules.
        redactions: Option<Redactions>,
    },
    /// Files were listed.
    FilesListed {
        /// How many the agent got.
        count: u32,
        /// Whether there are more.
        truncated: bool,
    },
    /// Text was searched.
    TextFound {
        /// How many places the agent got.
        count: u32,
        /// Whether there are more.
        truncated: bool,
        /// What the agent got a mark in place of; `None` for searches from before there were rules.
        redactions: Option<Redactions>,
    },
    /// A patch was applied.
    PatchApplied(AppliedPatch),
    /// A gate ran.
    GateFinished(GateRecord),
    /// A person answered.
    ApprovalAnswered {
        /// The answer.
        verdict: ApprovalVerdict,
        /// The receipt.
        receipt: ReceiptId,
    },
    /// The effect did not happen, or not provably, because a part of the platform failed.
    Failed {
        /// The stable code.
        code: String,
    },
    /// The control plane ended between intent and observation. Nobody knows what happened; nothing is assumed.
    Unknown,
}

/// A patch that became part of the revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedPatch {
    /// The tree before.
    pub base: Digest,
    /// The tree after.
    pub tree: Digest,
    /// The digest of the patch as the agent wrote it.
    pub proposed: Digest,
    /// The digest of the canonical patch, derived from the two trees.
    pub canonical: Digest,
    /// The files that it changed.
    pub files: Vec<RepoPath>,
    /// The files that differ from the base revision after it.
    pub changed_from_base: u32,
    /// The dependencies that the base revision did not have, after it.
    pub added_dependencies: u32,
}

impl Event {
    /// Whether it depends on who may approve in the project, and on what is approved there.
    #[must_use]
    pub const fn depends_on_project(&self) -> bool {
        match self {
            Self::ApprovalConsumed { .. } => true,
            Self::ReceiptVoided { reason, .. } => {
                matches!(reason, VoidReason::ApproverRevoked | VoidReason::PolicyChanged)
            }
            _ => false,
        }
    }
}
