use ambit_ids::UnixMs;

use super::consent;
use crate::command::Refusal;
use crate::event::{ChargeBasis, Event};
use crate::evolve::evolve;
use crate::ledger::Amounts;
use crate::state::{Dossier, Open, Stage, State};
use crate::{Limit, StopReason};

/// The events so far of one step, and the state that they lead to.
pub(super) struct Draft {
    pub(super) state: State,
    pub(super) at: UnixMs,
    pub(super) events: Vec<Event>,
}

impl Draft {
    pub(super) fn push(&mut self, event: Event) {
        self.state = evolve(std::mem::take(&mut self.state), &event);
        self.events.push(event);
    }

    /// The open run. The table lets commands of open runs through only where there is one.
    pub(super) fn open(&self) -> Result<&Open, Refusal> {
        match &self.state {
            State::Open(open) => Ok(open),
            State::Vacant => Err(Refusal::NotFound),
            State::Closing(_) => Err(Refusal::Stopping),
            State::Ended(_) => Err(Refusal::Ended),
        }
    }

    pub(super) fn dossier(&self) -> Result<&Dossier, Refusal> {
        self.state.dossier().ok_or(Refusal::NotFound)
    }

    pub(super) fn is_overdue(&self) -> bool {
        self.dossier().is_ok_and(|dossier| self.at >= dossier.ledger.deadline())
    }

    /// Ends the run, with a turn that is still open charged at its reservation.
    pub(super) fn stop(&mut self, reason: StopReason) {
        self.settle_open_turn();
        let why = reason.clone();
        self.push(Event::Stopping { reason });
        consent::run_ends(self, &why);
    }

    pub(super) fn stop_at(&mut self, limit: Limit) {
        self.push(Event::LimitReached { limit });
        self.stop(StopReason::BudgetExhausted(limit));
    }

    pub(super) fn settle_open_turn(&mut self) {
        if let State::Open(open) = &self.state
            && let Stage::Agent(turn) = &open.stage
            && turn.reserved.model_steps > 0
        {
            let (turn, charged) = (turn.turn, turn.reserved.cost);
            self.push(Event::TurnSettled { turn, charged, basis: ChargeBasis::Reservation });
        }
    }

    /// Opens the next turn, or ends the run at the limit that it would pass.
    pub(super) fn open_next_turn(&mut self) {
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
