//! What follows from a command. One file per family of commands; the table says which states take which at all.

mod closing;
mod consent;
mod draft;
mod judge;
mod observe;
mod propose;
mod repeated;
mod sandbox;
mod start;

use ambit_ids::UnixMs;

use crate::command::{Command, Refusal};
use crate::event::Event;
use crate::state::State;
use crate::table;
use draft::Draft;

/// What follows from a command at a moment: the events that become true together, or why nothing does.
///
/// Pure and total. The moment is a value like any other; a clock that goes backwards delays limits and breaks nothing.
///
/// # Errors
/// [`Refusal`]: the command does not fit the state. The state is unchanged.
pub fn step(state: &State, at: UnixMs, command: Command) -> Result<Vec<Event>, Refusal> {
    table::admit(state, &command)?;
    let mut draft = Draft { state: state.clone(), at, events: Vec::new() };
    match command {
        Command::Admit(pins) => start::admit(&mut draft, pins)?,
        Command::SandboxAllocated(held) => sandbox::allocated(&mut draft, held)?,
        Command::SandboxRefused { code } => sandbox::refused(&mut draft, code)?,
        Command::SandboxLost { incarnation } => sandbox::lost(&mut draft, incarnation)?,
        Command::Propose(answered) => propose::answered(&mut draft, *answered)?,
        Command::AgentStopped { turn, cost, failure } => {
            propose::agent_stopped(&mut draft, turn, cost, failure)?;
        }
        Command::Observe { turn, observation } => observe::observed(&mut draft, turn, observation)?,
        Command::ObserveHidden(record) => observe::hidden(&mut draft, record)?,
        Command::HiddenCheckFailed { gate, code } => observe::hidden_failed(&mut draft, &gate, code)?,
        Command::DecideApproval(decision) => observe::approval_decided(&mut draft, decision)?,
        Command::RevokeApprover { approver } => consent::approver_revoked(&mut draft, &approver)?,
        Command::WithdrawBlueprint => consent::blueprint_withdrawn(&mut draft)?,
        Command::Cancel { by } => start::cancel(&mut draft, by),
        Command::Tick => start::tick(&mut draft)?,
        Command::Recover => start::recover(&mut draft),
        Command::ProcessesTerminated { killed, receipt } => {
            draft.push(Event::ProcessesTerminated { killed, receipt });
        }
        Command::TraceExported { artifact } => draft.push(Event::TraceExported { artifact }),
        Command::SandboxDestroyed { receipt } => closing::destroyed(&mut draft, receipt),
        Command::CleanupFailed { code } => closing::failed(&mut draft, code),
    }
    Ok(draft.events)
}
