//! Gate A: the smallest slice without code. A run reads a file, writes a text and has a check keep an artifact; what it
//! says of itself is true, whether it passes or fails, and the host stays as it was.

use std::fs;
use std::path::Path;

use ambit_evidence::artifacts::{CheckVerdict, RunArtifacts};
use ambit_ids::Digest;
use serde_json::Value;

use crate::host::{Host, commit_all, is_git_here};
use crate::rig::{GATE, PLAN, Project, blueprint, patch, transcript};

const CHECK: &str = "cat greet.sh > report.txt\necho second > logs/second.txt\ngrep -q hello notes.txt || { echo 'FAIL: notes: no word of hello'; exit 1; }\necho noted >> report.txt\n";
const READ: &str = "    - say: { tool: read_project_file, planStep: s1, input: { path: greet.sh } }\n";

const KEPT: &str = "outputs:\n        - path: report.txt\n          maxKib: 4\n        - path: logs\n          maxKib: 4\n          maxEntries: 2\n";

/// A patch that adds a text.
fn notes(says: &str) -> String {
    format!("--- /dev/null\n+++ b/notes.txt\n@@ -0,0 +1 @@\n+{says}\n")
}

/// A project whose base is a repository of the host, and whose gate keeps an artifact.
fn project() -> (Project, std::path::PathBuf) {
    project_that_keeps(KEPT)
}

fn project_that_keeps(kept: &str) -> (Project, std::path::PathBuf) {
    let project = Project::empty();
    project.write("app/check.sh", CHECK);
    fs::create_dir(project.path("app/logs")).unwrap();
    project.write("app/logs/first.txt", "first\n");
    let host = project.path("app");
    commit_all(&host, "first");
    let catalog = fs::read_to_string(project.path("catalog.yaml")).unwrap();
    project.write("catalog.yaml", &catalog.replace("outputs: []\n", kept));
    project.approve_as_ada();
    let noted = blueprint("").replace("paths: [greet.sh, requirements.txt]", "paths: [notes.txt]");
    let noted = noted.replace("version: 1", "version: 2");
    project.write("noted.yaml", &noted);
    project.approve("noted.yaml").well();
    (project, host)
}

/// Runs an agent that reads a file, writes these words and asks for the gate. Answers the exit code.
fn run(project: &Project, name: &str, says: &str) -> i32 {
    let turns = format!("{PLAN}{READ}{}{GATE}", patch(&notes(says), ""));
    project.start(name, &transcript(&turns, "finish")).code
}

fn exported(project: &Project, name: &str) -> (RunArtifacts, std::path::PathBuf) {
    let out = project.path(&format!("{name}-out"));
    project.ambit(["run", "export", name, "--out", out.to_str().unwrap()]).well();
    let bytes = fs::read(out.join("artifacts.json")).unwrap();
    let artifacts = RunArtifacts::read(&bytes).unwrap();
    assert_eq!(artifacts.to_bytes().unwrap(), bytes, "nothing is lost");
    (artifacts, out)
}

/// The phases of a run in their order, as its records tell them.
fn phases(out: &Path) -> Vec<String> {
    let trace = fs::read_to_string(out.join("trace.jsonl")).unwrap();
    let records = trace.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut phases: Vec<String> = Vec::new();
    for record in records {
        let phase = record["precondition"]["phase"].as_str().or(record["body"]["phase"].as_str());
        let Some(phase) = phase else { continue };
        if phases.last().is_none_or(|last| last != phase) {
            phases.push(phase.to_owned());
        }
    }
    let last: Value = serde_json::from_str(trace.lines().last().unwrap()).unwrap();
    assert_eq!(last["kind"], "run.terminal", "nothing happens after the end");
    phases.push(last["body"]["phase"].as_str().unwrap().to_owned());
    phases
}

/// What was declared and went over its bound is told with the bound.
#[test]
fn an_output_that_is_not_kept_is_told_with_the_bound_that_it_went_over() {
    if !is_git_here("an_output_that_is_not_kept") {
        return;
    }
    let (project, _) = project_that_keeps(KEPT.replace("maxEntries: 2", "maxEntries: 1").as_str());
    assert_eq!(run(&project, "bounded", "the greeter says hello"), 0);
    let told = project.ambit(["gate", "show", "bounded", "unit"]).well().out;
    assert!(told.contains("refused  logs (too-many): more entries below it than 1\n"), "{told}");
    let told = project.ambit(["gate", "show", "bounded", "unit", "--json"]).well().json();
    assert_eq!(told["refusals"][0]["bound"], "more entries below it than 1", "{told}");
}

// proves E-S22 D3 E-S12
// break crates/control-plane/verify/src/readable.rs: `files.foreign(&format!("{name}/outputs"), &output.path, output.artifact);` -> `files.foreign(&format!("{name}/outputs"), &output.path, record.artifact);`
#[test]
fn gate_a_a_slice_without_code_goes_from_queued_to_completed_and_leaves_an_artifact_and_no_dirt() {
    if !is_git_here("gate_a_a_slice_without_code") {
        return;
    }
    let (project, host) = project();
    let before = Host::of(&host);
    assert_eq!(run(&project, "first", "the greeter says hello"), 0);
    let (made, out) = exported(&project, "first");
    before.assert_untouched(&host);
    assert_eq!(phases(&out), ["queued", "planning", "editing", "checking", "editing", "completed"]);
    assert_eq!((made.phase.as_str(), made.preview_ready), ("completed", true));
    assert_eq!(made.stop.as_ref().unwrap().code, "gates-passed");
    let [check] = &made.verification[..] else { panic!("{made:?}") };
    assert_eq!((check.verdict, check.exit, check.tree), (CheckVerdict::Passed, Some(0), made.head.tree));
    assert_eq!(check.command, ["sh", "check.sh"]);
    let report = format!("{}noted\n", crate::rig::GREET);
    assert_eq!(fs::read_to_string(out.join("gates/unit-1/outputs/report.txt")).unwrap(), report);
    let seen = fs::read(out.join("gates/unit-1/observation.json")).unwrap();
    let seen: Value = serde_json::from_slice(&seen).unwrap();
    let logs: Vec<&Value> = seen["outputs"].as_array().unwrap().iter().skip(1).collect();
    assert_eq!(logs.len(), 2, "the declared directory is kept file by file: {seen}");
    for (log, name) in logs.into_iter().zip(["first", "second"]) {
        assert_eq!(log["path"], format!("logs/{name}.txt"));
        let digest: Digest = log["artifact"].as_str().unwrap().parse().unwrap();
        let kept = fs::read(out.join(format!("gates/unit-1/outputs/logs/{name}.txt"))).unwrap();
        assert_eq!((Digest::of(&kept), kept), (digest, format!("{name}\n").into_bytes()));
    }
    assert!(!host.join("report.txt").exists() && !host.join("notes.txt").exists());

    // Again, it is the same.
    assert_eq!(run(&project, "again", "the greeter says hello"), 0);
    let (again, _) = exported(&project, "again");
    before.assert_untouched(&host);
    assert_eq!((again.head.tree, again.patch.digest), (made.head.tree, made.patch.digest));
    assert_eq!((again.base.clone(), again.touched.clone()), (made.base.clone(), made.touched.clone()));
    assert_ne!(again.run, made.run);
}

// proves E-S22 D3
// break crates/bins/ambit/src/verbs/run_view.rs: `StopReason::AgentStopped | StopReason::HiddenCheckFailed => exit::RUN_FAILED,` -> `StopReason::AgentStopped | StopReason::HiddenCheckFailed => exit::OK,`
#[test]
fn gate_a_a_slice_that_fails_says_so_and_leaves_no_dirt_either() {
    if !is_git_here("gate_a_a_slice_that_fails") {
        return;
    }
    let (project, host) = project();
    let before = Host::of(&host);
    assert_eq!(run(&project, "first", "nothing to note"), 3);
    let (made, out) = exported(&project, "first");
    before.assert_untouched(&host);
    assert_eq!(phases(&out).last().unwrap(), "failed");
    assert_eq!((made.phase.as_str(), made.preview_ready), ("failed", false));
    assert_eq!(made.stop.as_ref().unwrap().code, "agent-stopped");
    let [check] = &made.verification[..] else { panic!("{made:?}") };
    assert_eq!((check.verdict, check.exit), (CheckVerdict::Failed, Some(1)));
    let said = fs::read(out.join("gates/unit-1/stdout")).unwrap();
    assert_eq!(String::from_utf8_lossy(&said), "FAIL: notes: no word of hello\n");
    assert_eq!((check.stdout.digest, check.stdout.size_bytes.get()), (Digest::of(&said), said.len() as u64));
    assert!(!check.stdout.cut);
}
