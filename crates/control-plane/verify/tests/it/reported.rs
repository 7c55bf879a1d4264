//! Reports of tests and hidden checks, as somebody tells them who writes the run anew.

use ambit_ids::Digest;
use ambit_verify_trace::{CheckId, Verdict};
use serde_json::{Value, json};

use crate::attack::Target;
use crate::forger::{Forger, nth};
use crate::honest::told;
use crate::world::scope;

/// The observation of the only gate of the run whose tests shrank.
fn shrunk(records: &mut [Value]) -> &mut Value {
    let at = nth(records, "gate.finished", 0);
    &mut records[at]["body"]["observation"]
}

// proves E-F02 E-A15
// break crates/control-plane/verify/src/gates.rs: `if tally(&read) != told.tests {` -> `if false {`
// break crates/control-plane/verify/src/gates.rs: `let output = is_charged.then(|| output_of(&before));` -> `let output = record.tests.and_then(|tests| tests.base_output_bytes); let _ = is_charged;`
#[tokio::test]
async fn a_report_that_says_something_else_than_was_seen_is_refuted() {
    let forger = Forger::new();
    let run = forger.runs.shrunk.clone();
    let records = forger.attacker.values(&Target::run(&run));
    let seen = records[nth(&records, "gate.finished", 0)]["body"]["observation"].clone();
    assert_eq!(seen["objections"][0]["code"], "GATE_TESTS_SHRANK", "{seen}");
    assert!(seen["tests"]["baseOutputBytes"].as_u64().is_some_and(|bytes| bytes > 0), "{seen}");
    let own = seen["tests"]["own"].clone();
    let elsewhere = seen["artifact"].clone();
    let forge = async |what: &str, write: &dyn Fn(&mut Value)| {
        forger.rewrite(&run, |records, _| write(shrunk(records))).await;
        forger.expect_named(what, &run, CheckId::Gates, "gate.finished").await;
    };
    forge("an objection that is left out", &|gate| {
        let members = gate.as_object_mut().unwrap();
        members.remove("objections");
        members.remove("fingerprint");
    })
    .await;
    forge("a base with fewer tests", &|gate| gate["tests"]["base"]["tests"] = own.clone()).await;
    forge("a base that nobody compared with", &|gate| {
        gate["tests"].as_object_mut().unwrap().remove("base");
    })
    .await;
    forge("a base that is another execution", &|gate| gate["tests"]["base"]["artifact"] = elsewhere.clone())
        .await;
    forge("an execution on the base that cost less", &|gate| gate["tests"]["baseOutputBytes"] = 1.into())
        .await;
    forge("an execution on the base that cost nothing", &|gate| {
        gate["tests"].as_object_mut().unwrap().remove("baseOutputBytes");
    })
    .await;
    forge("more tests of its own", &|gate| gate["tests"]["own"]["counts"]["passed"] = 9.into()).await;
}

// proves E-F02 E-F04
// break crates/control-plane/verify/src/gates.rs: `return Err(refuting(trace.name(at), "nobody looked at what it wrote at protected paths"));` -> `{}`
// break crates/control-plane/verify/src/gates.rs: `tree = tree.under(hidden).map_err(|error| refuting(trace.name(at), error.to_string()))?;` -> `let _ = hidden;`
#[tokio::test]
async fn a_look_at_protected_paths_that_nobody_took_is_refuted_of_hidden_checks_too() {
    let forger = Forger::new();
    let run = forger.runs.completed.clone();
    // A hidden check is looked at with the file that it brings.
    for (kind, files) in [("gate.finished", 1), ("hidden-check.finished", 2)] {
        let records = forger.attacker.values(&Target::run(&run));
        let at = nth(&records, kind, 0);
        let body = if kind == "gate.finished" { "/body/observation" } else { "/body" };
        let place = format!("{body}/artifact");
        let seen = forger.kept(records[at].pointer(&place).unwrap()).await;
        assert_eq!(
            seen["protected"],
            json!({"lookedAt": files, "changed": [], "more": 0, "watch": "course"})
        );
        for (what, protected) in [
            ("nobody watched", json!({"lookedAt": files, "changed": [], "more": 0})),
            ("fewer files", json!({"lookedAt": files - 1, "changed": [], "more": 0, "watch": "course"})),
        ] {
            let mut seen = seen.clone();
            seen["protected"] = protected;
            let kept = forger.keep(&seen).await.to_string();
            forger.rewrite(&run, |records, _| *records[at].pointer_mut(&place).unwrap() = kept.into()).await;
            forger.expect_named(&format!("{kind}: {what}"), &run, CheckId::Gates, kind).await;
            forger.attacker.restore();
        }
    }
    let report = forger.judge(&run).await;
    assert_eq!(report.verdict, Verdict::Proved, "as it was before\n{}", told(&report));
}

// proves E-F02
#[tokio::test]
async fn a_hidden_check_whose_files_are_altered_or_gone_proves_nothing() {
    let forger = Forger::new();
    let content = Digest::of(b"assert covert\n");
    let path = forger.site.blob_path(&scope(), content);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, b"assert nothing\n").unwrap();
    let report = forger.judge(&forger.runs.completed).await;
    assert_eq!(report.verdict, Verdict::Refuted, "{}", told(&report));
    std::fs::remove_file(&path).unwrap();
    let report = forger.judge(&forger.runs.completed).await;
    assert_ne!(report.verdict, Verdict::Proved, "{}", told(&report));
    std::fs::write(&path, &bytes).unwrap();
    let report = forger.judge(&forger.runs.completed).await;
    assert_eq!(report.verdict, Verdict::Proved, "{}", told(&report));
}
