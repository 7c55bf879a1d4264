use ambit_ids::Incarnation;

use super::consent;
use super::draft::Draft;
use crate::StopReason;
use crate::bounds::SANDBOX_ALLOCATIONS;
use crate::command::Refusal;
use crate::event::{Event, SandboxHeld};
use crate::state::{Stage, State};

pub(super) fn allocated(draft: &mut Draft, held: SandboxHeld) -> Result<(), Refusal> {
    let (holds_one, awaits_first) = match &draft.state {
        State::Open(open) => (open.sandbox.is_some(), open.stage == Stage::Sandbox),
        State::Closing(closing) => (closing.sandbox.is_some(), false),
        State::Vacant | State::Ended(_) => (true, false),
    };
    if holds_one || held.allocation != draft.dossier()?.allocations.saturating_add(1) {
        return Err(Refusal::SandboxNotAwaited);
    }
    draft.push(Event::SandboxAllocated(held));
    if awaits_first {
        draft.open_next_turn();
    }
    Ok(())
}

pub(super) fn refused(draft: &mut Draft, code: String) -> Result<(), Refusal> {
    if draft.open()?.sandbox.is_some() {
        return Err(Refusal::SandboxNotAwaited);
    }
    draft.stop(StopReason::InfrastructureFailure(code));
    Ok(())
}

pub(super) fn lost(draft: &mut Draft, incarnation: Incarnation) -> Result<(), Refusal> {
    let open = draft.open()?;
    if open.sandbox.as_ref().is_none_or(|held| held.incarnation != incarnation) {
        return Err(Refusal::SandboxNotAwaited);
    }
    let exhausted = open.dossier.allocations >= SANDBOX_ALLOCATIONS;
    draft.push(Event::SandboxLost { incarnation });
    consent::lease_replaced(draft);
    if exhausted {
        draft.stop(StopReason::InfrastructureFailure("SANDBOX_GONE".to_owned()));
    }
    Ok(())
}
