//! From events of the domain to stored bodies.

use ambit_ids::{Digest, RevisionId, UnixMs};
use ambit_run::{
    ApprovalDecision, ApprovalVerdict, ChargeBasis, Event, Observation, Plan, SandboxHeld, StopReason,
    ToolCall,
};

use super::body::{PlanStepV1, RunBody, StopReasonV1};
use super::call::DenialV1;
use super::observation::ObservationV1;
use super::record::{Actor, ActorKind};

impl From<&Event> for RunBody {
    fn from(event: &Event) -> Self {
        match event {
            Event::Admitted { pins, at } => {
                Self::Admitted { pins: Box::new(pins.as_ref().into()), at_ms: *at }
            }
            Event::SandboxAllocated(held) => allocated(held.clone()),
            Event::SandboxLost { incarnation } => Self::LeaseLost { incarnation: incarnation.clone() },
            Event::SandboxRetired { incarnation } => Self::LeaseRetired { incarnation: incarnation.clone() },
            Event::TurnOpened { turn, reserved } => {
                Self::TurnOpened { turn: *turn, reserved_micro_usd: *reserved }
            }
            Event::TurnSettled { turn, charged, basis } => {
                let reported = *basis == ChargeBasis::Reported;
                Self::BudgetCharged { turn: *turn, charged_micro_usd: *charged, reported }
            }
            Event::PlanAccepted { turn, plan } => Self::PlanAccepted { turn: *turn, steps: steps(plan) },
            Event::ProposalDenied { turn, answer, was_plan, denial } => {
                denied(*turn, *answer, *was_plan, denial.into())
            }
            Event::HypothesisRecorded { turn, gate, attempt, text } => {
                let (gate, text) = (gate.clone(), text.clone());
                Self::HypothesisRecorded { turn: *turn, gate, attempt: *attempt, text }
            }
            Event::CallDecided(decided) => Self::ToolDecided(Box::new(decided.as_ref().into())),
            Event::CallObserved { turn, observation } => observed(*turn, observation),
            Event::ApprovalRequested { turn, proposal, digest, capability, expires } => {
                let (turn, proposal, expires_ms) = (*turn, proposal.clone(), *expires);
                Self::ApprovalRequested {
                    turn,
                    proposal,
                    digest: *digest,
                    capability: *capability,
                    expires_ms,
                }
            }
            Event::ApprovalDecided { decision, receipt_expires } => {
                approved(decision.clone(), *receipt_expires)
            }
            Event::ApprovalConsumed { turn, receipt } => {
                Self::ApprovalConsumed { turn: *turn, receipt: receipt.clone() }
            }
            Event::ApprovalExpired { proposal } => Self::ApprovalVoided { proposal: proposal.clone() },
            Event::ReceiptVoided { receipt, reason } => {
                Self::ReceiptVoided { receipt: receipt.clone(), reason: *reason }
            }
            Event::LimitReached { limit } => Self::BudgetExhausted { limit: limit.as_str().to_owned() },
            Event::CancelRequested { by } => Self::CancelRequested { by: by.clone() },
            Event::Stopping { reason } => Self::RunStopping { reason: reason.into() },
            Event::HiddenCheckObserved(record) => Self::HiddenCheckFinished(Box::new(record.into())),
            Event::ProcessesTerminated { killed, receipt } => {
                Self::ProcessTerminated { killed: *killed, receipt: *receipt }
            }
            Event::TraceExported { artifact } => Self::ArtifactExported { artifact: *artifact },
            Event::SandboxDestroyed { receipt } => Self::SandboxDestroyed { receipt: *receipt },
            Event::CleanupFailed { code } => Self::CleanupFailed { code: code.clone() },
            Event::RevisionMarked { revision, tree, preview_ready } => {
                marked(*revision, *tree, *preview_ready)
            }
            Event::Ended { phase, reason } => {
                Self::RunTerminal { phase: phase.as_str().to_owned(), reason: reason.into() }
            }
        }
    }
}

fn allocated(held: SandboxHeld) -> RunBody {
    RunBody::LeaseAllocated {
        allocation: held.allocation,
        lease: held.lease,
        incarnation: held.incarnation,
        backend: held.backend,
        manifest: held.manifest,
    }
}

fn steps(plan: &Plan) -> Vec<PlanStepV1> {
    plan.steps()
        .iter()
        .cloned()
        .map(|step| PlanStepV1 { id: step.id, summary: step.summary, work: step.work, cases: step.cases })
        .collect()
}

const fn denied(turn: u32, answer: Digest, was_plan: bool, denial: DenialV1) -> RunBody {
    if was_plan {
        RunBody::PlanRejected { turn, answer, denial }
    } else {
        RunBody::ProposalRejected { turn, answer, denial }
    }
}

fn observed(turn: u32, observation: &Observation) -> RunBody {
    let seen = ObservationV1::from(observation);
    match observation {
        Observation::PatchApplied(_) => RunBody::PatchApplied { turn, observation: seen },
        Observation::GateFinished(_) => RunBody::GateFinished { turn, observation: seen },
        Observation::Unknown => RunBody::ToolUnknown { turn, observation: seen },
        _ => RunBody::ToolEffect { turn, observation: seen },
    }
}

fn approved(decision: ApprovalDecision, receipt_expires: UnixMs) -> RunBody {
    RunBody::ApprovalDecided {
        proposal: decision.proposal,
        digest: decision.digest,
        expected_sequence: decision.expected_sequence,
        approved: decision.verdict == ApprovalVerdict::Approved,
        approver: decision.approver,
        receipt: decision.receipt,
        evidence: decision.evidence,
        receipt_expires_ms: receipt_expires,
    }
}

const fn marked(revision: RevisionId, tree: Digest, preview_ready: bool) -> RunBody {
    if preview_ready {
        RunBody::RevisionEligible { revision, tree }
    } else {
        RunBody::RevisionIneligible { revision, tree }
    }
}

impl From<&StopReason> for StopReasonV1 {
    fn from(reason: &StopReason) -> Self {
        let mut written =
            Self { code: reason.code().to_owned(), limit: None, rules: Vec::new(), failure: None };
        match reason {
            StopReason::BudgetExhausted(limit) => written.limit = Some(limit.as_str().to_owned()),
            StopReason::PolicyDenied(rules) => written.rules.clone_from(rules),
            StopReason::InfrastructureFailure(code) => written.failure = Some(code.clone()),
            StopReason::GatesPassed
            | StopReason::CustomerCancelled
            | StopReason::ApprovalExpired
            | StopReason::AgentStopped
            | StopReason::HiddenCheckFailed => {}
        }
        written
    }
}

impl RunBody {
    /// The digest of the exact object that the record is about.
    #[must_use]
    pub fn artifact(&self) -> Option<Digest> {
        match self {
            Self::Admitted { pins, .. } => Some(pins.blueprint_digest),
            Self::LeaseAllocated { manifest, .. } => Some(*manifest),
            Self::PlanRejected { answer, .. } | Self::ProposalRejected { answer, .. } => Some(*answer),
            Self::ToolDecided(call) => Some(match &call.call {
                ToolCall::ApplyProjectPatch { patch, .. } => *patch,
                _ => call.arguments,
            }),
            Self::ToolEffect { observation, .. }
            | Self::PatchApplied { observation, .. }
            | Self::GateFinished { observation, .. }
            | Self::ToolUnknown { observation, .. } => observation.artifact(),
            Self::ApprovalRequested { digest, .. } => Some(*digest),
            Self::ApprovalDecided { evidence, .. } => Some(*evidence),
            Self::HiddenCheckFinished(record) => Some(record.artifact),
            Self::ProcessTerminated { receipt, .. } | Self::SandboxDestroyed { receipt } => Some(*receipt),
            Self::ArtifactExported { artifact } => Some(*artifact),
            Self::RevisionEligible { tree, .. } | Self::RevisionIneligible { tree, .. } => Some(*tree),
            _ => None,
        }
    }

    /// Who acts or decides by this record: the agent proposes as its run, effects are the broker's, gates the
    /// evaluator's, sandboxes the sandbox manager's, and the rest the orchestrator's.
    #[must_use]
    pub fn actor(&self, run: &ambit_ids::RunId) -> Actor {
        let service = |id: &str| Actor { kind: ActorKind::Service, id: id.to_owned() };
        match self {
            Self::PlanAccepted { .. } | Self::PlanRejected { .. } | Self::ProposalRejected { .. } => {
                Actor { kind: ActorKind::Run, id: run.to_string() }
            }
            Self::HypothesisRecorded { .. } => Actor { kind: ActorKind::Run, id: run.to_string() },
            Self::ToolDecided(_) => service("policy"),
            Self::ToolEffect { .. } | Self::PatchApplied { .. } | Self::ToolUnknown { .. } => {
                service("broker")
            }
            Self::GateFinished { .. } | Self::HiddenCheckFinished(_) => service("evaluator"),
            Self::ApprovalDecided { approver, .. } => {
                Actor { kind: ActorKind::Human, id: approver.to_string() }
            }
            Self::CancelRequested { by } => Actor { kind: ActorKind::Human, id: by.clone() },
            Self::LeaseAllocated { .. }
            | Self::LeaseLost { .. }
            | Self::ProcessTerminated { .. }
            | Self::SandboxDestroyed { .. }
            | Self::CleanupFailed { .. } => service("sandboxes"),
            _ => service("orchestrator"),
        }
    }
}

impl ObservationV1 {
    fn artifact(&self) -> Option<Digest> {
        match self {
            Self::FileRead { sha256, .. } => Some(*sha256),
            Self::Patch(patch) => Some(patch.canonical),
            Self::Gate(record) => Some(record.artifact),
            Self::FilesListed { .. }
            | Self::TextFound { .. }
            | Self::ApprovalAnswered { .. }
            | Self::Failed { .. }
            | Self::Unknown => None,
        }
    }
}
