//! What a person needs for a project of their own.

use std::fs;

use crate::rig::{Project, diligent};
use crate::stable::stable;

#[test]
fn a_blueprint_to_start_from_is_valid_as_it_is_written() {
    let project = Project::empty();
    let shown = project.ambit(["blueprint", "new"]).well().out;
    project.write("shown.yaml", &shown);
    let valid = project.ambit(["blueprint", "validate", "shown.yaml", "--json"]).well().json();
    assert_eq!((&valid["name"], &valid["version"]), (&"my-blueprint".into(), &1.into()));
    assert!(shown.lines().filter(|line| line.contains('#')).count() > 10, "it explains nothing: {shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 110));

    for name in ["orders", "true", "null", "1"] {
        let out = format!("{name}.yaml");
        let told = project.ambit(["blueprint", "new", "--name", name, "--out", &out]).well().out;
        assert_eq!(told, format!("the blueprint is in {out}\n"));
        let valid = project.ambit(["blueprint", "validate", &out, "--json"]).well().json();
        assert_eq!(valid["name"], *name);
        assert_eq!(fs::read_to_string(project.path(&out)).unwrap(), shown.replacen("my-blueprint", name, 1));
    }
    let again = project.ambit(["blueprint", "new", "--out", "orders.yaml"]);
    assert!(again.code == 2 && again.err.contains("USAGE_FILE_UNWRITABLE"), "{again:?}");
    project.ambit(["approver", "init", "--name", "ada", "--out", "approver.key"]).well();
    project.approve("orders.yaml").well();
}

#[test]
fn a_catalog_is_pinned_into_a_new_file_and_never_over_another() {
    let project = Project::empty();
    let catalog = fs::read_to_string(project.path("catalog.yaml")).unwrap();
    let digest = catalog.lines().find_map(|line| line.trim().strip_prefix("image: ")).unwrap();
    project.write("loose.yaml", &catalog.replace(digest, "${image}"));
    let pin = ["catalog", "pin", "loose.yaml", "--image", "tools", "--out", "pinned.yaml"];
    assert_eq!(project.ambit(pin).well().out, "the catalog is in pinned.yaml\n");
    assert_eq!(fs::read_to_string(project.path("pinned.yaml")).unwrap(), catalog);
    assert_eq!(project.ambit(&pin[..5]).well().out, catalog, "without a file it is shown");
    let again = project.ambit(pin);
    assert_eq!((again.code, again.out.as_str()), (2, ""), "{again:?}");
}

#[test]
fn profiles_and_the_gates_of_a_run_can_be_looked_up() {
    let project = Project::new();
    insta::assert_snapshot!("profile_list", project.ambit(["profile", "list"]).well().out);
    let shown = project.ambit(["profile", "show", "laptop-v1"]).well().out;
    insta::assert_snapshot!(
        "profile_show",
        shown.replace("laptop-v1", "NAME").lines().skip(2).collect::<Vec<_>>().join("\n")
    );
    let json = project.ambit(["profile", "show", "laptop-v1", "--json"]).well().json();
    assert_eq!(json["profile"]["spec"]["required"]["aggregateLimits"], "best-effort");

    project.start("first", &diligent("finish")).well();
    let unknown = project.ambit(["gate", "show", "first", "lint"]).err;
    assert_eq!(unknown, "error[GATE_NOT_FOUND]: the run has no gate lint\n  help: its gates are unit\n");
    let later = project.ambit(["gate", "show", "first", "unit", "--attempt", "2"]).err;
    assert_eq!(
        later,
        "error[GATE_NOT_FOUND]: the run has no attempt 2 of unit\n  help: it has 1 attempt of it\n"
    );
}

#[test]
fn a_limit_says_exactly_what_is_left_and_for_what_it_counts() {
    let project = Project::new();
    project.start("first", &diligent("finish")).well();
    let shown = project.ambit(["run", "show", "first"]).well().out;
    assert!(shown.contains("  maxPatchAttemptsPerGate            2 of 3 patches for unit\n"), "{shown}");
    assert!(
        shown.contains("  maxOutputBytes                     65536 of 65536 bytes\n"),
        "{}",
        stable(&shown)
    );
    let budget = project.show("first")["remainingBudget"].take();
    let patches = budget.as_array().unwrap().iter().find(|limit| limit["limit"] == "maxPatchAttemptsPerGate");
    assert_eq!(patches.unwrap()["perGate"].to_string(), r#"[{"gate":"unit","left":2}]"#);
}

/// What the probes of a backend saw is told in words, without control characters and forms of the program's own.
#[test]
fn what_a_backend_was_measured_to_do_reads_as_text() {
    let project = Project::empty();
    let shown = project.ambit(["backend", "inspect"]).well().out;
    let rows: Vec<Vec<&str>> = shown.lines().map(|line| line.split_whitespace().collect()).collect();
    for row in [
        &["ok", "denied.canary.environment", "PROBE=1", "ok", "8"][..],
        &["ok", "failure.signal", "signal", "11"],
    ] {
        assert!(rows.iter().any(|found| found == row), "{row:?} in {shown}");
    }
    for form in ['{', '}', '[', ']', '(', '"', '\0', '\u{fffd}'] {
        assert!(!shown.contains(form), "{form:?} in {shown}");
    }
}
