//! What people see of runs, revisions, evidence and contracts.

use serde_json::Value;

use crate::rig::{Answered, GATE, PLAN, Project, diligent, patch, transcript};
use crate::stable::stable;

/// A patch that does not make the gate pass.
const WRONG: &str =
    "--- a/greet.sh\n+++ b/greet.sh\n@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo hello\n+echo \"hello, $1\"\n";
/// The patch that mends it.
const MEND: &str =
    "--- a/greet.sh\n+++ b/greet.sh\n@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo \"hello, $1\"\n+echo \"hello $1\"\n";

/// A project with a run that fails a gate, is refused a read, explains itself, and completes.
fn told() -> Project {
    let project = Project::new();
    let foreign = "    - say: { tool: read_project_file, input: { projectId: payroll, revisionId: \"${revision}\", path: a } }\n";
    let turns =
        [PLAN, foreign, &patch(WRONG, ""), GATE, &patch(MEND, "hypothesis: The comma is not wanted,"), GATE]
            .concat();
    project.start("told", &transcript(&turns, "finish")).well();
    project
}

// proves E-B01 E-B04 E-B06
// break crates/bins/ambit/src/text.rs: `page.push_str(calls);` -> `let _ = calls;`
// break crates/bins/ambit/src/text.rs: `"\n{} is preview-ready. That is not validated, not deployed and not safe for live users.",` -> `"\n{} is ready.",`
#[test]
fn a_run_that_ended_can_be_seen_whole() {
    let project = told();
    let show = project.ambit(["run", "show", "told"]).well();
    insta::assert_snapshot!("run_show", stable(&show.out));
    insta::assert_snapshot!("run_list", stable(&project.ambit(["run", "list"]).well().out));
    let watch = project.ambit(["run", "watch", "told"]).well();
    insta::assert_snapshot!("run_watch", stable(&watch.err));
    insta::assert_snapshot!("gate_show", stable(&project.ambit(["gate", "show", "told", "unit"]).well().out));
    let first = project.ambit(["gate", "show", "told", "unit", "--attempt", "1"]).well();
    insta::assert_snapshot!("gate_show_failed", stable(&first.out));

    let seen = project.ambit(["run", "show", "told", "--json"]).well().json();
    assert_eq!(seen["completion"]["claim"], "preview-ready");
    assert_eq!(seen["completion"]["not"], "not validated, not deployed, not safe for live users");
    assert_eq!(seen["stopReason"], "gates-passed");
    assert_eq!(seen["patches"].as_array().unwrap().len(), 2);
    let calls = seen["calls"].as_array().unwrap();
    let outcomes: Vec<&str> = calls.iter().map(|call| call["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["denied", "allowed", "allowed", "allowed", "allowed"]);
    assert!(calls[0]["observed"].is_null() && calls[4]["observed"].is_string());
    for part in ["plan", "changedFiles", "gates", "remainingBudget"] {
        assert!(!seen[part].as_array().unwrap().is_empty(), "{part}");
    }
}

// proves E-B01 E-B03
// break crates/control-plane/orchestrator/src/view.rs: `Stage::Agent(turn) => ("agent", format!("turn {}", turn.turn)),` -> `Stage::Agent(_) => none,`
#[test]
fn a_run_can_be_seen_and_ended_while_it_goes_on() {
    let project = Project::new();
    let turns = format!("{PLAN}{}", patch(WRONG, ""));
    let mut driving = project.spawn(project.start_words("quiet", &transcript(&turns, "silence")));
    let seen =
        project.until("quiet", |run| run["phase"] == "editing" && run["changedFiles"][0] == "greet.sh");
    assert_eq!(seen["awaiting"], "agent", "{seen}");
    assert!(seen["lastObservation"].as_str().unwrap().starts_with("patched 1 files"), "{seen}");
    assert!(seen["completion"].is_null() && seen["stopReason"].is_null());
    let watching = project
        .command(["run", "watch", "quiet", "--json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn();
    project.ambit(["run", "cancel", "quiet"]).well();
    assert_eq!(driving.wait().unwrap().code(), Some(7));
    let watched = watching.unwrap().wait_with_output().unwrap();
    assert_eq!(watched.status.code(), Some(7), "who watches is told how it ended");
    let last = watched.stdout.trim_ascii_end().split(|byte| *byte == b'\n').next_back().unwrap();
    let watched: Value = serde_json::from_slice(last).unwrap();
    assert_eq!(
        (&watched["phase"], &watched["stopReason"]),
        (&"cancelled".into(), &"customer-cancelled".into())
    );
}

// proves E-M06
// break crates/domain/blueprint/src/policy_set.rs: `retention: find(PolicySubject::Retention, &refs.retention)?,` -> `retention: find(PolicySubject::Egress, &refs.network)?,`
#[test]
fn what_a_run_is_pinned_to_is_exported_with_it() {
    let project = Project::new();
    project.start("first", &diligent("finish")).well();
    let out = project.path("bundle");
    project.ambit(["run", "export", "first", "--out", out.to_str().unwrap()]).well();
    let read =
        |name: &str| -> Value { serde_json::from_slice(&std::fs::read(out.join(name)).unwrap()).unwrap() };
    let profile = read("documents/profile.json");
    assert_eq!(profile["spec"]["policyRefs"]["retention"], "policy://run-evidence-retention/v2");
    let set = read("documents/policy-set.json").to_string();
    assert!(set.contains("policy://run-evidence-retention/v2"), "{set}");
    for part in [
        "revision/greet.sh",
        "patches/01.patch",
        "gates/unit-1/stdout",
        "cleanup/destruction.json",
        "trace.jsonl",
    ] {
        assert!(out.join(part).exists(), "{part}");
    }
    assert!(read("sandbox-manifest.json")[0]["evidenceProbes"].is_array());
}

#[test]
fn revisions_and_their_evidence_can_be_seen() {
    let project = told();
    for (name, words) in [
        ("revision_log", &["revision", "log"][..]),
        ("revision_show", &["revision", "show", "rev-1"]),
        ("revision_diff", &["revision", "diff", "rev-0", "rev-1"]),
        ("revision_diff_none", &["revision", "diff", "rev-1", "rev-1"]),
        ("revision_eligible", &["revision", "eligible", "rev-1"]),
        ("trace_list", &["trace", "list"]),
        ("trace_denials", &["trace", "list", "--denials"]),
        ("trace_show", &["trace", "show", "told"]),
        ("trace_verify", &["trace", "verify"]),
        ("blueprint_show", &["blueprint", "show", "greeter"]),
        ("catalog_list", &["catalog", "list"]),
        ("catalog_show", &["catalog", "show", "unit"]),
        ("tools_list", &["tools", "list"]),
    ] {
        let answered = project.ambit(words).well();
        assert_eq!(answered.err, "", "{name}");
        insta::assert_snapshot!(name, stable(&answered.out));
    }
    let refused = project.ambit(["revision", "eligible", "rev-0"]);
    assert_eq!(refused.code, 10);
    insta::assert_snapshot!("revision_ineligible", stable(&refused.out));
}

/// Every verb that only looks, on a project with a run.
const LOOKS: [&[&str]; 19] = [
    &["run", "list"],
    &["run", "show", "first"],
    &["run", "watch", "first"],
    &["gate", "show", "first", "unit"],
    &["revision", "log"],
    &["revision", "show", "rev-1"],
    &["revision", "diff", "rev-0", "rev-1"],
    &["revision", "eligible", "rev-1"],
    &["trace", "list"],
    &["trace", "list", "--denials"],
    &["trace", "show", "first"],
    &["trace", "verify", "first"],
    &["tools", "list"],
    &["catalog", "list"],
    &["catalog", "show", "unit"],
    &["image", "list"],
    &["backend", "inspect"],
    &["doctor"],
    &["blueprint", "show", "greeter"],
];

#[test]
fn an_answer_in_json_is_one_value_and_nothing_else() {
    let project = Project::new();
    let mut words = project.start_words("first", &diligent("finish"));
    words.push("--json".to_owned());
    let started = project.ambit(&words).well();
    assert_eq!(started.json()["phase"], "completed");
    assert!(started.err.contains("allowed    gate unit"), "progress is told aside: {}", started.err);
    words.push("--quiet".to_owned());
    assert_eq!(project.ambit(&words).well().err, "", "and not at all where it is not wanted");
    for words in LOOKS {
        let answered = project.ambit(words.iter().chain(&["--json"])).well();
        assert!(answered.json().is_object() || answered.json().is_array(), "{words:?}");
        let text = project.ambit(words).well();
        assert!(serde_json::from_str::<Value>(&text.out).is_err() && !text.out.is_empty(), "{words:?}");
        assert!(text.out.ends_with('\n') && !text.out.ends_with("\n\n"), "{words:?}");
        assert!(
            !text.out.lines().any(|line| line.ends_with(' ') && line.len() > 1),
            "{words:?}: {}",
            text.out
        );
    }
    let failed = project.ambit(["run", "show", "nothing", "--json"]);
    assert_eq!((failed.code, failed.out.as_str()), (11, ""));
    let error: Value = serde_json::from_str(&failed.err).unwrap();
    assert_eq!(error["error"]["code"], "RUN_NOT_FOUND");
}

#[test]
fn a_narrow_terminal_gets_rows_that_fit_it() {
    let project = told();
    let wide = |text: &str, columns: usize| -> Vec<String> {
        text.lines().filter(|line| line.chars().count() > columns).map(str::to_owned).collect()
    };
    for columns in [80, 120] {
        for words in LOOKS.iter().filter(|words| !words.starts_with(&["revision", "diff"])) {
            let words: Vec<&str> =
                words.iter().map(|word| if *word == "first" { "told" } else { word }).collect();
            let shown = project.command(&words).env("COLUMNS", columns.to_string()).output().unwrap();
            let answered = Answered::of(shown).well();
            // A command to be copied and a digest stay whole.
            let told = answered.out.clone() + &answered.err;
            let over: Vec<String> = wide(&told, columns)
                .into_iter()
                .filter(|line| !line.contains("  ambit ") && line.split_whitespace().count() > 1)
                .collect();
            assert_eq!(over, Vec::<String>::new(), "{words:?}");
            let plain = project.ambit(&words).well();
            let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            if !matches!(words[0], "backend" | "doctor") && !words.starts_with(&["run", "show"]) {
                assert_eq!(squeezed(&answered.out), squeezed(&plain.out), "{words:?}");
            }
        }
    }
    let narrow = |words: &[&str]| {
        let mut command = project.command(words);
        Answered::of(command.env("COLUMNS", "80").output().unwrap()).well().out
    };
    insta::assert_snapshot!("trace_denials_80", stable(&narrow(&["trace", "list", "--denials"])));
    insta::assert_snapshot!("trace_verify_80", stable(&narrow(&["trace", "verify", "told"])));
    assert!(!wide(&project.ambit(["trace", "verify"]).well().out, 120).is_empty(), "a file is not folded");
}

#[test]
fn nothing_that_a_program_prints_is_obeyed_by_a_terminal() {
    let project = Project::empty();
    project.write("app/check.sh", "printf '\\033[2J\\033]0;owned\\007 seen \\342\\200\\256'\nexit 0\n");
    project.approve_as_ada();
    project.start("loud", &transcript(&format!("{PLAN}{GATE}"), "finish"));
    let shown = project.ambit(["gate", "show", "loud", "unit"]).well();
    assert!(shown.out.contains("seen"), "{}", shown.out);
    for obeyed in ['\u{1b}', '\u{7}', '\u{202e}'] {
        assert!(!shown.out.contains(obeyed), "{:?}", shown.out);
    }
}
