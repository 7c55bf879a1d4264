use std::io::Write as _;

use ambit_ids::GateId;
use ambit_orchestrator::Observer;
use ambit_ports::sandbox::Tap;
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
        let told = folded(&printable(&lines(state, events)), columns(&out));
        // Nobody may be looking any more; the record is what counts.
        let _ = out.write_all(told.as_bytes());
    }

    fn gate_begins(&self, _: &GateId) -> Option<Tap> {
        None
    }
}

/// What is told of events, a line each, and how to look at what a person is asked.
pub(crate) fn lines(state: &State, events: &[Event]) -> String {
    let mut told = String::new();
    for event in events {
        if let Some(line) = line(event) {
            told.push_str(&format!("  {}\n", line.replace('\n', " ")));
        }
        if let (Event::ApprovalRequested { .. }, Some(dossier)) = (event, state.dossier()) {
            let (ambit, run) = (ambit_in(&dossier.pins.scope), &dossier.pins.run);
            told.push_str(&format!("             {ambit} run show {run}   what it is about\n"));
        }
    }
    told
}
