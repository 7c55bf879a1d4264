//! Samples of what came with the rules under which a gate is guarded, and those under which the places of protected files are
//! watched.

use ambit_gates::{BaseTests, Counts, Ending, GateTests, Objection, ReportProblem, TestTally};
use ambit_ids::{ByteCount, UnixMs};
use ambit_run::{Event, GateRecord, Observation, Pins, Rules};

use crate::samples::{digest, gate_record, path, pins};

/// What came with the rules under which a gate is guarded. A chain of its own, behind the others.
pub(crate) fn guarded_events() -> Vec<Event> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
    let tally =
        |passed| TestTally { counts: Counts { passed, failed: 0, skipped: 1 }, report: digest("report") };
    let exited = || gate_record(Ending::Exited { code: 0 });
    let base = BaseTests { artifact: digest("base artifact"), tests: Some(tally(4)) };
    let objections = vec![
        Objection::ProtectedFileChanged { files: vec![path("tests/test_order.py")], more: 2 },
        Objection::ReportMissing,
        Objection::ReportUnreadable { problem: ReportProblem::Contradiction },
        Objection::NoTests,
        Objection::ReportShowsFailure { tests: names(&["test_order::total"]), more: 0 },
        Objection::TestsShrank { tests: names(&["test_order::total"]), more: 0 },
        Objection::TestsSkipped { tests: names(&["test_order::total"]), more: 1 },
    ];
    let seen = [
        GateRecord {
            tests: Some(GateTests { own: Some(tally(3)), base: Some(base), base_output_bytes: None }),
            objections,
            ..exited()
        },
        GateRecord {
            tests: Some(GateTests {
                own: None,
                base: Some(BaseTests { tests: None, ..base }),
                base_output_bytes: None,
            }),
            ..exited()
        },
    ];
    let mut events = vec![
        Event::Admitted {
            pins: Box::new(Pins { rules: Rules::Guarded, ..pins() }),
            at: UnixMs::new(1_795_996_799_999),
        },
        Event::SandboxRetired { incarnation: "inc_000001".parse().unwrap() },
    ];
    events.extend(
        seen.into_iter()
            .map(|record| Event::CallObserved { turn: 3, observation: Observation::GateFinished(record) }),
    );
    events
}

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

/// What came with the rules under which nobody is asked for what no budget permits.
pub(crate) fn affordable_events() -> Vec<Event> {
    let pins = Pins { rules: Rules::Affordable, ..pins() };
    vec![Event::Admitted { pins: Box::new(pins), at: UnixMs::new(1_795_996_799_999) }]
}
