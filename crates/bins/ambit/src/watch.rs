use std::io::Write as _;

use ambit_orchestrator::Observer;
use ambit_run::{Event, State};

use crate::text::line;

/// Tells on standard error what happens to a run, a line an event.
pub(crate) struct Narrator {
    quiet: bool,
}

impl Narrator {
    pub(crate) const fn new(quiet: bool) -> Self {
        Self { quiet }
    }
}

impl Observer for Narrator {
    fn changed(&self, _: &State, events: &[Event]) {
        if self.quiet {
            return;
        }
        let mut out = std::io::stderr().lock();
        for line in events.iter().filter_map(line) {
            // Nobody may be looking any more; the record is what counts.
            let _ = writeln!(out, "  {line}");
        }
    }
}
