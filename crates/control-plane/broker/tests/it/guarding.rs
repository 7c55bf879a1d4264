//! What takes the green from a gate that exited with 0.

use std::sync::Arc;

use ambit_blueprint::{Document, NamedCommandCatalog};
use ambit_gates::Objection;
use ambit_ids::Digest;
use ambit_run::{GateRecord, Observation, Rules};
use ambit_simulation::{Execution, Outcome, Setup, simulate};

use crate::bench::Bench;

const PROTECTED: &str = "tests/protected/check.txt";

/// A setup whose gates report in TAP on standard output, or leave what `leaves` says.
fn setup(judge: impl Fn(&Execution<'_>) -> Outcome + Send + Sync + 'static) -> Setup {
    Setup { judge: Box::new(judge), ..Setup::standard() }
}

/// The bench with a command that names a report.
async fn reporting(setup: Setup, report: &str) -> Bench {
    let mut bench = Bench::new(setup).await;
    let mut catalog = serde_json::to_value(bench.ground.catalog.as_ref()).unwrap();
    for command in catalog["spec"]["commands"].as_array_mut().unwrap() {
        command["outputs"] = serde_json::json!([{"path": "out/report.xml", "maxKib": 64}]);
        command["report"] = serde_json::from_str(report).unwrap();
    }
    let text = serde_json::to_vec(&catalog).unwrap();
    let Document::Catalog(catalog) = Document::parse("catalog.json", &text).unwrap() else {
        panic!("{catalog}")
    };
    bench.ground.catalog = Arc::<NamedCommandCatalog>::new(catalog);
    bench
}

async fn run(bench: &Bench) -> (GateRecord, serde_json::Value) {
    let performed = bench.perform(bench.gate(), &ambit_run::Finding::Clear).await;
    let Observation::GateFinished(record) = performed.observation else { panic!("{performed:?}") };
    (record, performed.reply)
}

fn codes(record: &GateRecord) -> Vec<&'static str> {
    record.objections.iter().map(Objection::code).collect()
}

/// The head of a bench becomes what this patch makes of it.
async fn patched(bench: &mut Bench, before: &str, after: &str) {
    let patch = ambit_simulation::edit("src/word.txt", before, after);
    let call = bench.patch(&patch);
    let assessed = bench.assess(call.clone(), Some(&patch)).await;
    bench.perform(call, &assessed.finding).await;
    let ambit_run::Finding::Patch(found) = assessed.finding else { panic!("no patch") };
    bench.head = found.tree;
}

// proves E-F04
// break crates/control-plane/broker/src/evaluate/protected.rs: `if after == self.content =>` -> `if after == self.content || true =>`
// break crates/control-plane/broker/src/evaluate/report.rs: `Objection::to_files(&paths(known)).into_iter().collect();` -> `Objection::to_files(&[]).into_iter().collect();`
#[test]
fn protected_files_are_hashed_again_after_every_gate() {
    simulate(async {
        let honest = Bench::new(setup(|_| Outcome::passes())).await;
        let (record, reply) = run(&honest).await;
        assert!(record.passed() && record.objections.is_empty(), "{record:?}");
        assert!(reply.get("objections").is_none() && reply.get("errorClass").is_none(), "{reply}");
        let seen: serde_json::Value =
            serde_json::from_slice(&honest.world.blob(record.artifact).unwrap()).unwrap();
        assert_eq!(
            seen["protected"],
            serde_json::json!({"lookedAt": 1, "changed": [], "more": 0, "watch": "course"})
        );
        assert_eq!(seen["outputs"], serde_json::json!([]), "they are no outputs of the command");
        for tampered in [
            Outcome::passes().leaving(PROTECTED, b"the word is anything\n"),
            Outcome::passes().leaving(PROTECTED, &vec![b'x'; 1 << 20]),
            Outcome::passes().removing(PROTECTED),
        ] {
            let outcome = tampered.clone();
            let bench = Bench::new(setup(move |_| outcome.clone())).await;
            let (record, reply) = run(&bench).await;
            assert!(record.ending.is_success() && !record.passed());
            assert_eq!(codes(&record), ["GATE_PROTECTED_FILE_CHANGED"]);
            assert_eq!(reply["exitCode"], 0);
            assert_eq!(reply["errorClass"], "objected");
            assert!(reply["objections"][0].as_str().unwrap().contains(PROTECTED), "{reply}");
            assert!(record.fingerprint.is_some(), "so that it is recognised when it comes again");
        }
        let red = Bench::new(setup(|_| Outcome::fails("no").removing(PROTECTED))).await;
        assert_eq!(
            codes(&run(&red).await.0),
            ["GATE_PROTECTED_FILE_CHANGED"],
            "of a red gate it is told too"
        );
        // A run of earlier rules is judged as it always was.
        let mut earlier = Bench::new(setup(|_| Outcome::passes().removing(PROTECTED))).await;
        earlier.ground.pins =
            Arc::new(ambit_run::Pins { rules: Rules::Repeats, ..earlier.ground.pins.as_ref().clone() });
        assert!(run(&earlier).await.0.passed());
    });
}

/// What a gate of this outcome leaves: its record, and what is kept of its protected files.
async fn kept(bench: &Bench) -> (GateRecord, serde_json::Value) {
    let (record, _) = run(bench).await;
    let seen: serde_json::Value =
        serde_json::from_slice(&bench.world.blob(record.artifact).unwrap()).unwrap();
    (record, seen["protected"].clone())
}

// proves E-F04
// break crates/control-plane/broker/src/evaluate/protected.rs: `None => (!self.is_expected(path)).then(|| appeared(path, None)),` -> `None => None,`
// break crates/control-plane/broker/src/evaluate/protected.rs: `(written.watch == Watch::Course).then(|| put_back(path, file.content))` -> `None`
// break crates/control-plane/broker/src/evaluate/protected.rs: `homes.contains(place) ||` -> `homes.is_empty() &&`
#[test]
fn what_is_written_at_a_protected_place_takes_the_green_also_where_it_is_new_or_put_back_or_gone_again() {
    simulate(async {
        let protected = b"the word is right\n";
        let new = "tests/protected/more/conftest.py";
        for (outcome, codes_wanted, files) in [
            (
                Outcome::passes().leaving(PROTECTED, protected),
                vec!["GATE_PROTECTED_FILE_CHANGED"],
                vec![PROTECTED],
            ),
            (Outcome::passes().leaving(new, b"import os"), vec!["GATE_PROTECTED_FILE_APPEARED"], vec![new]),
            (
                Outcome::passes().leaving(new, b"").removing(PROTECTED),
                vec!["GATE_PROTECTED_FILE_CHANGED", "GATE_PROTECTED_FILE_APPEARED"],
                vec![PROTECTED, new],
            ),
            (
                Outcome::passes().emptying("tests/protected"),
                vec!["GATE_PROTECTED_FILE_APPEARED"],
                vec!["tests/protected"],
            ),
            (
                Outcome::passes().emptying("tests/protected/deep"),
                vec!["GATE_PROTECTED_FILE_APPEARED"],
                vec!["tests/protected/deep"],
            ),
            // Controls: elsewhere everything may be written, and what a backend cannot tell is told by nobody.
            (Outcome::passes().leaving("src/new.py", b"x").emptying("src"), vec![], vec![]),
            (Outcome::passes().leaving(PROTECTED, protected).seen_at_the_end(), vec![], vec![]),
        ] {
            let watch = if outcome.watch == ambit_ports::sandbox::Watch::Course { "course" } else { "end" };
            let bench = Bench::new(setup(move |_| outcome.clone())).await;
            let (record, seen) = kept(&bench).await;
            assert_eq!((codes(&record), record.passed()), (codes_wanted.clone(), codes_wanted.is_empty()));
            let told: Vec<&str> = seen["changed"]
                .as_array()
                .unwrap()
                .iter()
                .map(|file| file["path"].as_str().unwrap())
                .collect();
            assert_eq!((told, &seen["watch"]), (files, &watch.into()), "{seen}");
        }
        // What the catalog expects is no surprise, also at a protected place.
        let left = Outcome::passes().leaving("tests/protected/report.xml", &junit(&["a"]));
        let mut bench = reporting(setup(move |_| left.clone()), JUNIT).await;
        expect_output(&mut bench, "tests/protected/report.xml");
        assert!(run(&bench).await.0.passed());
        // Under earlier rules nobody looked, and nobody says so.
        let quiet = Outcome::passes().leaving(new, b"x");
        let mut earlier = Bench::new(setup(move |_| quiet.clone())).await;
        let pins = earlier.ground.pins.as_ref().clone();
        earlier.ground.pins = Arc::new(ambit_run::Pins { rules: Rules::Guarded, ..pins });
        let (record, seen) = kept(&earlier).await;
        assert!(record.passed() && seen.get("watch").is_none(), "{seen}");
    });
}

/// The report of every command lies at this path.
fn expect_output(bench: &mut Bench, path: &str) {
    let text = serde_json::to_string(bench.ground.catalog.as_ref()).unwrap().replace("out/report.xml", path);
    let Document::Catalog(catalog) = Document::parse("catalog.json", text.as_bytes()).unwrap() else {
        panic!("{text}")
    };
    bench.ground.catalog = Arc::<NamedCommandCatalog>::new(catalog);
}

fn junit(names: &[&str]) -> Vec<u8> {
    let cases: String = names
        .iter()
        .map(|name| match name.strip_suffix('!') {
            Some(name) => format!("<testcase name=\"{name}\"><failure/></testcase>"),
            None => format!("<testcase name=\"{name}\"/>"),
        })
        .collect();
    format!("<testsuite>{cases}</testsuite>").into_bytes()
}

const JUNIT: &str = r#"{"format": "junit-xml", "output": "out/report.xml"}"#;

// proves E-F02
// break crates/control-plane/broker/src/evaluate.rs: `let named = self.resolve(ground, gate, base, effect)?;` -> `let named = self.resolve(ground, gate, flight.tree, effect)?;`
#[test]
fn the_tests_of_the_base_are_found_out_beside_the_first_execution_and_none_may_go() {
    simulate(async {
        let judge = |execution: &Execution<'_>| match execution.text("src/word.txt").as_str() {
            "undone\n" => Outcome::fails("b failed").leaving("out/report.xml", &junit(&["a", "b!"])),
            "fewer\n" => Outcome::passes().leaving("out/report.xml", &junit(&["a"])),
            _ => Outcome::passes().leaving("out/report.xml", &junit(&["a", "b", "c"])),
        };
        let mut bench = reporting(setup(judge), JUNIT).await;
        let base = bench.head;
        patched(&mut bench, "undone\n", "fewer\n").await;
        let (record, reply) = run(&bench).await;
        assert_eq!(codes(&record), ["GATE_TESTS_SHRANK"]);
        assert!(reply["objections"][0].as_str().unwrap().ends_with("are gone: b"), "{reply}");
        let tests = record.tests.unwrap();
        let known = tests.base.unwrap();
        assert_eq!((tests.own.unwrap().counts.passed, known.tests.unwrap().counts.failed), (1, 1));
        let executed = bench.world.sandbox.executed();
        let ran: Vec<(Digest, bool)> =
            executed.iter().map(|ran| (ran.tree, ran.effect.as_str().ends_with(".base"))).collect();
        assert_eq!(ran, [(base, true), (bench.head, false)]);
        assert!(bench.world.blob(known.tests.unwrap().report).is_some(), "the names are kept");

        // Once it is known it is not found out again, and what is new is welcome.
        patched(&mut bench, "fewer\n", "more\n").await;
        bench.base_tests = Some(known);
        let (record, _) = run(&bench).await;
        assert!(record.passed(), "{:?}", record.objections);
        assert_eq!(record.tests.unwrap().base, Some(known));
        assert_eq!(bench.world.sandbox.executed().len(), 3);
    });
}

// proves E-F02
// break crates/control-plane/broker/src/evaluate/report.rs: `if files.is_empty() {` -> `if files.len() > 9 {`
#[test]
fn a_gate_that_ends_early_or_reports_otherwise_than_it_exits_is_not_green() {
    simulate(async {
        for (left, code) in [
            (None, Some("GATE_REPORT_MISSING")),
            (Some(Vec::new()), Some("GATE_REPORT_UNREADABLE")),
            (Some(b"<testsuite><testcase name=\"a\"/>".to_vec()), Some("GATE_REPORT_UNREADABLE")),
            (Some(junit(&[])), Some("GATE_NO_TESTS")),
            (Some(junit(&["a", "b!"])), Some("GATE_REPORT_SHOWS_FAILURE")),
            (Some(junit(&["a", "b"])), None),
        ] {
            let outcome = match &left {
                Some(bytes) => Outcome::passes().leaving("out/report.xml", bytes),
                None => Outcome::passes(),
            };
            let bench = reporting(setup(move |_| outcome.clone()), JUNIT).await;
            let (record, _) = run(&bench).await;
            assert_eq!(codes(&record), code.into_iter().collect::<Vec<_>>(), "{left:?}");
            assert_eq!(record.passed(), code.is_none());
        }
        let red = reporting(setup(|_| Outcome::fails("x").leaving("out/report.xml", &junit(&["a"]))), JUNIT);
        let (record, _) = run(&red.await).await;
        assert!(!record.passed() && record.objections.is_empty(), "no report makes a red gate green");
        let mut tap = Outcome::passes();
        tap.stdout = b"1..2\nok 1 - a\nnot ok 2 - b\n".to_vec();
        let printed = reporting(setup(move |_| tap.clone()), r#"{"format": "tap"}"#).await;
        assert_eq!(codes(&run(&printed).await.0), ["GATE_REPORT_SHOWS_FAILURE"]);
    });
}
