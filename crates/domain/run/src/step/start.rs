use ambit_policy::{SideEffect, ToolName};

use super::consent;
use super::draft::Draft;
use crate::bounds::{APPROVAL_MS, SANDBOX_ALLOCATIONS};
use crate::command::Refusal;
use crate::event::{Event, Observation};
use crate::pins::{Pins, Rules};
use crate::state::{Stage, State};
use crate::{Limit, StopReason};

pub(super) fn admit(draft: &mut Draft, pins: Box<Pins>) -> Result<(), Refusal> {
    if !pins.stage.is_actionable() {
        return Err(Refusal::StageNotActionable);
    }
    if pins.gates.is_empty() {
        return Err(Refusal::NoGate);
    }
    let at = draft.at;
    draft.push(Event::Admitted { pins, at });
    Ok(())
}

pub(super) fn cancel(draft: &mut Draft, by: String) {
    draft.push(Event::CancelRequested { by: crate::denial::bounded(by) });
    draft.stop(StopReason::CustomerCancelled);
}

/// Ends the run where an approval or its time has run out.
pub(super) fn tick(draft: &mut Draft) -> Result<(), Refusal> {
    if !expire_approval(draft) {
        if !draft.is_overdue() {
            return Err(Refusal::NotDue);
        }
        draft.stop_at(Limit::Elapsed);
    }
    Ok(())
}

/// Ends the run if it waits for an approval whose time is over. A moment before the question was asked is out of its time
/// too: a clock that is put back must not make it longer.
pub(super) fn expire_approval(draft: &mut Draft) -> bool {
    let State::Open(open) = &draft.state else { return false };
    let Stage::Approval { pending, .. } = &open.stage else { return false };
    let asked = pending.expires.get().saturating_sub(APPROVAL_MS.get());
    let is_before = open.dossier.pins.rules >= Rules::Consent && draft.at.get() < asked;
    if draft.at < pending.expires && !is_before {
        return false;
    }
    let proposal = pending.proposal.clone();
    draft.push(Event::ApprovalExpired { proposal });
    draft.stop(StopReason::ApprovalExpired);
    true
}

/// Takes a run over from a process that is gone. What it had begun and not told is over: the sandbox died with it, an
/// unanswered turn is charged at its reservation, and a call with a side effect is unknown. A call without one stays
/// pending and is simply performed again. A run that had as many sandboxes as a run is given gets no further one.
pub(super) fn recover(draft: &mut Draft) {
    if let State::Open(open) = &draft.state {
        let lost = open.sandbox.as_ref().map(|held| held.incarnation.clone());
        let exhausted = lost.is_some() && open.dossier.allocations >= SANDBOX_ALLOCATIONS;
        if let Some(incarnation) = lost {
            draft.push(Event::SandboxLost { incarnation });
            consent::lease_replaced(draft);
        }
        if exhausted {
            draft.stop(StopReason::InfrastructureFailure("SANDBOX_GONE".to_owned()));
        } else {
            recover_stage(draft);
        }
    }
    if let State::Closing(closing) = &draft.state
        && let Some(flight) = &closing.in_flight
    {
        let turn = flight.turn;
        draft.push(Event::CallObserved { turn, observation: Observation::Unknown });
    }
}

fn recover_stage(draft: &mut Draft) {
    let State::Open(open) = &draft.state else { return };
    match &open.stage {
        Stage::Agent(_) => {
            draft.settle_open_turn();
            draft.open_next_turn();
        }
        Stage::Call(flight) if !may_repeat(flight.call.tool()) => {
            let turn = flight.turn;
            draft.push(Event::CallObserved { turn, observation: Observation::Unknown });
            draft.open_next_turn();
        }
        Stage::Call(_)
        | Stage::Observed
        | Stage::Sandbox
        | Stage::Approval { .. }
        | Stage::HiddenChecks(_) => {}
    }
}

/// Whether an effect may be performed again without anybody deciding it: only where it changes nothing.
#[must_use]
pub(super) fn may_repeat(tool: ToolName) -> bool {
    tool.side_effect() == SideEffect::None
}
