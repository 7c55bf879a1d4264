//! Bundles of tool rules, checked, tested, explained and compared from the command line.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cases::ambit;
use crate::rig::Answered;
use crate::stable::stable;

const FIRST: &str = "policy://generation-tools/v1";
const SECOND: &str = "policy://generation-tools/v2";

const BUNDLE: &str = "apiVersion: coding-agent.enterprise/v1
kind: PolicyBundle
metadata: {name: narrow, version: 1}
spec:
  toolRules:
    - id: permit-reading
      effect: permit
      tools: [read_project_file]
      when: {always: true}
      why: A run may read.
      examples: [{tool: read_project_file, facts: [], expect: allow}]
    - id: forbid-leaving-scope
      effect: forbid
      denial: call
      tools: [read_project_file]
      when: {anyFact: [scope-left]}
      why: What lies outside is none of the run's business.
      instead: Read within the scope.
      examples:
        - {tool: read_project_file, facts: [{kind: scope-left, path: a}], expect: deny-call}
";

fn with(files: &[(&str, &str)]) -> TempDir {
    let dir = TempDir::new().unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

fn policy(dir: &Path, words: &[&str]) -> Answered {
    ambit(dir, &[&["policy"], words, &["--json"]].concat())
}

#[test]
fn a_bundle_that_can_be_used_is_told_with_its_digest_and_as_cedar() {
    let dir = with(&[("rules.yaml", BUNDLE)]);
    let told = policy(dir.path(), &["check", "rules.yaml"]).well().json();
    assert_eq!((&told["valid"], &told["rules"], &told["standing"]), (&json!(true), &json!(2), &json!(5)));
    assert_eq!((&told["name"], &told["engine"]), (&json!("policy://narrow/v1"), &json!("cedar/1")));
    let cedar = ambit(dir.path(), &["policy", "check", "rules.yaml", "--cedar"]).well().out;
    assert!(cedar.contains("@instead(\"Read within the scope.\")\nforbid (principal is Run"), "{cedar}");
    assert!(cedar.contains("@id(\"pin.other-project\")"), "{cedar}");
}

// proves E-H06
#[test]
fn a_bundle_whose_example_does_not_come_out_or_that_offers_what_nobody_can_approve_is_refused() {
    let other = BUNDLE.replace("expect: deny-call", "expect: allow");
    let offers = BUNDLE.replace(
        "effect: forbid\n      denial: call",
        "effect: require-approval\n      capability: deploy\n      unless: {approved: deploy}",
    );
    let dir = with(&[("other.yaml", &other), ("offers.yaml", &offers)]);
    for (file, code) in [("other.yaml", "POLICY_EXAMPLE_FAILS"), ("offers.yaml", "POLICY_NEVER_APPROVABLE")] {
        let refused = policy(dir.path(), &["check", file]);
        assert_eq!((refused.code, refused.code_of_failure().as_str()), (2, code), "{refused:?}");
        assert!(refused.out.is_empty());
    }
}

#[test]
fn cases_of_ones_own_are_decided_beside_the_examples() {
    let case = |expect: &str| {
        format!(
            "cases:\n  - {{tool: read_project_file, facts: [{{kind: scope-left, path: b}}], expect: {expect}, by: [forbid-leaving-scope]}}\n"
        )
    };
    let dir = with(&[
        ("rules.yaml", BUNDLE),
        ("right.yaml", &case("deny-call")),
        ("wrong.yaml", &case("allow")),
        ("none.yaml", "cases: [{tool: fly}]\n"),
    ]);
    let right = policy(dir.path(), &["test", "rules.yaml", "right.yaml"]).well().json();
    assert_eq!((right["cases"].as_array().unwrap().len(), &right["wrong"]), (3, &json!(0)));
    let wrong = policy(dir.path(), &["test", "rules.yaml", "wrong.yaml"]);
    assert_eq!((wrong.code, &wrong.json()["wrong"]), (3, &json!(1)), "{wrong:?}");
    let none = policy(dir.path(), &["test", "rules.yaml", "none.yaml"]);
    assert_eq!((none.code, none.code_of_failure().as_str()), (2, "DOCUMENT_UNKNOWN_WORD"), "{none:?}");
}

// proves E-H02
#[test]
fn a_call_is_explained_by_its_rules_and_what_is_possible_instead() {
    let dir = with(&[]);
    let explain = |words: &[&str]| policy(dir.path(), &[&["explain", SECOND], words].concat());
    let asked = explain(&["apply_project_patch", "--fact", "dependency-added"]);
    assert_eq!((asked.code, &asked.json()["verdict"]), (4, &json!("needs-approval")), "{asked:?}");
    assert_eq!(asked.json()["capability"], "dependency.add");
    let approved =
        explain(&["apply_project_patch", "--fact", "dependency-added", "--approved", "dependency.add"]);
    assert_eq!((approved.code, &approved.json()["verdict"]), (0, &json!("allow")));
    let external = explain(&["request_scoped_approval", "--asked", "deploy"]);
    let rules = external.json()["rules"].as_array().unwrap().clone();
    assert_eq!((external.code, rules.len()), (4, 2), "{external:?}");
    assert!(rules[0]["instead"].as_str().unwrap().contains("next stage"));
    insta::assert_snapshot!(
        "policy_explain",
        stable(
            &ambit(
                dir.path(),
                &["policy", "explain", SECOND, "apply_project_patch", "--fact", "foreign-project"]
            )
            .out
        )
    );
}

// proves E-H02
#[test]
fn a_bundle_that_lets_more_through_is_told_with_the_calls_that_it_lets_through() {
    let dir = with(&[]);
    let narrower = policy(dir.path(), &["diff", FIRST, SECOND]);
    assert_eq!(narrower.code, 4, "{narrower:?}");
    let narrower = narrower.json();
    assert!(narrower["narrowed"].as_array().unwrap().len() > 10);
    // What it lets further through is a directive in source, and the question about one; with an approval alone to the end.
    for widened in narrower["widened"].as_array().unwrap() {
        let call = &widened["call"];
        let facts = call["facts"].as_array().unwrap();
        let asks = call["asked"] == "check.silence";
        let is_directive = |fact: &Value| fact["kind"].as_str().unwrap().ends_with("directive-added");
        assert!(asks || facts.iter().any(is_directive), "{widened}");
        assert!(asks || widened["now"] != "allow" || call["approved"] == "check.silence", "{widened}");
    }
    let wider = policy(dir.path(), &["diff", SECOND, FIRST]);
    assert_eq!(wider.code, 4, "{wider:?}");
    let told = wider.json();
    let first = &told["widened"][0];
    assert_eq!((&first["now"], &first["wasBy"]), (&json!("allow"), &json!(["forbid-weakened-test"])));
    assert_eq!(first["call"]["tool"], "apply_project_patch");
    let same = policy(dir.path(), &["diff", SECOND, SECOND]).well().json();
    assert_eq!((&same["widened"], &same["narrowed"]), (&json!([]), &json!([])));
}
