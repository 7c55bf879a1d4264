use ambit_ids::{ApproverId, Digest, GateId, Incarnation, MicroUsd, RepoPath, StepId};
use ambit_policy::{ApprovalInHand, Decision, Fact};

use crate::approvals::ApprovalDecision;
use crate::call::ToolCall;
use crate::consent::Inspection;
use crate::denial::Denial;
use crate::event::{Observation, SandboxHeld};
use crate::gate_book::GateRecord;
use crate::pins::Pins;
use crate::plan::PlanStep;

/// Something that is asked of a run, or told to it. Decisions of policies and measurements come in here as values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Begin, pinned to this. Whether the blueprint is approved was decided before.
    Admit(Box<Pins>),
    /// The sandbox is ready.
    SandboxAllocated(SandboxHeld),
    /// There will be no sandbox.
    SandboxRefused {
        /// The stable code of the reason.
        code: String,
    },
    /// The sandbox vanished.
    SandboxLost {
        /// Which life of it.
        incarnation: Incarnation,
    },
    /// The agent answered an open turn.
    Propose(Box<Answered>),
    /// The agent has nothing more to propose, or cannot be reached any more.
    AgentStopped {
        /// The turn that was open.
        turn: u32,
        /// What the turn cost; `None` where nobody can tell.
        cost: Option<MicroUsd>,
        /// The stable code of a failure; `None` where the agent simply finished.
        failure: Option<String>,
    },
    /// The effect of a call was performed, or not.
    Observe {
        /// The turn of the call.
        turn: u32,
        /// What was seen.
        observation: Observation,
    },
    /// A hidden check ran.
    ObserveHidden(GateRecord),
    /// A hidden check could not run.
    HiddenCheckFailed {
        /// The gate that it belongs to.
        gate: GateId,
        /// The stable code.
        code: String,
    },
    /// A person decided about the proposal that waits.
    DecideApproval(ApprovalDecision),
    /// Somebody may approve no more.
    RevokeApprover {
        /// Who.
        approver: ApproverId,
    },
    /// The blueprint that the run works under is approved no more.
    WithdrawBlueprint,
    /// The customer wants the run to end.
    Cancel {
        /// Who asks.
        by: String,
    },
    /// Time passed.
    Tick,
    /// Another process took the run over; whatever the earlier one had begun is over.
    Recover,
    /// Every process of the sandbox is stopped.
    ProcessesTerminated {
        /// Processes that were killed for it.
        killed: u32,
        /// The digest of the receipt.
        receipt: Digest,
    },
    /// The trace so far is kept.
    TraceExported {
        /// Its digest.
        artifact: Digest,
    },
    /// Nothing of the sandbox is left.
    SandboxDestroyed {
        /// The digest of the receipt.
        receipt: Digest,
    },
    /// A step of the cleanup failed.
    CleanupFailed {
        /// The stable code.
        code: String,
    },
}

/// An agent's answer to a turn, after trusted code looked at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The turn that it answers.
    pub turn: u32,
    /// What the turn cost; `None` where nobody can tell.
    pub cost: Option<MicroUsd>,
    /// The digest of the answer's bytes.
    pub answer: Digest,
    /// What it proposes.
    pub proposal: Proposal,
}

/// What an agent proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposal {
    /// A plan.
    Plan(Vec<PlanStep>),
    /// A call, assessed and decided.
    Call(Box<AssessedCall>),
    /// Nothing that could be read as a proposal.
    Unusable(Denial),
}

/// A call with what trusted code found out about it and what the policy answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssessedCall {
    /// The call.
    pub call: ToolCall,
    /// The digest of its exact arguments.
    pub arguments: Digest,
    /// The plan step that it cites.
    pub step: Option<StepId>,
    /// What the agent takes to be the cause of the last failure.
    pub hypothesis: Option<String>,
    /// The facts, sorted.
    pub facts: Vec<Fact>,
    /// What its effect would be.
    pub finding: Finding,
    /// Whether a person could see all of it.
    pub inspection: Inspection,
    /// The approval that the policy was told of.
    pub approval: Option<ApprovalInHand>,
    /// What the policy answered to exactly these facts.
    pub decision: Decision,
    /// What the rules that decided say is possible instead, for a denial; empty where they say nothing.
    pub instead: String,
}

/// What the effect of a call would be, found out without performing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// There is nothing to find out beforehand.
    Clear,
    /// The call cannot be performed as it is.
    Refused(Denial),
    /// The patch applies exactly.
    Patch(PatchFinding),
}

/// What a patch would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchFinding {
    /// The tree before.
    pub base: Digest,
    /// The tree after.
    pub tree: Digest,
    /// The digest of the canonical patch.
    pub canonical: Digest,
    /// The files that it changes.
    pub files: Vec<RepoPath>,
    /// The files that would differ from the base revision.
    pub changed_from_base: u32,
    /// The dependencies that the base revision does not have.
    pub added_dependencies: u32,
}

/// Why a command has no effect on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such run.
    #[error("there is no such run")]
    NotFound,
    /// The run exists already.
    #[error("the run exists already")]
    Exists,
    /// Only the generate stage can be acted in, and nothing is granted by implication.
    #[error("only the generate stage can be acted in")]
    StageNotActionable,
    /// A run needs at least one gate and one limit above zero.
    #[error("the run has no gate that could accept it")]
    NoGate,
    /// The sandbox is not waited for.
    #[error("no sandbox is waited for")]
    SandboxNotAwaited,
    /// The answer is not to the open turn.
    #[error("the turn is not open")]
    TurnNotOpen,
    /// Nothing is in flight that this could be the observation of.
    #[error("nothing of the kind is in flight")]
    NotInFlight,
    /// Nobody waits for this decision: it is another proposal, digest or question, or it was decided.
    #[error("no approval of this proposal, digest and position is waited for")]
    ApprovalNotAwaited,
    /// It is not time yet.
    #[error("nothing is due")]
    NotDue,
    /// The run is ending and takes no more of this.
    #[error("the run is ending")]
    Stopping,
    /// The run has ended.
    #[error("the run has ended")]
    Ended,
    /// The cleanup step is not the one that is due.
    #[error("this step of the cleanup is not due")]
    CleanupNotDue,
}

impl Refusal {
    /// The stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotFound => "RUN_NOT_FOUND",
            Self::Exists => "RUN_EXISTS",
            Self::StageNotActionable => "STAGE_NOT_ACTIONABLE",
            Self::NoGate => "RUN_WITHOUT_GATE",
            Self::SandboxNotAwaited => "SANDBOX_NOT_AWAITED",
            Self::TurnNotOpen => "TURN_NOT_OPEN",
            Self::NotInFlight => "NOT_IN_FLIGHT",
            Self::ApprovalNotAwaited => "APPROVAL_NOT_AWAITED",
            Self::NotDue => "NOT_DUE",
            Self::Stopping => "RUN_STOPPING",
            Self::Ended => "RUN_ENDED",
            Self::CleanupNotDue => "CLEANUP_NOT_DUE",
        }
    }
}
