//! Evidence bundles of real runs, however they ended: exported, carried away, and verified without the home.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::rig::{Answered, FIX, PLAN, Project, diligent, patch, transcript};

/// The verb in an environment that knows no home and no project.
fn verify(project: &Project, bundle: &str) -> Answered {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ambit"));
    command.env_clear().env("HOME", "/nonexistent").stdin(Stdio::null()).current_dir(project.dir.path());
    command.args(["verify", bundle, "--trust-root", "root.json", "--json"]);
    Answered::of(command.output().unwrap())
}

/// Exports a run twice, holds all four forms to one another, and answers the report.
fn exported(project: &Project, run: &str) -> Value {
    let (dir, tar) = (format!("{run}-bundle"), format!("{run}.tar"));
    let told = project.ambit(["run", "export", run, "--out", &dir, "--tar", &tar, "--json"]).well().json();
    assert_eq!(told["verdict"], "proved", "{told}");
    let again = [format!("{run}-again"), format!("{run}-again.tar")];
    project.ambit(["run", "export", run, "--out", &again[0], "--tar", &again[1]]).well();
    let bytes = |name: &str| fs::read(project.path(name)).unwrap();
    assert!(bytes(&tar) == bytes(&again[1]), "the same run makes the same tar");
    fs::copy(project.path(&dir).join("trust-root.json"), project.path("root.json")).unwrap();
    let report = verify(project, &dir).well().json();
    assert_eq!(verify(project, &tar).well().json(), report);
    let own = ambit_verify::verify(&project.path(&tar), &project.path("root.json")).unwrap();
    assert_eq!(serde_json::to_value(&own).unwrap(), report, "the small program says the same");
    assert_eq!(report["report"]["verdict"], "proved");
    assert_eq!(report["notCovered"], serde_json::json!(["run.json", "trust-root.json"]));
    report
}

fn standing(report: &Value) -> (&str, bool) {
    let eligibility = &report["eligibility"];
    (eligibility["standing"].as_str().unwrap(), eligibility["missing"].is_null())
}

// proves E-A14 E-A15 E-M02 E-M07
// break crates/bins/ambit-verify/src/export.rs: `for digest in read {` -> `for digest in read.into_iter().skip(1) {`
#[test]
fn a_bundle_proves_a_run_that_completed_was_denied_or_was_cancelled_without_its_home() {
    let project = Project::new();
    project.start("completed", &diligent("finish")).well();
    let report = exported(&project, "completed");
    assert_eq!(standing(&report), ("eligible", true), "{report}");
    let tree = project.tree("rev-1");
    assert_eq!(report["eligibility"]["tree"], tree.as_str());
    for part in ["revision/greet.sh", "sandbox-manifest.json", "patches/01.patch", "gates/unit-1/stdout"] {
        assert!(project.path("completed-bundle").join(part).is_file(), "{part}");
    }
    assert!(project.path("completed-bundle/cleanup/destruction.json").is_file());

    let oracle = "--- a/check.sh\n+++ b/check.sh\n@@ -1 +1 @@\n-said=$(sh greet.sh ada) || exit 1\n+exit 0\n";
    let denied = project.start("denied", &transcript(&format!("{PLAN}{}", patch(oracle, "")), "finish"));
    assert_ne!(denied.code, 0);
    let report = exported(&project, "denied");
    assert_eq!(standing(&report), ("ineligible", false), "{report}");

    let turns = format!("{PLAN}{}", patch(FIX, ""));
    let mut driving = project.spawn(project.start_words("cancelled", &transcript(&turns, "silence")));
    project.until("cancelled", |run| run["changedFiles"][0] == "greet.sh");
    project.ambit(["run", "cancel", "cancelled"]).well();
    assert_eq!(driving.wait().unwrap().code(), Some(7));
    let report = exported(&project, "cancelled");
    assert_eq!(standing(&report), ("ineligible", false), "{report}");
}

// proves E-M02
// break crates/bins/ambit-verify/src/verify.rs: `let keys = trust_root::read(root)?;` -> `let keys = trust_root::read(&bundle.join("trust-root.json"))?;`
#[test]
fn keys_are_those_of_the_flag_and_never_those_of_the_bundle() {
    let project = Project::new();
    project.start("first", &diligent("finish")).well();
    exported(&project, "first");
    let root = fs::read_to_string(project.path("root.json")).unwrap();
    let at = root.find("\"publicKey\":\"").unwrap() + 13;
    let other = if root.as_bytes()[at] == b'0' { "1" } else { "0" };
    project.write("root.json", &format!("{}{other}{}", &root[..at], &root[at + 1..]));
    let judged = verify(&project, "first-bundle");
    assert_eq!(judged.code, 10, "{judged:?}");
    project.write("root.json", &root);
    verify(&project, "first-bundle").well();
}

#[test]
fn a_run_that_is_not_over_is_exported_and_cannot_be_verified() {
    let project = Project::new();
    let mut driving = project.spawn(project.start_words("open", &transcript(PLAN, "silence")));
    project.until("open", |run| run["phase"] == "editing");
    let told = project.ambit(["run", "export", "open", "--out", "open-bundle", "--json"]).well().json();
    assert_eq!(told["verdict"], "could-not-verify", "{told}");
    fs::copy(project.path("open-bundle/trust-root.json"), project.path("root.json")).unwrap();
    assert_eq!(verify(&project, "open-bundle").code, 12);
    project.ambit(["run", "cancel", "open"]).well();
    driving.wait().unwrap();
}

/// The commands of a block of the page, in order.
fn commands(page: &str) -> Vec<&str> {
    let blocks = page.split("```").skip(1).step_by(2);
    blocks
        .flat_map(str::lines)
        .filter(|line| ["ambit ", "cp ", "sha256sum "].iter().any(|word| line.starts_with(word)))
        .collect()
}

#[test]
fn the_page_for_strangers_works_as_it_is_written() {
    let page = include_str!("../../../../../docs/verify.md");
    let project = Project::new();
    project.start("first", &diligent("finish")).well();
    let commands = commands(page);
    assert!(commands.len() >= 4, "{commands:?}");
    for line in commands {
        let bin = Path::new(env!("CARGO_BIN_EXE_ambit")).parent().unwrap();
        let mut sh = project.command(Vec::<String>::new());
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.arg("-ec").arg(line).current_dir(project.dir.path()).env("PATH", path);
        shell.envs(
            sh.stdin(Stdio::null())
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?)))
                .filter(|(name, _)| *name != "PATH"),
        );
        let output = Answered::of(shell.output().unwrap());
        assert_eq!(output.code, 0, "{line}: {output:?}");
    }
}
