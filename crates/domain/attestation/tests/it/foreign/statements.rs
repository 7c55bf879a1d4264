//! What statements say, read by the package that in-toto publishes for it.

use ambit_attestation::{Payload, Predicate, Statement};
use serde_json::{Value, json};

use super::{ACCEPTED, hold, packages, python, scripts, verdicts, write, write_cases};
use crate::run::Records;

fn value<P: Predicate>(statement: &Statement<P>) -> Value {
    serde_json::from_slice(statement.to_bytes().unwrap().as_bytes()).unwrap()
}

fn changed(mut value: Value, pointer: &str, to: Option<Value>) -> Value {
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    let parent = value.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match to {
        Some(to) => parent.insert(last.to_owned(), to),
        None => parent.remove(last),
    };
    value
}

/// Each with what must come of it.
fn cases(run: &Records) -> Vec<(&'static str, Value, &'static str)> {
    let build = || value(&run.provenance());
    let with = |pointer: &str, to: Value| changed(build(), pointer, Some(to));
    let without = |pointer: &str| changed(build(), pointer, None);
    let (version, parsed) = ("ValueError: Wrong statement type", "ParseError: ");
    let said = "ValueError: Predicate object required";
    let details = "/predicate/runDetails";
    vec![
        ("provenance", build(), ACCEPTED),
        ("passed", value(&run.gate_result(true)), ACCEPTED),
        ("failed", value(&run.gate_result(false)), ACCEPTED),
        ("ready", value(&run.summary(true)), ACCEPTED),
        ("not ready", value(&run.summary(false)), ACCEPTED),
        ("link", value(&run.patch_link()), ACCEPTED),
        ("receipt", value(&run.receipt()), ACCEPTED),
        ("sandbox", value(&run.sandbox()), ACCEPTED),
        ("denial", value(&run.denial()), ACCEPTED),
        ("cleanup", value(&run.cleanup()), ACCEPTED),
        ("another version", with("/_type", json!("https://in-toto.io/Statement/v0.1")), version),
        ("no version", without("/_type"), version),
        ("about nothing", with("/subject", json!([])), "ValueError: At least one subject required"),
        (
            "about a name",
            with("/subject", json!([{"name": "rev-1"}])),
            "ValueError: At least one digest required",
        ),
        ("no type", without("/predicateType"), "ValueError: Predicate type required"),
        ("nothing said", with("/predicate", json!({})), said),
        ("not said", without("/predicate"), said),
        ("a member more", with("/note", json!(1)), parsed),
        ("a digest that is a number", with("/subject", json!([{"digest": {"sha256": 7}}])), parsed),
        ("one subject for a list", with("/subject", json!({"name": "rev-1"})), parsed),
        ("a moment that is none", with(&format!("{details}/metadata/startedOn"), json!("yesterday")), parsed),
        ("a number for the run", with(&format!("{details}/metadata/invocationId"), json!(7)), parsed),
        (
            "a type of nobody",
            with("/predicateType", json!("https://example.com/x/v1")),
            "ValueError: Unknown predicate type",
        ),
    ]
}

#[test]
fn the_package_of_in_toto_reads_what_is_said_here_and_nothing_that_is_no_statement() {
    let Some(packages) = packages("python") else { return };
    let place = tempfile::tempdir().unwrap();
    let cases = cases(&Records::read());
    let mut written = Vec::new();
    for (at, (name, value, _)) in cases.iter().enumerate() {
        let file = format!("{at}.json");
        write(place.path(), &file, &serde_json::to_vec(value).unwrap());
        written.push(json!({"name": name, "file": file}));
    }
    write_cases(place.path(), &written);
    let verdicts =
        verdicts(python(&packages).arg(scripts().join("judge.py")).arg("statements").arg(place.path()));
    let expected: Vec<(&str, &str)> = cases.iter().map(|(name, _, expected)| (*name, *expected)).collect();
    hold(&verdicts, &expected);
}
