//! From stored bodies back to events of the domain.

use ambit_ids::{RunId, Scope};
use ambit_run::{ApprovalDecision, ChargeBasis, Event, Observation, Plan, PlanStep, SandboxHeld, StopReason};

use super::body::{RunBody, StopReasonV1};
use super::call::read_limit;
use super::observation::verdict;
use super::read_error::ReadError;
use super::record::{Body, Record};

impl Record {
    /// The owner and the run of a run's record.
    fn run_identity(&self) -> Result<(Scope, RunId), ReadError> {
        match (&self.project, &self.run) {
            (Some(project), Some(run)) => {
                Ok((Scope { organization: self.org.clone(), project: project.clone() }, run.clone()))
            }
            _ => Err(ReadError::NotOfARun),
        }
    }

    /// The event that a run's record stands for.
    ///
    /// # Errors
    /// [`ReadError`] where the record is not of a run, or its fields contradict each other.
    pub fn event(&self) -> Result<Event, ReadError> {
        match &self.body {
            Body::Run(body) => read(self, body.as_ref().clone()),
            Body::Project(_) => Err(ReadError::NotOfARun),
        }
    }
}

fn read(record: &Record, body: RunBody) -> Result<Event, ReadError> {
    Ok(match body {
        RunBody::Admitted { pins, at_ms } => {
            let (scope, run) = record.run_identity()?;
            Event::Admitted { pins: Box::new(pins.read(scope, run)), at: at_ms }
        }
        RunBody::LeaseAllocated { allocation, lease, incarnation, backend, manifest } => {
            Event::SandboxAllocated(SandboxHeld { allocation, lease, incarnation, backend, manifest })
        }
        RunBody::LeaseLost { incarnation } => Event::SandboxLost { incarnation },
        RunBody::LeaseRetired { incarnation } => Event::SandboxRetired { incarnation },
        RunBody::TurnOpened { turn, reserved_micro_usd } => {
            Event::TurnOpened { turn, reserved: reserved_micro_usd }
        }
        RunBody::BudgetCharged { turn, charged_micro_usd, reported } => Event::TurnSettled {
            turn,
            charged: charged_micro_usd,
            basis: if reported { ChargeBasis::Reported } else { ChargeBasis::Reservation },
        },
        RunBody::PlanAccepted { turn, steps } => {
            let steps = steps.into_iter().map(|step| PlanStep {
                id: step.id,
                summary: step.summary,
                work: step.work,
                cases: step.cases,
            });
            Event::PlanAccepted { turn, plan: Plan::recorded(steps.collect()) }
        }
        RunBody::PlanRejected { turn, answer, denial } => {
            Event::ProposalDenied { turn, answer, was_plan: true, denial: denial.try_into()? }
        }
        RunBody::ProposalRejected { turn, answer, denial } => {
            Event::ProposalDenied { turn, answer, was_plan: false, denial: denial.try_into()? }
        }
        RunBody::HypothesisRecorded { turn, gate, attempt, text } => {
            Event::HypothesisRecorded { turn, gate, attempt, text }
        }
        RunBody::ToolDecided(call) => Event::CallDecided(Box::new((*call).try_into()?)),
        body @ (RunBody::ToolEffect { .. }
        | RunBody::PatchApplied { .. }
        | RunBody::GateFinished { .. }
        | RunBody::ToolUnknown { .. }) => read_observation(body)?,
        RunBody::HiddenCheckFinished(record) => Event::HiddenCheckObserved((*record).into()),
        other => read_rest(other)?,
    })
}

fn read_observation(body: RunBody) -> Result<Event, ReadError> {
    let kind = body.kind();
    let (turn, observation): (u32, Observation) = match body {
        RunBody::ToolEffect { turn, observation }
        | RunBody::PatchApplied { turn, observation }
        | RunBody::GateFinished { turn, observation }
        | RunBody::ToolUnknown { turn, observation } => (turn, observation.into()),
        _ => return Err(ReadError::Inconsistent("observation")),
    };
    let fits = match observation {
        Observation::PatchApplied(_) => kind == "patch.applied",
        Observation::GateFinished(_) => kind == "gate.finished",
        Observation::Unknown => kind == "tool.unknown",
        _ => kind == "tool.effect",
    };
    if fits {
        Ok(Event::CallObserved { turn, observation })
    } else {
        Err(ReadError::Inconsistent("observation"))
    }
}

fn read_rest(body: RunBody) -> Result<Event, ReadError> {
    Ok(match body {
        RunBody::ApprovalRequested { turn, proposal, digest, capability, expires_ms } => {
            Event::ApprovalRequested { turn, proposal, digest, capability, expires: expires_ms }
        }
        RunBody::ApprovalDecided {
            proposal,
            digest,
            expected_sequence,
            approved,
            approver,
            receipt,
            evidence,
            receipt_expires_ms,
        } => Event::ApprovalDecided {
            decision: ApprovalDecision {
                proposal,
                digest,
                expected_sequence,
                verdict: verdict(approved),
                approver,
                receipt,
                evidence,
            },
            receipt_expires: receipt_expires_ms,
        },
        RunBody::ApprovalConsumed { turn, receipt } => Event::ApprovalConsumed { turn, receipt },
        RunBody::ApprovalVoided { proposal } => Event::ApprovalExpired { proposal },
        RunBody::ReceiptVoided { receipt, reason } => Event::ReceiptVoided { receipt, reason },
        RunBody::BudgetExhausted { limit } => Event::LimitReached { limit: read_limit(&limit)? },
        RunBody::CancelRequested { by } => Event::CancelRequested { by },
        RunBody::RunStopping { reason } => Event::Stopping { reason: reason.try_into()? },
        RunBody::ProcessTerminated { killed, receipt } => Event::ProcessesTerminated { killed, receipt },
        RunBody::ArtifactExported { artifact } => Event::TraceExported { artifact },
        RunBody::SandboxDestroyed { receipt } => Event::SandboxDestroyed { receipt },
        RunBody::CleanupFailed { code } => Event::CleanupFailed { code },
        RunBody::RevisionEligible { revision, tree } => {
            Event::RevisionMarked { revision, tree, preview_ready: true }
        }
        RunBody::RevisionIneligible { revision, tree } => {
            Event::RevisionMarked { revision, tree, preview_ready: false }
        }
        RunBody::RunTerminal { phase, reason } => Event::Ended {
            phase: phase.parse().map_err(|()| ReadError::UnknownWord { what: "phase", word: phase })?,
            reason: reason.try_into()?,
        },
        _ => return Err(ReadError::Inconsistent("record")),
    })
}

impl TryFrom<StopReasonV1> for StopReason {
    type Error = ReadError;

    fn try_from(reason: StopReasonV1) -> Result<Self, ReadError> {
        let read = match (reason.code.as_str(), reason.limit.as_deref(), reason.failure) {
            ("gates-passed", None, None) => Self::GatesPassed,
            ("budget" | "repeated-fingerprint", Some(limit), None) => {
                Self::BudgetExhausted(read_limit(limit)?)
            }
            ("policy-denied", None, None) => Self::PolicyDenied(reason.rules.clone()),
            ("customer-cancelled", None, None) => Self::CustomerCancelled,
            ("approval-expired", None, None) => Self::ApprovalExpired,
            ("agent-stopped", None, None) => Self::AgentStopped,
            ("hidden-check-failed", None, None) => Self::HiddenCheckFailed,
            ("infrastructure-failure", None, Some(code)) => Self::InfrastructureFailure(code),
            _ => return Err(ReadError::UnknownWord { what: "stop reason", word: reason.code }),
        };
        if StopReasonV1::from(&read).rules != reason.rules || read.code() != reason.code {
            return Err(ReadError::Inconsistent("stop reason"));
        }
        Ok(read)
    }
}
