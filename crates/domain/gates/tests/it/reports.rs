//! The readers of reports, against what real runners write and against what is no report.

use ambit_gates::{
    REPORT_BYTES, REPORT_DEPTH, REPORT_NAME_BYTES, REPORT_TESTS, ReportFormat, ReportProblem, TestReport,
    read_report,
};
use proptest::prelude::*;

fn read(format: ReportFormat, text: &str) -> TestReport {
    read_report(format, &[text.as_bytes()]).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn refused(format: ReportFormat, text: &str) -> ReportProblem {
    match read_report(format, &[text.as_bytes()]) {
        Ok(report) => panic!("read as {:?}: {text}", report.tests()),
        Err(error) => error.problem,
    }
}

/// The tests in a few words, and how many failures there are of no test.
fn told(report: &TestReport) -> (Vec<String>, u32) {
    let tests = report.tests().iter().map(|(name, outcome)| format!("{name} {outcome}"));
    (tests.collect(), report.failures_outside())
}

const PYTEST: &str = r#"<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="0" failures="1" skipped="2" tests="5" time="0.021" hostname="h"><properties><property name="a" value="b"/></properties><testcase classname="tests.test_cart" name="test_total[a &lt; b]" time="0.001" /><testcase classname="tests.test_cart" name="test_find" time="0.001"><failure message="assert 2 == 1">def f():
&gt;       assert len(got) == 1 &amp; more</failure></testcase><testcase classname="tests.test_cart" name="test_later" time="0.000"><skipped type="pytest.xfail" message="soon" /></testcase><testcase classname="tests.test_cart" name="test_never"><skipped type="pytest.skip" message="no">x</skipped><system-out><![CDATA[<testcase name="not one">]]></system-out></testcase></testsuite></testsuites>"#;

#[test]
fn junit_xml_is_read_as_pytest_writes_it() {
    let report = read(ReportFormat::JunitXml, PYTEST);
    let tests = [
        "tests.test_cart::test_find failed",
        "tests.test_cart::test_later skipped",
        "tests.test_cart::test_never skipped",
        "tests.test_cart::test_total[a < b] passed",
    ];
    assert_eq!(told(&report), (tests.map(str::to_owned).to_vec(), 0));
    let counts = report.counts();
    assert_eq!((counts.passed, counts.failed, counts.skipped), (1, 1, 2));
}

#[test]
fn junit_xml_counts_what_failed_outside_of_a_test_and_what_passed_only_when_run_again() {
    let declared = r#"<testsuite tests="1" errors="1" failures="1"><testcase name="a"/></testsuite>"#;
    assert_eq!(told(&read(ReportFormat::JunitXml, declared)), (vec!["a passed".to_owned()], 2));
    let suite = r#"<testsuites><testsuite name="s" errors="1"><error message="x"/></testsuite></testsuites>"#;
    assert_eq!(told(&read(ReportFormat::JunitXml, suite)), (Vec::new(), 1));
    let again = r#"<testsuite><testcase classname="C" name="a"><flakyFailure type="E">x</flakyFailure></testcase></testsuite>"#;
    assert_eq!(told(&read(ReportFormat::JunitXml, again)), (vec!["C::a failed".to_owned()], 0));
    // What stands for a module that could not be loaded is no test that could go missing later.
    for unloaded in [
        r#"<testsuite errors="1"><testcase classname="" name="tests.test_cart"><error message="collection failure">E</error></testcase></testsuite>"#,
        r#"<testsuite errors="1"><testcase classname="unittest.loader._FailedTest" name="test_cart"><error type="ImportError"/></testcase></testsuite>"#,
    ] {
        assert_eq!(told(&read(ReportFormat::JunitXml, unloaded)), (Vec::new(), 1), "{unloaded}");
    }
}

#[test]
fn several_files_are_one_report_and_tests_of_one_name_are_all_kept() {
    let one = br#"<testsuite><testcase classname="A" name="x"/><testcase classname="A" name="x"><failure/></testcase></testsuite>"#;
    let other =
        br#"<testsuite><testcase classname="A" name="x"/><testcase classname="B" name="y"/></testsuite>"#;
    let report = read_report(ReportFormat::JunitXml, &[one, other]).unwrap();
    assert_eq!(told(&report).0, ["A::x passed", "A::x #2 failed", "A::x #3 passed", "B::y passed"]);
}

#[test]
fn what_is_no_junit_xml_is_refused_by_its_code() {
    let deep = format!("<testsuite>{}", "<a>".repeat(REPORT_DEPTH));
    for (text, problem) in [
        ("", ReportProblem::Cut),
        ("<testsuite><testcase name='a'/>", ReportProblem::Cut),
        ("<testsuite><testcase name='a'>", ReportProblem::Cut),
        ("<testsuite></testsuites>", ReportProblem::Malformed),
        ("<testsuite/><testsuite/>", ReportProblem::Malformed),
        ("<html/>", ReportProblem::Malformed),
        ("<testsuite><testcase/></testsuite>", ReportProblem::Malformed),
        ("<testsuite><testcase name='a' name='b'/></testsuite>", ReportProblem::Malformed),
        ("<testsuite><testcase name='&own;'/></testsuite>", ReportProblem::Malformed),
        (
            "<testsuite><testcase name='a'><testcase name='b'/></testcase></testsuite>",
            ReportProblem::Malformed,
        ),
        ("<testsuite failures='many'/>", ReportProblem::Malformed),
        ("TAP version 13\n1..1\nok 1", ReportProblem::Malformed),
        ("<!DOCTYPE a [<!ENTITY b \"c\">]><testsuite/>", ReportProblem::Entity),
        ("<testsuite>&own;</testsuite>", ReportProblem::Entity),
        ("<?xml version=\"1.0\" encoding=\"UTF-16\"?><testsuite/>", ReportProblem::NotText),
        (deep.as_str(), ReportProblem::TooDeep),
    ] {
        assert_eq!(refused(ReportFormat::JunitXml, text), problem, "{text}");
    }
    assert!(read(ReportFormat::JunitXml, "<testsuite/>").tests().is_empty());
}

const NODE: &str = "TAP version 13
# Subtest: adds
ok 1 - adds
  ---
  duration_ms: 0.5
  ...
# Subtest: suite
    # Subtest: inner \\# one
    not ok 1 - inner \\# one
      ---
      error: |-
        ok 2 - not a point
      ...
    # Subtest: later
    ok 2 - later # SKIP
    1..2
not ok 2 - suite
  ---
  failureType: 'subtestsFailed'
  ...
# Subtest: some day
not ok 3 - some day # todo
1..3
# tests 3
";

#[test]
fn tap_is_read_with_subtests_directives_and_diagnostics() {
    let report = read(ReportFormat::Tap, NODE);
    let tests = [
        "adds passed",
        "some day skipped",
        "suite failed",
        "suite > inner # one failed",
        "suite > later skipped",
    ];
    assert_eq!(told(&report).0, tests);
    let first = "1..3\nok\nok - has # a hash\nnot ok 3\n# a comment\nokay, not a point\n";
    assert_eq!(told(&read(ReportFormat::Tap, first)).0, ["#1 passed", "#3 failed", "has passed"]);
    assert!(read(ReportFormat::Tap, "TAP version 14\n1..0 # SKIP nothing to do\n").tests().is_empty());
}

#[test]
fn tap_that_is_cut_or_does_not_keep_its_plan_is_refused() {
    let deep = format!("{}ok 1 - a\n1..1\n", " ".repeat(4 * REPORT_DEPTH));
    for (text, problem) in [
        ("", ReportProblem::Cut),
        ("ok 1 - a\n", ReportProblem::Cut),
        ("1..2\nok 1 - a\n", ReportProblem::Contradiction),
        ("1..1\nok 1 - a\nok 2 - b\n", ReportProblem::Contradiction),
        ("1..1\nok 1 - a\n1..1\n", ReportProblem::Malformed),
        ("1..2\nok 1 - a\nBail out! no more\n", ReportProblem::Cut),
        ("1..1\n    1..2\n    ok 1 - inner\nok 1 - outer\n", ReportProblem::Contradiction),
        ("1..1\nok 1 - a\n  ---\n  cut: here\n", ReportProblem::Cut),
        (deep.as_str(), ReportProblem::TooDeep),
    ] {
        assert_eq!(refused(ReportFormat::Tap, text), problem, "{text}");
    }
}

const CARGO: &str = "
running 3 tests
test cart::adds ... ok
test cart::panics - should panic ... ok
test cart::later ... ignored, not yet

test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s


running 1 test
test cart::adds ... FAILED

failures:

---- cart::adds stdout ----
test x ... ok

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s


running 2 tests
test src/lib.rs - add (line 12) ... ok
test src/lib.rs - never (line 40) - compile fail ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
";

#[test]
fn libtest_is_read_in_both_of_its_forms() {
    let text = CARGO.replace("test x ... ok\n", "");
    let tests = [
        "cart::adds passed",
        "cart::adds #2 failed",
        "cart::later skipped",
        "cart::panics passed",
        "src/lib.rs - add passed",
        "src/lib.rs - never - compile fail passed",
    ];
    assert_eq!(told(&read(ReportFormat::Libtest, &text)).0, tests);
    let lines = r#"{ "type": "suite", "event": "started", "test_count": 2 }
{ "type": "test", "event": "started", "name": "a" }
{ "type": "test", "name": "a", "event": "failed", "stdout": "{\"type\":\"test\"}" }
{ "type": "test", "name": "b", "event": "ignored" }
{ "type": "suite", "event": "failed", "passed": 0, "failed": 1, "ignored": 1, "measured": 0, "filtered_out": 0, "exec_time": 0.1 }
"#;
    assert_eq!(told(&read(ReportFormat::LibtestJson, lines)).0, ["a failed", "b skipped"]);
}

#[test]
fn libtest_whose_counts_do_not_add_up_is_refused() {
    for (text, problem) in [
        (CARGO, ReportProblem::Contradiction),
        ("", ReportProblem::Cut),
        ("running 1 test\ntest a ... ok\n", ReportProblem::Cut),
        ("running 1 test\nrunning 1 test\n", ReportProblem::Cut),
        (
            "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
            ReportProblem::Malformed,
        ),
        ("running 0 tests\ntest result: ok.\n", ReportProblem::Malformed),
        // What `-q` shows: no names.
        (
            "running 1 test\n.\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
            ReportProblem::Contradiction,
        ),
        (
            "running 2 tests\ntest a ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
            ReportProblem::Contradiction,
        ),
        (
            "running 1 test\ntest a ... ok\ntest result: FAILED. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
            ReportProblem::Contradiction,
        ),
    ] {
        assert_eq!(refused(ReportFormat::Libtest, text), problem, "{text}");
    }
    for (text, problem) in [
        ("", ReportProblem::Cut),
        ("{\"type\":\"suite\",\"event\":\"started\",\"test_count\":1}", ReportProblem::Cut),
        ("{\"type\":\"test\",\"event\":\"ok\",\"name\":\"a\"}", ReportProblem::Malformed),
        ("{\"type\":\"suite\",", ReportProblem::Malformed),
        (
            "{\"type\":\"suite\",\"event\":\"started\",\"test_count\":1}\n{\"type\":\"suite\",\"event\":\"ok\",\"passed\":1,\"failed\":0,\"ignored\":0}",
            ReportProblem::Contradiction,
        ),
    ] {
        assert_eq!(refused(ReportFormat::LibtestJson, text), problem, "{text}");
    }
}

const GO: &str = r#"{"Time":"2026-01-01T00:00:00Z","Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestX"}
{"Action":"output","Package":"m/a","Test":"TestX","Output":"=== RUN   TestX\n"}
{"Action":"run","Package":"m/a","Test":"TestX/sub"}
{"Action":"fail","Package":"m/a","Test":"TestX/sub","Elapsed":0}
{"Action":"fail","Package":"m/a","Test":"TestX","Elapsed":0}
{"Action":"run","Package":"m/a","Test":"TestY"}
{"Action":"skip","Package":"m/a","Test":"TestY","Elapsed":0}
{"Action":"fail","Package":"m/a","Elapsed":0.002}
# m/b
b.go:3:1: syntax error
{"Action":"fail","Package":"m/b","Elapsed":0,"FailedBuild":"m/b"}
{"Action":"skip","Package":"m/c","Elapsed":0}
"#;

#[test]
fn go_is_read_with_subtests_and_with_packages_that_were_not_built() {
    let (tests, outside) = told(&read(ReportFormat::GoTestJson, GO));
    assert_eq!(tests, ["m/a::TestX failed", "m/a::TestX/sub failed", "m/a::TestY skipped"]);
    assert_eq!(outside, 1, "m/b was not built");
    // A program that ended itself: its test began and has no end, and `go test` says that the package passed.
    let ended =
        "{\"Action\":\"run\",\"Package\":\"m\",\"Test\":\"T\"}\n{\"Action\":\"pass\",\"Package\":\"m\"}\n";
    assert_eq!(told(&read(ReportFormat::GoTestJson, ended)), (Vec::new(), 1));
    for (text, problem) in [
        ("", ReportProblem::Cut),
        ("{\"Action\":\"start\",\"Package\":\"m\"}\n", ReportProblem::Cut),
        ("{\"Action\":\"pass\",\"Package\":\"m\",\"Test\":\"T\"}\n", ReportProblem::Malformed),
        ("{\"Action\":\"pass\",\"Action\":\"fail\",\"Package\":\"m\"}\n", ReportProblem::Malformed),
        ("{\"Action\":", ReportProblem::Malformed),
    ] {
        assert_eq!(refused(ReportFormat::GoTestJson, text), problem, "{text}");
    }
}

#[test]
fn reports_are_bounded_in_bytes_in_tests_and_in_names() {
    let large = vec![b' '; REPORT_BYTES / 2 + 1];
    let error = read_report(ReportFormat::Tap, &[&large, &large]).unwrap_err();
    assert_eq!(error.code(), "REPORT_TOO_LARGE");
    let many = format!("1..{0}\n{1}", REPORT_TESTS + 1, "ok\n".repeat(REPORT_TESTS + 1));
    assert_eq!(refused(ReportFormat::Tap, &many), ReportProblem::TooManyTests);
    assert_eq!(read_report(ReportFormat::Tap, &[b"1..1\nok \xff\n"]).unwrap_err().code(), "REPORT_NOT_TEXT");
    let (one, other) = ("a".repeat(5_000), format!("{}b", "a".repeat(4_999)));
    let report =
        read(ReportFormat::Tap, &format!("1..3\nok 1 - {one}\nok 2 - {other}\nok 3 - \u{202e}\u{1b}[2J\n"));
    let names: Vec<&String> = report.tests().keys().collect();
    assert_eq!(names.len(), 3);
    assert!(names.iter().all(|name| name.len() <= REPORT_NAME_BYTES), "{names:?}");
    assert!(names.iter().all(|name| !name.contains(['\u{202e}', '\u{1b}'])), "{names:?}");
}

const SAMPLES: [(ReportFormat, &str); 5] = [
    (ReportFormat::JunitXml, PYTEST),
    (ReportFormat::Tap, NODE),
    (ReportFormat::Libtest, CARGO),
    (
        ReportFormat::LibtestJson,
        "{\"type\":\"suite\",\"event\":\"started\",\"test_count\":1}\n{\"type\":\"test\",\"name\":\"a\",\"event\":\"ok\"}\n{\"type\":\"suite\",\"event\":\"ok\",\"passed\":1,\"failed\":0,\"ignored\":0}\n",
    ),
    (ReportFormat::GoTestJson, GO),
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_report_or_refused_and_always_alike(
        format in 0..SAMPLES.len(),
        bytes in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let format = SAMPLES[format].0;
        let once = read_report(format, &[&bytes]);
        prop_assert_eq!(&once, &read_report(format, &[&bytes]));
        if let Err(error) = once {
            prop_assert!(error.detail.len() <= 200 && !error.detail.chars().any(ambit_ids::is_unprintable));
        }
    }

    #[test]
    fn lines_of_reports_that_are_cut_and_moved_never_make_more_tests_than_lines(
        picks in prop::collection::vec((0..SAMPLES.len(), any::<prop::sample::Index>(), 0..400_usize), 1..40),
    ) {
        let mut text = String::new();
        for (sample, line, cut) in picks {
            let lines: Vec<&str> = SAMPLES[sample].1.split_inclusive(['\n', '>']).collect();
            let line = line.get(&lines);
            text.push_str(&line[..line.floor_char_boundary(cut.min(line.len()))]);
            text.push('\n');
        }
        for (format, _) in SAMPLES {
            if let Ok(report) = read_report(format, &[text.as_bytes()]) {
                prop_assert!(report.tests().len() <= text.lines().count());
                let bytes = ambit_canonical::encode(&report).unwrap();
                let again: TestReport = ambit_canonical::decode(bytes.as_bytes(), REPORT_BYTES).unwrap();
                prop_assert_eq!(again.tests(), report.tests());
            }
        }
    }

    #[test]
    fn a_cut_anywhere_but_behind_the_last_word_never_hides_a_failure(cut in 0..PYTEST.len()) {
        // Whatever is left of a report in which something failed shows a failure, or is no report.
        let text = &PYTEST[..PYTEST.floor_char_boundary(cut)];
        prop_assert!(read_report(ReportFormat::JunitXml, &[text.as_bytes()]).is_err());
    }
}
