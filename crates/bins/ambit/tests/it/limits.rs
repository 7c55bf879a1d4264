//! Limits, and the exit codes of the ways in which runs end.

use crate::rig::{GATE, PLAN, Project, diligent, patch, transcript};

// proves C10 E-A06
// break crates/domain/run/src/derive.rs: `.min(&circumstances.ceilings)` -> `.min(&ambit_blueprint::BudgetCeilings::default())`
#[test]
fn the_least_of_command_blueprint_and_profile_is_in_force() {
    let project = Project::new();
    let limits = |name: &str, more: &[&str]| {
        let mut words = project.start_words(name, &diligent("finish"));
        words.extend(more.iter().map(|word| (*word).to_owned()));
        project.ambit(&words).well();
        let seen = project.show(name);
        let limit = |name: &str| {
            let all = seen["remainingBudget"].as_array().unwrap();
            all.iter().find(|limit| limit["limit"] == name).unwrap()["of"].as_u64().unwrap()
        };
        (limit("maxModelSteps"), limit("maxToolCostUsd"))
    };
    assert_eq!(limits("none", &[]), (12, 1_000_000), "the blueprint's");
    assert_eq!(
        limits("less", &["--max-steps", "5", "--max-cost-usd", "0.50"]),
        (5, 500_000),
        "the command's"
    );
    assert_eq!(limits("more", &["--max-steps", "50", "--max-cost-usd", "50"]), (12, 1_000_000), "never more");
    for wrong in
        [["--max-steps", "0"], ["--max-steps", "101"], ["--max-cost-usd", "0"], ["--max-cost-usd", "100.01"]]
    {
        let mut words = project.start_words("wrong", &diligent("finish"));
        words.extend(wrong.map(str::to_owned));
        let refused = project.ambit(&words);
        assert_eq!(refused.code, 2, "{refused:?}");
    }
    assert_eq!(project.ambit(["run", "show", "wrong"]).code, 11, "nothing was started");
}

// proves E-D13
// break crates/bins/ambit/src/verbs/run_view.rs: `StopReason::BudgetExhausted(_) => exit::BUDGET,` -> `StopReason::BudgetExhausted(_) => exit::OK,`
#[test]
fn every_way_to_end_has_its_exit_code() {
    let project = Project::new();
    let stopped = project.start("idle", &transcript(PLAN, "finish"));
    assert_eq!(stopped.code, 3, "{stopped:?}");
    let mut words = project.start_words("short", &diligent("finish"));
    words.extend(["--max-steps", "2"].map(str::to_owned));
    let short = project.ambit(&words);
    assert_eq!(short.code, 5, "{short:?}");
    let shown = project.show("short");
    assert_eq!((&shown["phase"], &shown["stopReason"]), (&"failed".into(), &"budget (maxModelSteps)".into()));
    assert_eq!(shown["gates"][0]["attempts"].to_string(), "[]", "the turn over the limit had no effect");

    let unknown = project.ambit([
        "run",
        "start",
        "--blueprint",
        "unknown",
        "--base",
        "app",
        "--agent",
        "idle.agent.yaml",
    ]);
    assert_eq!(unknown.code, 11, "{unknown:?}");
    let mut words = project.start_words("host", &diligent("finish"));
    *words.last_mut().unwrap() = "danger-full-access".to_owned();
    let host = project.ambit(&words);
    assert!(host.code == 11 && host.err.contains("PROFILE_UNKNOWN"), "{host:?}");
    assert_eq!(project.ambit(["run", "fly"]).code, 2);
    assert_eq!(project.ambit(["run", "show", "nothing"]).code, 11);
    assert_eq!(project.ambit(["--version"]).code, 0);
}

// proves E-C09
// break crates/bins/ambit/src/verbs/run_view.rs: `StopReason::PolicyDenied(_) => exit::DENIED,` -> `StopReason::PolicyDenied(_) => exit::OK,`
#[test]
fn a_denial_that_ends_the_run_says_so() {
    let project = Project::new();
    let weaken = "--- a/check.sh\n+++ b/check.sh\n@@ -1,2 +1 @@\n-said=$(sh greet.sh ada) || exit 1\n-[ \"$said\" = 'hello ada' ] || { echo \"FAIL: greet: got $said\"; exit 1; }\n+exit 0\n";
    let ended =
        project.start("weakens", &transcript(&format!("{PLAN}{}{GATE}", patch(weaken, "")), "finish"));
    assert_eq!(ended.code, 4, "{ended:?}");
    let seen = project.show("weakens");
    assert_eq!(seen["changedFiles"].to_string(), "[]", "{seen}");
}

/// The code of a run that a signal ended.
fn ended_by(signal: &str) -> (i32, String) {
    let project = Project::new();
    let words = project.start_words("cut", &transcript(PLAN, "silence"));
    let mut driving = project.spawn(words);
    project.until("cut", |run| run["plan"][0]["id"] == "s1");
    let killed =
        std::process::Command::new("kill").args([signal, &driving.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let code = driving.wait().unwrap().code().unwrap_or(-1);
    project.ambit(["trace", "verify", "cut"]).well();
    (code, project.show("cut")["phase"].as_str().unwrap().to_owned())
}

#[test]
fn a_signal_cancels_the_run_before_the_program_ends() {
    assert_eq!(ended_by("-INT"), (130, "cancelled".to_owned()));
    assert_eq!(ended_by("-TERM"), (143, "cancelled".to_owned()));
}
