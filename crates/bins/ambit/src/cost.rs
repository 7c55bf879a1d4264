//! What a run cost, and what the charges rest on.

use std::fmt::Write as _;

use ambit_evidence::Link;
use ambit_ids::MicroUsd;
use ambit_run::{ChargeBasis, Dossier, Event};
use serde::Serialize;

use crate::terminal::counted;

/// What a run cost so far. Amounts are in millionths of a US dollar.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cost {
    total_micro_usd: MicroUsd,
    of_micro_usd: MicroUsd,
    /// Turns that are charged at what the agent's provider reported.
    turns_reported: usize,
    reported_micro_usd: MicroUsd,
    /// Turns that are charged at what was reserved for them, since nobody can tell what they cost.
    turns_at_reservation: usize,
    at_reservation_micro_usd: MicroUsd,
    gates_micro_usd: MicroUsd,
}

impl Cost {
    /// What the records of a run tell of its cost.
    pub(crate) fn of(links: &[Link], dossier: &Dossier) -> Self {
        let spent = dossier.ledger.spent().cost;
        let mut cost =
            Self { total_micro_usd: spent, of_micro_usd: dossier.pins.limits.tool_cost, ..Self::default() };
        for link in links {
            let Ok(Event::TurnSettled { charged, basis, .. }) = link.record.event() else { continue };
            let (turns, sum) = match basis {
                ChargeBasis::Reported => (&mut cost.turns_reported, &mut cost.reported_micro_usd),
                ChargeBasis::Reservation => {
                    (&mut cost.turns_at_reservation, &mut cost.at_reservation_micro_usd)
                }
            };
            *turns += 1;
            *sum = sum.checked_add(charged).unwrap_or(*sum);
        }
        let turns = cost.reported_micro_usd.checked_add(cost.at_reservation_micro_usd).unwrap_or(spent);
        cost.gates_micro_usd = spent.saturating_sub(turns);
        cost
    }

    /// The cost as lines of a page.
    pub(crate) fn page(&self) -> String {
        let mut page = String::new();
        let _ = writeln!(page, "cost         {} of {} USD", self.total_micro_usd, self.of_micro_usd);
        for (turns, sum, basis) in [
            (self.turns_reported, self.reported_micro_usd, "as reported"),
            (self.turns_at_reservation, self.at_reservation_micro_usd, "charged at what was reserved"),
        ] {
            if turns > 0 {
                let _ = writeln!(page, "             {sum} for {}, {basis}", counted(turns, "turn"));
            }
        }
        if self.gates_micro_usd > MicroUsd::ZERO {
            let _ = writeln!(page, "             {} for gates", self.gates_micro_usd);
        }
        page
    }
}
