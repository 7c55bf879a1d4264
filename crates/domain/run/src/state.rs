use ambit_gates::BaseTests;
use ambit_ids::{Digest, GateId, IdempotencyKey, RepoPath};

use crate::approvals::{ApprovalBook, PendingApproval};
use crate::call::ToolCall;
use crate::denial::DenialCode;
use crate::event::{AppliedPatch, Observation, SandboxHeld};
use crate::gate_book::{GateBook, GateRecord};
use crate::ledger::{Amounts, Ledger};
use crate::pins::{HiddenCheck, Pins};
use crate::plan::Plan;
use crate::{Phase, StopReason};

/// Where a run is. It is changed only by evolving it with the events that a step answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// There is no run yet.
    #[default]
    Vacant,
    /// The run goes on.
    Open(Box<Open>),
    /// The run is ending: no new call begins, and what it holds is given back.
    Closing(Box<Closing>),
    /// The run is over.
    Ended(Box<Ended>),
}

/// What a run has accumulated, whatever state it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dossier {
    /// What it is pinned to.
    pub pins: Pins,
    /// The number of events so far: the position that the next one takes in the run's stream.
    pub events: u64,
    /// The newest accepted plan.
    pub plan: Option<Plan>,
    /// The digest of the current tree.
    pub head: Digest,
    /// The patches that led there from the base, in order.
    pub patches: Vec<AppliedPatch>,
    /// Every gate execution.
    pub gates: GateBook,
    /// Every hidden check execution.
    pub hidden: Vec<GateRecord>,
    /// What was used and what is reserved.
    pub ledger: Ledger,
    /// Patches proposed and decided against each gate that did not pass.
    pub attempts: std::collections::BTreeMap<GateId, u32>,
    /// The failure that the next patch must explain.
    pub unexplained: Option<FailedGate>,
    /// Held proposals and receipts.
    pub approvals: ApprovalBook,
    /// Turns so far.
    pub turns: u32,
    /// Proposals that were answered, whatever came of them. A turn that was cut off has none.
    pub proposals: u32,
    /// Proposals that had no effect.
    pub denials: u32,
    /// The calls that were denied, with the turn of the first denial of each.
    pub denied: std::collections::BTreeMap<DeniedCall, u32>,
    /// Sandboxes allocated so far.
    pub allocations: u32,
    /// The newest observation.
    pub last_observation: Option<Observation>,
}

impl Dossier {
    /// The files that differ from the base revision after the newest patch, as far as patches named them.
    #[must_use]
    pub fn changed_files(&self) -> Vec<&RepoPath> {
        let mut files: Vec<&RepoPath> = self.patches.iter().flat_map(|patch| &patch.files).collect();
        files.sort();
        files.dedup();
        files
    }

    /// The effect that an earlier execution under `key` had, if there was one.
    #[must_use]
    pub fn executed(&self, key: &IdempotencyKey) -> Option<&GateRecord> {
        self.gates.by_key(key)
    }
}

/// A call that was denied on a tree for a reason: what makes the same one again a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeniedCall {
    /// The tree that was current.
    pub head: Digest,
    /// The digest of the call's exact arguments.
    pub arguments: Digest,
    /// Why.
    pub code: DenialCode,
}

/// A gate execution that failed and was not explained yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedGate {
    /// The gate.
    pub gate: GateId,
    /// Which execution.
    pub attempt: u32,
    /// The artifact of the failure, which is kept.
    pub artifact: Digest,
}

/// A run that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// What it has accumulated.
    pub dossier: Dossier,
    /// The sandbox that it holds.
    pub sandbox: Option<SandboxHeld>,
    /// What it waits for.
    pub stage: Stage,
}

/// What an open run waits for: always exactly one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Its first sandbox.
    Sandbox,
    /// The agent's answer.
    Agent(OpenTurn),
    /// The observation of a call that was decided.
    Call(Box<InFlight>),
    /// Nothing any more: the call was observed, and the same step opens the next turn or ends the run. A run never
    /// rests here.
    Observed,
    /// A person.
    Approval {
        /// The turn of the call that asked.
        turn: u32,
        /// What is asked.
        pending: PendingApproval,
    },
    /// Hidden checks, the first of them now.
    HiddenChecks(Vec<HiddenCheck>),
}

/// A turn that the agent has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenTurn {
    /// Its number.
    pub turn: u32,
    /// What is reserved for it.
    pub reserved: Amounts,
}

/// A call whose intent is durable and whose observation is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// Its turn.
    pub turn: u32,
    /// The call.
    pub call: ToolCall,
    /// The position of its intent in the run's stream.
    pub intent: u64,
    /// What is reserved for it.
    pub reserved: Amounts,
    /// The facts that were found out beforehand hold for this tree.
    pub tree: Digest,
    /// For a patch, the tree that must result.
    pub expected_tree: Option<Digest>,
    /// For a gate, which execution of it this is, counted from 1; otherwise zero.
    pub attempt: u32,
    /// For a gate, what it reports on the base revision, as far as that is known.
    pub base_tests: Option<BaseTests>,
}

/// A run that is ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    /// What it has accumulated.
    pub dossier: Dossier,
    /// The sandbox that it still holds.
    pub sandbox: Option<SandboxHeld>,
    /// The phase in which it stopped.
    pub stopped_in: Phase,
    /// Why it ends.
    pub reason: StopReason,
    /// A call whose intent is durable and whose observation is not.
    pub in_flight: Option<InFlight>,
    /// How far the cleanup is.
    pub cleanup: Cleanup,
    /// Failed tries of the present cleanup step.
    pub failures: u32,
}

/// The steps of the cleanup, in their order: stop processes, keep the trace, remove the sandbox, settle the revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cleanup {
    /// Processes are to be stopped.
    Terminate,
    /// The trace is to be kept.
    Export,
    /// The sandbox is to be removed.
    Destroy,
    /// The sandbox is gone, or was given up; the revision is to be settled.
    Settle {
        /// Whether it is proven that nothing is left.
        proven: bool,
    },
}

/// A run that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// What it accumulated.
    pub dossier: Dossier,
    /// The final phase.
    pub phase: Phase,
    /// Why it ended.
    pub reason: StopReason,
    /// Whether its revision is preview-ready.
    pub preview_ready: bool,
    /// Whether it is proven that nothing of its sandbox is left.
    pub cleanup_proven: bool,
}

impl State {
    /// What the run has accumulated; `None` where there is no run.
    #[must_use]
    pub fn dossier(&self) -> Option<&Dossier> {
        match self {
            Self::Vacant => None,
            Self::Open(open) => Some(&open.dossier),
            Self::Closing(closing) => Some(&closing.dossier),
            Self::Ended(ended) => Some(&ended.dossier),
        }
    }

    /// The customer's phase; `None` where there is no run.
    #[must_use]
    pub fn phase(&self) -> Option<Phase> {
        match self {
            Self::Vacant => None,
            Self::Open(open) => Some(open.phase()),
            Self::Closing(closing) => Some(closing.stopped_in),
            Self::Ended(ended) => Some(ended.phase),
        }
    }

    /// Why the run ends or ended; `None` while it goes on.
    #[must_use]
    pub fn stop_reason(&self) -> Option<&StopReason> {
        match self {
            Self::Vacant | Self::Open(_) => None,
            Self::Closing(closing) => Some(&closing.reason),
            Self::Ended(ended) => Some(&ended.reason),
        }
    }
}

impl Open {
    /// The customer's phase of an open run.
    #[must_use]
    pub fn phase(&self) -> Phase {
        let working = if self.dossier.plan.is_some() { Phase::Editing } else { Phase::Planning };
        match &self.stage {
            Stage::Sandbox => Phase::Queued,
            Stage::Agent(_) | Stage::Observed => working,
            Stage::Call(flight) => match flight.call {
                ToolCall::RunNamedGate { .. } => Phase::Checking,
                _ => working,
            },
            Stage::Approval { .. } => Phase::NeedsApproval,
            Stage::HiddenChecks(_) => Phase::Checking,
        }
    }
}
