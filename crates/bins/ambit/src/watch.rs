use std::io::Write as _;

use ambit_orchestrator::Observer;
use ambit_run::{Event, Phase, State};
use tokio::sync::Notify;

use crate::text::{line, printable};

/// Tells on standard error what happens to a run, a line an event.
pub(crate) struct Narrator {
    quiet: bool,
    person: Notify,
}

impl Narrator {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet, person: Notify::new() }
    }

    /// Waits until the run waits for a person.
    pub(crate) async fn person_is_needed(&self) {
        self.person.notified().await;
    }
}

impl Observer for Narrator {
    fn changed(&self, state: &State, events: &[Event]) {
        if state.phase() == Some(Phase::NeedsApproval) {
            self.person.notify_one();
        }
        if self.quiet {
            return;
        }
        let mut out = std::io::stderr().lock();
        for event in events {
            // Nobody may be looking any more; the record is what counts.
            if let Some(line) = line(event) {
                let _ = writeln!(out, "  {}", printable(&line));
            }
            if let (Event::ApprovalRequested { .. }, Some(dossier)) = (event, state.dossier()) {
                let _ = writeln!(out, "             ambit run show {}   what it is about", dossier.pins.run);
            }
        }
    }
}
