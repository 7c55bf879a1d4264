use ambit_ids::{DurationMs, GateId};

use super::draft::Draft;
use super::{consent, start};
use crate::acceptance::{Acceptance, acceptance};
use crate::approvals::ApprovalDecision;
use crate::bounds::APPROVAL_MS;
use crate::call::ToolCall;
use crate::command::Refusal;
use crate::event::{Event, Observation};
use crate::gate_book::GateRecord;
use crate::pins::Rules;
use crate::state::{Dossier, InFlight, Stage, State};
use crate::{Limit, StopReason};

pub(super) fn observed(draft: &mut Draft, turn: u32, observation: Observation) -> Result<(), Refusal> {
    let (flight, closing) = match &draft.state {
        State::Open(open) => match &open.stage {
            Stage::Call(flight) => (flight.as_ref().clone(), false),
            _ => return Err(Refusal::NotInFlight),
        },
        State::Closing(closing) => (closing.in_flight.clone().ok_or(Refusal::NotInFlight)?, true),
        State::Vacant | State::Ended(_) => return Err(Refusal::NotInFlight),
    };
    if flight.turn != turn {
        return Err(Refusal::NotInFlight);
    }
    let fits = observation_fits(&flight, &observation);
    let observation =
        if fits { observation } else { Observation::Failed { code: "OBSERVATION_MISMATCH".to_owned() } };
    draft.push(Event::CallObserved { turn, observation: observation.clone() });
    if !closing {
        consent::base_moved(draft);
        go_on(draft, &observation, fits)?;
    }
    Ok(())
}

fn go_on(draft: &mut Draft, observation: &Observation, fits: bool) -> Result<(), Refusal> {
    if !fits {
        draft.stop(StopReason::InfrastructureFailure("OBSERVATION_MISMATCH".to_owned()));
        return Ok(());
    }
    if draft.is_overdue() {
        draft.stop_at(Limit::Elapsed);
        return Ok(());
    }
    let dossier = draft.dossier()?;
    if let Observation::GateFinished(record) = observation {
        if is_repeated(dossier, record) {
            draft.stop_at(Limit::RepeatedFailure);
            return Ok(());
        }
        if acceptance(dossier) == Acceptance::Met {
            if dossier.pins.hidden_checks().is_empty() {
                draft.stop(StopReason::GatesPassed);
            } else {
                retire_sandbox(draft);
            }
            return Ok(());
        }
    }
    draft.open_next_turn();
    Ok(())
}

/// Gives back the sandbox in which the agent's calls ran: what none of them may know of runs in another life of it, of which
/// nothing that they did is part.
fn retire_sandbox(draft: &mut Draft) {
    let State::Open(open) = &draft.state else { return };
    if open.dossier.pins.rules < Rules::Guarded {
        return;
    }
    if let Some(held) = &open.sandbox {
        let incarnation = held.incarnation.clone();
        draft.push(Event::SandboxRetired { incarnation });
    }
}

/// The first failure and as many claimed fixes as the limit allows were all seen to fail in the same way.
fn is_repeated(dossier: &Dossier, record: &GateRecord) -> bool {
    record.fingerprint.is_some_and(|fingerprint| {
        let sightings = dossier.gates.sightings().get(&fingerprint).copied().unwrap_or_default();
        sightings > dossier.ledger.limits().repeated_failure
    })
}

/// An observation belongs to the call that is in flight, or is told as the failure of a part of the platform.
fn observation_fits(flight: &InFlight, observation: &Observation) -> bool {
    match (observation, &flight.call) {
        (Observation::Failed { .. } | Observation::Unknown, _)
        | (Observation::FilesListed { .. }, ToolCall::ListProjectFiles { .. })
        | (Observation::TextFound { .. }, ToolCall::SearchProjectText { .. }) => true,
        (Observation::FileRead { path, .. }, ToolCall::ReadProjectFile { path: asked, .. }) => path == asked,
        (
            Observation::PatchApplied(applied),
            ToolCall::ApplyProjectPatch { expected_base_sha, patch, .. },
        ) => {
            applied.base == *expected_base_sha
                && applied.proposed == *patch
                && Some(applied.tree) == flight.expected_tree
        }
        (Observation::GateFinished(record), ToolCall::RunNamedGate { gate_id, idempotency_key, .. }) => {
            record.gate == *gate_id
                && record.key == *idempotency_key
                && record.tree == flight.tree
                && record.attempt == flight.attempt
        }
        _ => false,
    }
}

/// A hidden check is judged like a gate, but a failure of it is told to nobody who could act on it.
pub(super) fn hidden(draft: &mut Draft, record: GateRecord) -> Result<(), Refusal> {
    let open = draft.open()?;
    let Stage::HiddenChecks(remaining) = &open.stage else { return Err(Refusal::NotInFlight) };
    let due = remaining.first().is_some_and(|check| check.command == record.gate);
    let is_held = open.sandbox.is_some() || open.dossier.pins.rules < Rules::Guarded;
    if !due || !is_held || record.tree != open.dossier.head {
        return Err(Refusal::NotInFlight);
    }
    let (passed, last) = (record.passed(), remaining.len() == 1);
    draft.push(Event::HiddenCheckObserved(record));
    if draft.is_overdue() {
        draft.stop_at(Limit::Elapsed);
    } else if !passed {
        draft.stop(StopReason::HiddenCheckFailed);
    } else if last {
        draft.stop(StopReason::GatesPassed);
    }
    Ok(())
}

pub(super) fn hidden_failed(draft: &mut Draft, gate: &GateId, code: String) -> Result<(), Refusal> {
    match &draft.open()?.stage {
        Stage::HiddenChecks(remaining) if remaining.first().is_some_and(|check| check.gate == *gate) => {
            draft.stop(StopReason::InfrastructureFailure(code));
            Ok(())
        }
        _ => Err(Refusal::NotInFlight),
    }
}

/// A person's decision counts once, for the exact proposal, digest and question, and only in time.
pub(super) fn approval_decided(draft: &mut Draft, decision: ApprovalDecision) -> Result<(), Refusal> {
    let open = draft.open()?;
    let Stage::Approval { turn, pending } = &open.stage else { return Err(Refusal::ApprovalNotAwaited) };
    if decision.proposal != pending.proposal
        || decision.digest != pending.digest
        || decision.expected_sequence != pending.asked_at
    {
        return Err(Refusal::ApprovalNotAwaited);
    }
    let turn = *turn;
    if start::expire_approval(draft) {
        return Ok(());
    }
    let observation =
        Observation::ApprovalAnswered { verdict: decision.verdict, receipt: decision.receipt.clone() };
    let receipt_expires = draft.at.saturating_add(receipt_span());
    draft.push(Event::ApprovalDecided { decision, receipt_expires });
    draft.push(Event::CallObserved { turn, observation });
    draft.open_next_turn();
    Ok(())
}

/// How long a receipt can be used.
const fn receipt_span() -> DurationMs {
    APPROVAL_MS
}
