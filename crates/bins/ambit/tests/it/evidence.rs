//! What is kept of an effect: once, whole, and enough by itself.

use std::fs;

use serde_json::{Value, json};

use crate::elsewhere::Elsewhere;
use crate::observed::{assert_stopped, count};
use crate::rig::{CHECK, FIX, GATE, PLAN, Project, transcript};

// proves C13
// break crates/domain/run/src/step/judge.rs: `dossier.patches.iter().find(|applied| applied.base == expected && applied.proposed == patch);` -> `dossier.patches.iter().find(|applied| applied.base != expected && applied.proposed == patch);`
#[test]
fn a_patch_that_comes_again_has_one_effect_in_its_run_and_another_in_another_run() {
    let project = Project::new();
    let base = project.ambit(["revision", "import", "app", "--json"]).well().json();
    for (run, revision) in [("once", "rev-1"), ("again", "rev-2")] {
        // Everything that the key is made of stands in the call itself, which comes twice.
        let call = json!({"tool": "apply_project_patch", "planStep": "s1", "input": {
            "revisionId": revision, "expectedBaseSha": base["tree"], "patch": FIX}});
        let turn = format!("    - say: {call}\n");
        project.start(run, &transcript(&format!("{PLAN}{turn}{turn}{GATE}"), "finish")).well();
        let records = project.records(run);
        assert_eq!(count(&records, "patch.applied"), 1, "{run}");
        let follows: Vec<&str> = records
            .iter()
            .filter(|record| record["body"]["call"]["tool"] == "apply_project_patch")
            .map(|record| record["body"]["outcome"]["follows"].as_str().unwrap())
            .collect();
        assert_eq!(follows, ["perform", "replayed"], "{run}");
        assert_stopped(&records, "gates-passed");
    }
    assert_eq!(project.tree("rev-1"), project.tree("rev-2"));
    project.ambit(["trace", "verify"]).well();
}

// proves C20
// break crates/bins/ambit/src/verbs/gate.rs: `let gap = if capture.truncated { "\n[...]\n" } else { "" };` -> `let gap = "";`
#[test]
fn long_output_is_shown_with_head_and_tail_and_kept_whole() {
    let project = Project::new();
    let line = "0123456789012345678901234567890123456789";
    let whole = format!("first\n{}last\n", format!("{line}\n").repeat(500));
    project.write("app/check.sh", &format!("cat long.txt\n{CHECK}"));
    project.write("app/long.txt", &whole);
    project.start("long", &crate::rig::diligent("finish")).well();
    let shown = project.ambit(["gate", "show", "long", "unit", "--json"]).well().json();
    let stdout = &shown["observation"]["stdout"];
    assert_eq!((&stdout["truncated"], &stdout["bytes"]), (&json!(true), &json!(whole.len())));
    let (head, tail) = (stdout["head"].as_str().unwrap(), stdout["tail"].as_str().unwrap());
    assert!(whole.starts_with(head) && whole.ends_with(tail), "{head}\n{tail}");
    assert!(head.len() > 4096 && tail.len() > 4096 && head.len() + tail.len() < whole.len());
    let page = project.ambit(["gate", "show", "long", "unit"]).well().out;
    assert!(page.contains(&format!("{head}\n[...]\n{tail}")), "{page}");
    project.ambit(["run", "export", "long", "--out", "bundle"]).well();
    assert_eq!(fs::read_to_string(project.path("bundle/gates/unit-1/stdout")).unwrap(), whole);

    // The control: what is short is whole, and says so.
    project.write("app/check.sh", &format!("cat short.txt\n{CHECK}"));
    project.write("app/short.txt", "first\nlast\n");
    project.start("short", &crate::rig::diligent("finish")).well();
    let shown = project.ambit(["gate", "show", "short", "unit", "--json"]).well().json();
    assert_eq!(shown["observation"]["stdout"]["truncated"], false);
    assert_eq!(shown["observation"]["stdout"]["head"], "first\nlast\n");
}

// proves E-M05
// break crates/bins/ambit/src/verbs/trace.rs: `Verdict::Proved => exit::OK,` -> `Verdict::Proved => exit::UNVERIFIED,`
#[test]
fn store_blobs_and_log_key_prove_a_run_without_anything_else_of_the_machine() {
    let elsewhere = Elsewhere::finished();
    for gone in ["images", "sandboxes"] {
        fs::remove_dir_all(elsewhere.home.join(gone)).unwrap();
    }
    for gone in ["app", "catalog.yaml", "blueprint.yaml", "first.agent.yaml", "approver.key"] {
        let path = elsewhere.project.path(gone);
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        removed.unwrap();
    }
    let report = elsewhere.ambit(["trace", "verify", "first", "--json"]).well().json();
    let unproved: Vec<&Value> =
        report["checks"].as_array().unwrap().iter().filter(|check| check["standing"] != "proved").collect();
    assert_eq!(unproved, Vec::<&Value>::new());
    elsewhere.ambit(["revision", "eligible", "rev-1"]).well();
}

/// The items of a run's checklist with how they stand.
fn standings(project: &Project, run: &str, code: i32) -> Vec<(String, String)> {
    let answered = project.ambit(["run", "checklist", run, "--json"]);
    assert_eq!(answered.code, code, "{answered:?}");
    let items = answered.json()["items"].as_array().unwrap().clone();
    let records = project.records(run);
    for event in items.iter().flat_map(|item| item["events"].as_array().unwrap()) {
        let record = &records[usize::try_from(event["seq"].as_u64().unwrap()).unwrap()];
        assert_eq!(event["kind"], record["kind"]);
    }
    let word = |item: &Value, key: &str| item[key].as_str().unwrap().to_owned();
    items.iter().map(|item| (word(item, "item"), word(item, "standing"))).collect()
}

// proves E-M04
// break crates/bins/ambit/src/verbs/checklist.rs: `found.insert(*manifest, says);` -> `drop((*manifest, says));`
// break crates/domain/evidence/src/checklist/resolve.rs: `found.requires(false, || why.to_string())` -> `found.requires(true, || why.to_string())`
#[test]
fn every_item_of_the_checklist_leads_to_what_shows_it_or_says_what_is_missing() {
    let project = Project::new();
    project.start("done", &crate::rig::diligent("finish")).well();
    let done = standings(&project, "done", 0);
    let open: Vec<&str> =
        done.iter().filter(|(_, standing)| standing != "resolved").map(|(item, _)| item.as_str()).collect();
    assert_eq!(open, ["approval"], "nobody was asked, and all else resolves");
    assert_eq!(done.len(), 9);

    project.start("undone", &transcript(PLAN, "finish"));
    let undone = standings(&project, "undone", 10);
    let missing: Vec<&str> = undone
        .iter()
        .filter(|(_, standing)| standing == "unresolved")
        .map(|(item, _)| item.as_str())
        .collect();
    assert_eq!(missing, ["preview-ready"]);
    let page = project.ambit(["run", "checklist", "undone"]).out;
    assert!(page.contains("MISSING preview-ready"), "{page}");
}
