//! Processes that are killed at every point of a run.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::observed::{count, kinds};
use crate::rig::{Answered, CHECK, FIX, GATE, PLAN, Project, patch, transcript};

/// A project whose gate takes its time, so that a process also dies while it runs.
fn slow() -> Project {
    let project = Project::new();
    project.write("app/check.sh", &format!("sleep 0.2\n{CHECK}"));
    project
}

/// An agent that proposes everything a second time, for the case that nobody knows what came of the first.
fn persistent() -> String {
    let again = "    - gate: unit\n      key: again\n";
    transcript(&format!("{PLAN}{}{}{GATE}{again}", patch(FIX, ""), patch(FIX, "")), "finish")
}

/// Starts a run and kills its process once it has told so many lines, if it gets that far.
fn killed_after(project: &Project, name: &str, lines: usize) -> (u32, Vec<String>) {
    let mut child = project
        .command(project.start_words(name, &persistent()))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let told: Vec<String> =
        BufReader::new(child.stderr.take().unwrap()).lines().take(lines).map(Result::unwrap).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    (child.id(), told)
}

/// Goes on with a run, by one verb or the other: at once, though the lease of the process that died has not run out.
fn gone_on(project: &Project, name: &str, by_start: bool) -> Answered {
    let file = format!("{name}.agent.yaml");
    let mut start = project.start_words(name, &persistent());
    start.push("--json".to_owned());
    let mut resume: Vec<String> =
        ["run", "resume", name, "--agent", &file, "--json"].map(str::to_owned).to_vec();
    if by_start {
        std::mem::swap(&mut start, &mut resume);
    }
    let answered = project.ambit(&resume);
    // The process died before there was a run.
    if answered.out.is_empty() && answered.code_of_failure() == "RUN_NOT_FOUND" {
        return project.ambit(start);
    }
    answered
}

/// Every effect that the trace tells of was decided once and seen once.
fn assert_nothing_twice(records: &[Value]) {
    let mut seen: BTreeSet<(String, u64)> = BTreeSet::new();
    for record in records {
        let (kind, body) = (record["kind"].as_str().unwrap(), &record["body"]);
        let of_a_turn = [
            "turn.opened",
            "budget.charged",
            "tool.decided",
            "tool.effect",
            "patch.applied",
            "gate.finished",
        ];
        if of_a_turn.contains(&kind) {
            assert!(seen.insert((kind.to_owned(), body["turn"].as_u64().unwrap())), "twice: {record}");
        }
    }
    assert!(count(records, "patch.applied") <= 1, "the patch has one effect: {:?}", kinds(records));
    for kind in ["run.admitted", "run.stopping", "run.terminal"] {
        assert_eq!(count(records, kind), 1, "{kind}: {:?}", kinds(records));
    }
}

/// The control groups below `/sys/fs/cgroup` that a process of this program made.
fn groups_of(pids: &BTreeSet<u32>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let name = entry.file_name().into_string().unwrap_or_default();
                let owner = name.strip_prefix("ambit-").and_then(|rest| rest.split('-').next()?.parse().ok());
                if owner.is_some_and(|pid| pids.contains(&pid)) {
                    found.push(entry.path());
                }
                open.push(entry.path());
            }
        }
    }
    found
}

/// The sandboxes that a home holds on disk.
fn leases(home: &Path) -> BTreeSet<String> {
    let read = fs::read_dir(home.join("sandboxes/leases")).unwrap();
    read.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

// proves E-P06
// break crates/bins/ambit/src/verbs/run.rs: `if matches!(state, State::Ended(_)) && project.closed(&run.run).is_some() {` -> `if matches!(state, State::Ended(_)) {`
#[test]
fn a_run_whose_process_is_killed_at_any_point_goes_on_to_the_same_end() {
    let project = slow();
    let whole = project.ambit(project.start_words("whole", &persistent())).well();
    let told: Vec<&str> = whole.err.lines().collect();
    assert!(told.len() > 12, "{told:?}");

    let mut pids = BTreeSet::new();
    for lines in 0..told.len() {
        let (pid, heard) = killed_after(&project, &format!("k{lines}"), lines);
        assert_eq!(heard.len(), lines, "the run told less than the whole one: {heard:?}");
        pids.insert(pid);
    }
    for lines in 0..told.len() {
        let name = format!("k{lines}");
        let ended = gone_on(&project, &name, lines % 2 == 0);
        assert_eq!(
            ended.code,
            0,
            "killed after {:?}: {ended:?}",
            lines.checked_sub(1).map(|last| told[last])
        );
        assert_eq!(ended.json()["previewReady"], true);
        assert_nothing_twice(&project.records(&name));
        let report = project.ambit(["trace", "verify", &name]);
        assert_eq!(report.code, 0, "killed after {lines} lines: {}", report.out);
        project.ambit(["revision", "eligible", ended.json()["revision"].as_str().unwrap()]).well();
    }
    assert_eq!(groups_of(&pids), Vec::<PathBuf>::new(), "control groups are left");
    let runs = project.ambit(["run", "list", "--json"]).well().json();
    for run in runs["runs"].as_array().unwrap() {
        let left = leases(project.home());
        let run = run["run"].as_str().unwrap();
        assert!(!left.iter().any(|lease| lease.contains(run)), "{run}: {left:?}");
    }
    project.ambit(["trace", "verify"]).well();
}
