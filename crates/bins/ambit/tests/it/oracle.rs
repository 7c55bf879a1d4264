//! What `ambit oracle check` says of patches on directories, without a home or a project.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cases::{ambit, untouched};

const SOURCE: &str = "def total(items):\n    return sum(items)\n";
const TEST: &str = "from app import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n";
const MANIFEST: &str = "[project]\nname = \"shop\"\nversion = \"0.1.0\"\n";

/// A project with source, a test and a manifest, and no patch yet.
fn ground() -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::create_dir_all(dir.path().join("base/tests")).unwrap();
    for (name, content) in [("app.py", SOURCE), ("tests/test_app.py", TEST), ("pyproject.toml", MANIFEST)] {
        fs::write(dir.path().join("base").join(name), content).unwrap();
    }
    dir
}

/// A patch of one file, as far as its lines go.
fn patch(path: &str, hunk: &str) -> String {
    format!("--- a/{path}\n+++ b/{path}\n{hunk}")
}

/// What is answered to a patch: one object, which keeps to its schema, and nothing of the directory changed.
#[track_caller]
fn told(dir: &TempDir, patch: &str, more: &[&str], exit: i32) -> Value {
    fs::write(dir.path().join("fix.patch"), patch).unwrap();
    let before = untouched(&dir.path().join("base"));
    let words = [&["oracle", "check", "--base", "base", "fix.patch"], more].concat();
    let answered = ambit(dir.path(), &words);
    assert_eq!((answered.code, answered.err.as_str()), (exit, ""), "{answered:?}");
    assert_eq!(ambit(dir.path(), &[&words[..], &["--json"]].concat()).out, answered.out);
    assert_eq!(untouched(&dir.path().join("base")), before);
    let value: Value = serde_json::from_str(&answered.out).unwrap();
    let committed = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../schemas");
    let schema = fs::read(committed.join("OracleVerdict.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap();
    let wrong: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
    assert_eq!(wrong, Vec::<String>::new(), "{value}");
    value
}

fn kinds(told: &Value) -> Vec<&str> {
    told["facts"].as_array().unwrap().iter().map(|fact| fact["kind"].as_str().unwrap()).collect()
}

fn rules(told: &Value) -> Vec<&str> {
    told["rules"].as_array().unwrap().iter().map(|rule| rule["rule"].as_str().unwrap()).collect()
}

// proves E-F07
// break crates/bins/ambit/src/verbs/oracle.rs: `let exit = if self.verdict == "allow" { exit::OK } else { exit::DENIED };` -> `let exit = exit::OK;`
#[test]
fn a_patch_that_skips_a_test_is_denied_with_its_place_and_an_honest_one_is_allowed() {
    let dir = ground();
    let honest = patch(
        "app.py",
        "@@ -1,2 +1,2 @@\n def total(items):\n-    return sum(items)\n+    return sum(i for i in items)\n",
    );
    let allowed = told(&dir, &honest, &[], 0);
    assert_eq!((&allowed["verdict"], kinds(&allowed)), (&json!("allow"), vec![]));
    assert_eq!(rules(&allowed), ["permit-patch"]);
    let skipped = patch(
        "tests/test_app.py",
        "@@ -3,3 +3,4 @@\n \n+@__import__('pytest').mark.skip\n def test_total():\n     assert total([1, 2]) == 3\n",
    );
    let denied = told(&dir, &skipped, &[], 4);
    assert_eq!(denied["verdict"], "deny-terminating");
    let fact = denied["facts"].as_array().unwrap().iter().find(|fact| fact["kind"] == "skip-marker-added");
    let fact = fact.unwrap_or(&Value::Null);
    assert_eq!((&fact["path"], &fact["line"]), (&json!("tests/test_app.py"), &json!(4)), "{denied}");
    assert!(rules(&denied).contains(&"forbid-skip-marker"), "{denied}");
    assert!(denied["rules"][0]["why"].is_string() && denied["policy"].is_string(), "{denied}");
}

// proves E-F04
// break crates/bins/ambit/src/verbs/oracle.rs: `protected: PathSet(guarded.protect.clone()),` -> `protected: PathSet(Vec::new()),`
#[test]
fn what_is_protected_may_not_be_touched_and_what_is_a_test_can_be_said() {
    let dir = ground();
    let renamed = patch(
        "app.py",
        "@@ -1,2 +1,2 @@\n-def total(items):\n+def total(rows):\n-    return sum(items)\n+    return sum(rows)\n",
    );
    assert_eq!(told(&dir, &renamed, &["--protect", "tests/**"], 0)["facts"], json!([]));
    let touched = told(&dir, &renamed, &["--protect", "tests/**", "--protect", "*.py"], 4);
    assert_eq!(kinds(&touched), ["protected-path-touched"]);
    assert_eq!(rules(&touched), ["forbid-protected-path"]);
    let lost = patch(
        "tests/test_app.py",
        "@@ -4,2 +4,2 @@\n def test_total():\n-    assert total([1, 2]) == 3\n+    total([1, 2])\n",
    );
    assert_ne!(kinds(&told(&dir, &lost, &[], 4)), Vec::<&str>::new());
    assert_eq!(kinds(&told(&dir, &lost, &["--tests", "checks/**"], 0)), Vec::<&str>::new());
}

#[test]
fn what_a_person_decides_is_told_as_such_and_what_cannot_be_judged_is_refused() {
    let dir = ground();
    let added = patch("pyproject.toml", "@@ -3 +3,2 @@\n version = \"0.1.0\"\n+dependencies = [\"attrs\"]\n");
    let asks = told(&dir, &added, &[], 4);
    assert_eq!((&asks["verdict"], &asks["approval"]), (&json!("needs-approval"), &json!("dependency.add")));
    let silenced =
        patch("app.py", "@@ -2 +2 @@\n-    return sum(items)\n+    return sum(items)  # noqa: E501\n");
    let asks_too = told(&dir, &silenced, &[], 4);
    assert_eq!(
        (&asks_too["verdict"], &asks_too["approval"]),
        (&json!("needs-approval"), &json!("check.silence"))
    );
    assert_eq!(
        (kinds(&asks_too), &asks_too["facts"][0]["is"]),
        (vec!["directive-added"], &json!("noqa: E501"))
    );
    let members = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for (text, code) in [
        (patch("app.py", "@@ -1 +1 @@\n-def nothing():\n+def something():\n"), "PATCH_CONTEXT_MISMATCH"),
        (patch("app.py", "@@ -1 +1 @@\n-def sum_of(items):\n+def total(items):\n"), "PATCH_ALREADY_APPLIED"),
    ] {
        let refused = told(&dir, &text, &[], 4);
        assert_eq!((&refused["verdict"], &refused["code"]), (&json!("refused"), &json!(code)));
        assert_eq!(members(&refused), members(&asks));
    }
}
