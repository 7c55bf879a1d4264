//! Takes every look at the source again.

use ambit_broker::{Ground, Source};
use ambit_run::{Event, Observation};

use crate::decisions::of_broker;
use crate::findings::Findings;
use crate::trace::Trace;

/// Performs every read, list and search again. One that failed then is as recorded: failures of that moment are not
/// repeated.
pub(crate) async fn check(trace: &Trace<'_>, ground: &Ground, source: &Source) -> Findings {
    let mut findings = Findings::default();
    for (at, event) in trace.events() {
        let Event::CallObserved { observation, .. } = event else { continue };
        let is_look = matches!(
            observation,
            Observation::FileRead { .. } | Observation::FilesListed { .. } | Observation::TextFound { .. }
        );
        if !is_look {
            continue;
        }
        let Some(flight) = trace.flight(at) else {
            findings.refute(trace.name(at), "no call was in flight that could have seen it");
            continue;
        };
        match source.look(ground, flight).await {
            Ok(performed) if performed.observation == *observation => {}
            Ok(_) => findings.refute(trace.name(at), "the tree that was current holds something else"),
            Err(error) => findings.push(of_broker(trace.name(at), &error)),
        }
    }
    findings
}
