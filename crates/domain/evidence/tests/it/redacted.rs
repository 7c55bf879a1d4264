//! What tells how much was taken out of what was kept.

use ambit_gates::Ending;
use ambit_ids::ByteCount;
use ambit_redaction::{Redactions, Rule};
use ambit_run::{Event, GateRecord, Observation};

use crate::samples::{digest, gate_record, path};

/// An observation of each kind that tells it.
pub(crate) fn events() -> Vec<Event> {
    let redactions = |found: &[(Rule, u32)]| {
        Some(Redactions { rules: digest("rules"), found: found.iter().copied().collect() })
    };
    let seen = [
        Observation::FileRead {
            path: path("src/order.py"),
            sha256: digest("content"),
            bytes: ByteCount::new(900),
            truncated: false,
            redactions: redactions(&[(Rule::Pem, 1)]),
        },
        Observation::TextFound { count: 3, truncated: true, redactions: redactions(&[]) },
        Observation::GateFinished(GateRecord {
            redactions: redactions(&[(Rule::Github, 2), (Rule::Key, 1)]),
            ..gate_record(Ending::Exited { code: 0 })
        }),
    ];
    seen.into_iter().map(|observation| Event::CallObserved { turn: 3, observation }).collect()
}
