//! What follows from a command. One file per family of commands; the table says which states take which at all.

mod closing;
mod judge;
mod observe;
mod propose;
mod sandbox;
mod start;

use ambit_ids::UnixMs;

use crate::command::{Command, Refusal};
use crate::event::{ChargeBasis, Event};
use crate::evolve::evolve;
use crate::ledger::Amounts;
use crate::pins::Pins;
use crate::state::{Dossier, HiddenCheck, Open, Stage, State};
use crate::table;
use crate::{Limit, StopReason};

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

/// The hidden checks of a blueprint, from cheap to dear.
pub(crate) fn hidden_checks(pins: &Pins) -> Vec<HiddenCheck> {
    pins.gates
        .iter()
        .filter_map(|gate| {
            let command = gate.hidden_check.clone()?;
            Some(HiddenCheck { gate: gate.id.clone(), command })
        })
        .collect()
}

/// The events so far of one step, and the state that they lead to.
struct Draft {
    state: State,
    at: UnixMs,
    events: Vec<Event>,
}

impl Draft {
    fn push(&mut self, event: Event) {
        self.state = evolve(std::mem::take(&mut self.state), &event);
        self.events.push(event);
    }

    /// The open run. The table lets commands of open runs through only where there is one.
    fn open(&self) -> Result<&Open, Refusal> {
        match &self.state {
            State::Open(open) => Ok(open),
            State::Vacant => Err(Refusal::NotFound),
            State::Closing(_) => Err(Refusal::Stopping),
            State::Ended(_) => Err(Refusal::Ended),
        }
    }

    fn dossier(&self) -> Result<&Dossier, Refusal> {
        self.state.dossier().ok_or(Refusal::NotFound)
    }

    fn is_overdue(&self) -> bool {
        self.dossier().is_ok_and(|dossier| self.at >= dossier.ledger.deadline())
    }

    /// Ends the run, with a turn that is still open charged at its reservation.
    fn stop(&mut self, reason: StopReason) {
        self.settle_open_turn();
        self.push(Event::Stopping { reason });
    }

    fn stop_at(&mut self, limit: Limit) {
        self.push(Event::LimitReached { limit });
        self.stop(StopReason::BudgetExhausted(limit));
    }

    fn settle_open_turn(&mut self) {
        if let State::Open(open) = &self.state
            && let Stage::Agent(turn) = &open.stage
            && turn.reserved.model_steps > 0
        {
            let (turn, charged) = (turn.turn, turn.reserved.cost);
            self.push(Event::TurnSettled { turn, charged, basis: ChargeBasis::Reservation });
        }
    }

    /// Opens the next turn, or ends the run at the limit that it would pass.
    fn open_next_turn(&mut self) {
        let Ok(dossier) = self.dossier() else { return };
        if self.is_overdue() {
            return self.stop_at(Limit::Elapsed);
        }
        let reserved = dossier.pins.agent.turn_quote;
        match dossier.ledger.check(&Amounts::turn(reserved)) {
            Ok(()) => {
                let turn = dossier.turns.saturating_add(1);
                self.push(Event::TurnOpened { turn, reserved });
            }
            Err(limit) => self.stop_at(limit),
        }
    }
}
