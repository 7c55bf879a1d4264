//! What a report takes from a gate that exited with 0.

use ambit_gates::{Objection, ReportFormat, TestReport, objections, read_report};
use ambit_ids::RepoPath;

use crate::gate;

fn tap(lines: &[&str]) -> TestReport {
    let text = format!("1..{}\n{}\n", lines.len(), lines.join("\n"));
    read_report(ReportFormat::Tap, &[text.as_bytes()]).unwrap()
}

fn codes(report: &TestReport, base: Option<&TestReport>) -> Vec<&'static str> {
    objections(Some(Ok(report)), base).iter().map(Objection::code).collect()
}

// proves E-F02
// break crates/domain/gates/src/objection.rs: `let (tests, more) = of_base(|now, _| now.is_none());` -> `let (tests, more) = of_base(|_, _| false);`
#[test]
fn a_test_of_the_base_may_neither_go_nor_be_skipped_however_it_ended_there() {
    let base = tap(&["ok 1 - a", "not ok 2 - b", "ok 3 - c # SKIP"]);
    for (now, expected) in [
        (tap(&["ok 1 - a", "ok 2 - b", "ok 3 - c # SKIP"]), vec![]),
        (tap(&["ok 1 - a", "ok 2 - b", "ok 3 - c", "ok 4 - d"]), vec![]),
        (tap(&["ok 1 - a", "ok 2 - c"]), vec!["GATE_TESTS_SHRANK"]),
        (tap(&["ok 1 - a", "ok 2 - b"]), vec!["GATE_TESTS_SHRANK"]),
        (tap(&["ok 1 - a", "ok 2 - renamed", "ok 3 - c"]), vec!["GATE_TESTS_SHRANK"]),
        (tap(&["ok 1 - a", "ok 2 - b # SKIP", "ok 3 - c"]), vec!["GATE_TESTS_SKIPPED"]),
        (tap(&["ok 1 - a", "not ok 2 - b # todo", "ok 3 - c"]), vec!["GATE_TESTS_SKIPPED"]),
        (tap(&["ok 1 - a", "not ok 2 - b", "ok 3 - c"]), vec!["GATE_REPORT_SHOWS_FAILURE"]),
        (tap(&["ok 1 - a # SKIP"]), vec!["GATE_NO_TESTS", "GATE_TESTS_SHRANK", "GATE_TESTS_SKIPPED"]),
    ] {
        assert_eq!(codes(&now, Some(&base)), expected, "{:?}", now.tests());
    }
    // Without a base that could be read nothing can be missed, and the rest still counts.
    assert_eq!(codes(&tap(&["ok 1 - a"]), None), Vec::<&str>::new());
    assert_eq!(codes(&tap(&[]), None), ["GATE_NO_TESTS"]);
}

#[test]
fn no_report_and_one_that_cannot_be_read_are_objected_to() {
    assert_eq!(objections(None, None), [Objection::ReportMissing]);
    let error = read_report(ReportFormat::Tap, &[b"ok 1 - a"]).unwrap_err();
    let found = objections(Some(Err(&error)), None);
    assert_eq!(found[0].to_string(), "the report cannot be read (REPORT_CUT)");
}

#[test]
fn what_is_named_is_bounded_and_counted_in_all() {
    let lines: Vec<String> = (1..=40).map(|at| format!("not ok {at} - {}{at}", "n".repeat(300))).collect();
    let report = tap(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let found = objections(Some(Ok(&report)), None);
    let size = ambit_canonical::encode(&found).unwrap().as_bytes().len();
    assert!(size < 2048, "{size}");
    let Objection::ReportShowsFailure { tests, more } = &found[0] else { panic!("{found:?}") };
    assert!(tests.iter().all(|test| test.len() <= 160));
    assert_eq!((tests.len(), *more), (8, 32));
    let files: Vec<RepoPath> =
        (0..12).map(|at| RepoPath::from_bytes(format!("tests/{at}").as_bytes()).unwrap()).collect();
    let told = Objection::to_files(&files).unwrap().to_string();
    assert!(told.ends_with(" and 4 more"), "{told}");
    assert_eq!(Objection::to_files(&[]), None);
}

#[test]
fn the_same_reasons_have_one_fingerprint() {
    let of = |lines: &[&str]| Objection::fingerprint(&gate(), &objections(Some(Ok(&tap(lines))), None));
    assert_eq!(of(&["not ok 1 - a"]), of(&["not ok 1 - a", "ok 2 - b"]));
    assert_ne!(of(&["not ok 1 - a"]), of(&["not ok 1 - b"]));
    assert_eq!(of(&["ok 1 - a"]), None);
}
