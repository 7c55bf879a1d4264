//! Samples of what came with the rules under which the places of protected files are watched.

use ambit_gates::{BaseTests, Ending, GateTests, Objection};
use ambit_ids::{ByteCount, UnixMs};
use ambit_run::{Event, GateRecord, Observation, Pins, Rules};

use crate::samples::{digest, gate_record, path, pins};

/// What came with the rules under which the places of protected files are watched. A chain of its own as well.
pub(crate) fn watched_events() -> Vec<Event> {
    let mut pins = Pins { rules: Rules::Watched, ..pins() };
    pins.gates[0].reports = true;
    let base = BaseTests { artifact: digest("base artifact"), tests: None };
    let record = GateRecord {
        objections: vec![
            Objection::ProtectedFileAppeared { files: vec![path("tests/conftest.py")], more: 1 },
            Objection::ReportMissing,
        ],
        tests: Some(GateTests { base: Some(base), base_output_bytes: Some(ByteCount::new(77)), own: None }),
        ..gate_record(Ending::Exited { code: 0 })
    };
    vec![
        Event::Admitted { pins: Box::new(pins), at: UnixMs::new(1_795_996_799_999) },
        Event::CallObserved { turn: 3, observation: Observation::GateFinished(record) },
    ]
}
