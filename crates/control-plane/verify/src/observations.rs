//! Takes every look at the source again.

use ambit_broker::{Ground, Source};
use ambit_redaction::{Redactions, rules_digest};
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
            Ok(performed) if compared(observation, &performed.observation) => {}
            Ok(_) => findings.refute(trace.name(at), "the tree that was current holds something else"),
            Err(error) => findings.push(of_broker(trace.name(at), &error)),
        }
    }
    findings
}

/// An observation with as much of what was taken out as can be found again: nothing where the record is from before there
/// were rules or names others, and no keys, which nobody knows any more.
fn compared(recorded: &Observation, found: &Observation) -> bool {
    let (mut recorded, mut found) = (recorded.clone(), found.clone());
    if let (Some(told), Some(again)) = (redactions(&mut recorded), redactions(&mut found)) {
        let is_known = told.as_ref().is_some_and(|told| told.rules == rules_digest());
        if !is_known || told.as_ref().map(Redactions::by_form) == again.as_ref().map(Redactions::by_form) {
            (*told, *again) = (None, None);
        }
    }
    recorded == found
}

fn redactions(observation: &mut Observation) -> Option<&mut Option<Redactions>> {
    match observation {
        Observation::FileRead { redactions, .. } | Observation::TextFound { redactions, .. } => {
            Some(redactions)
        }
        _ => None,
    }
}
