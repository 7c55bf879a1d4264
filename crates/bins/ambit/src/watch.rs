use std::io::Write as _;

use ambit_orchestrator::Observer;
use ambit_run::{Event, State};

use crate::context::ambit_in;
use crate::terminal::{columns, folded, printable};
use crate::text::line;

/// Tells on standard error what happens to a run, a line an event.
pub(crate) struct Narrator {
    quiet: bool,
}

impl Narrator {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet }
    }
}

impl Observer for Narrator {
    fn changed(&self, state: &State, events: &[Event]) {
        if self.quiet {
            return;
        }
        let mut out = std::io::stderr().lock();
        for event in events {
            // Nobody may be looking any more; the record is what counts.
            if let Some(line) = line(event) {
                let line = format!("  {}", printable(&line));
                let _ = writeln!(out, "{}", folded(&line, columns(&out)));
            }
            if let (Event::ApprovalRequested { .. }, Some(dossier)) = (event, state.dossier()) {
                let (ambit, run) = (ambit_in(&dossier.pins.scope), &dossier.pins.run);
                let _ = writeln!(out, "             {ambit} run show {run}   what it is about");
            }
        }
    }
}
