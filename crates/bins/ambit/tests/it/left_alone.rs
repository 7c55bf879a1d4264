//! Runs whose process is gone.

use std::process::Child;
use std::time::{Duration, Instant};

use crate::rig::{Answered, DEPENDENCY, FIX, PLAN, Project, patch, transcript};
use crate::stable::stable;

impl Project {
    /// The sandboxes of a run that the home holds on disk.
    pub(crate) fn sandboxes_of(&self, run: &str) -> Vec<String> {
        let id = self.show(run)["run"].as_str().unwrap().to_owned();
        let read = std::fs::read_dir(self.home().join("sandboxes/leases")).unwrap();
        let names = read.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.contains(&id)).collect()
    }

    /// A run whose agent says nothing more after its patch, and the process that drives it.
    pub(crate) fn silent(&self, run: &str) -> Child {
        let turns = format!("{PLAN}{}", patch(FIX, ""));
        let driving = self.spawn(self.start_words(run, &transcript(&turns, "silence")));
        let seen = self.until(run, |run| run["changedFiles"][0] == "greet.sh");
        assert_eq!(seen["driver"], "process");
        driving
    }
}

pub(crate) fn kill(mut driving: Child) {
    driving.kill().unwrap();
    driving.wait().unwrap();
}

/// The end of a page, from what it says of who drives the run.
fn last_words(answered: &Answered) -> String {
    let from = answered.out.find("nobody drives").unwrap_or_else(|| panic!("{answered:?}"));
    stable(&answered.out[from..])
}

// proves E-P06
// break crates/bins/ambit/src/verbs/run_view.rs: `Some(Driver::Gone) => true,` -> `Some(Driver::Gone) => false,`
#[test]
fn who_looks_at_a_run_is_told_that_its_process_is_gone_and_can_end_it_at_once() {
    let project = Project::new();
    // What is left of the lease of a process that is gone is most of ten seconds. On a busy machine a look alone may take as
    // long, and not every time.
    let mut took = Vec::new();
    let is_short = |took: &Duration| *took < Duration::from_secs(6);
    for run in ["dead", "dead-too", "dead-last"] {
        took.push(watch_and_cancel(&project, run));
        if took.last().is_some_and(is_short) {
            return;
        }
    }
    panic!("it waited until the lease ran out: {took:?}");
}

/// Kills what drives a run, looks and ends it; answers how long the longer of the two took.
fn watch_and_cancel(project: &Project, run: &str) -> Duration {
    let driving = project.silent(run);
    let watching = project.command(["run", "watch", run]).stdout(std::process::Stdio::piped()).spawn();
    kill(driving);
    let began = Instant::now();
    let watched = Answered::of(watching.unwrap().wait_with_output().unwrap());
    let looked = began.elapsed();
    assert_eq!(watched.code, 1, "{watched:?}");
    let told = format!(
        "nobody drives this run now: the process that drove it is gone\n\
         next         ambit run resume {run} --agent FILE   goes on with it, by the same agent\n             \
         ambit run cancel {run}   ends it\n"
    );
    assert_eq!(last_words(&watched), told);
    assert_eq!(last_words(&project.ambit(["run", "show", run]).well()), told);
    assert_eq!(project.show(run)["driver"], "gone");
    let began = Instant::now();
    project.ambit(["run", "cancel", run]).well();
    let cancelled = began.elapsed();
    let ended = project.show(run);
    assert_eq!((&ended["phase"], ended.get("driver")), (&"cancelled".into(), Some(&serde_json::Value::Null)));
    assert_eq!(project.sandboxes_of(run), Vec::<String>::new());
    looked.max(cancelled)
}

#[test]
fn while_a_process_drives_a_run_nobody_else_can_and_nobody_is_told_that_it_is_gone() {
    let project = Project::new();
    let driving = project.silent("held");
    let refused = project.ambit(["run", "resume", "held", "--agent", "held.agent.yaml", "--json"]);
    assert_eq!((refused.code, refused.code_of_failure().as_str()), (1, "RUN_HELD"));
    let shown = project.ambit(["run", "show", "held"]).well();
    assert!(!shown.out.contains("nobody drives"), "{}", shown.out);
    kill(driving);
}

#[test]
fn a_command_that_is_told_for_copying_acts_on_the_project_that_it_was_told_of() {
    let project = Project::new();
    let ask = "    - say: { tool: request_scoped_approval, input: { proposalId: \"${proposal}\", capability: \
               dependency.add, reason: Greeting needs it } }\n";
    let turns = format!("{PLAN}{}{ask}", patch(DEPENDENCY, ""));
    let bare = |words: &[&str]| {
        let mut command = project.command(words);
        Answered::of(command.env_remove("AMBIT_ORG").env_remove("AMBIT_PROJECT").output().unwrap())
    };
    let words = project.start_words("asks", &transcript(&turns, "finish"));
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.extend(["--no-input", "--org", "acme", "--project", &project.name]);
    let left = bare(&words);
    assert_eq!(left.code, 6, "{left:?}");
    let ambit = format!("ambit --org acme --project {}", project.name);
    assert!(left.err.contains(&format!("{ambit} run show run_")), "{}", left.err);
    let told = ["approve prop_", "deny prop_", "run resume asks", "run cancel asks"];
    for told in told {
        assert!(left.out.contains(&format!("  {ambit} {told}")), "{told}: {}", left.out);
    }
    let here = project.ambit(["run", "show", "asks"]).well().out;
    for told in told {
        assert!(here.contains(&format!("  ambit {told}")), "{told}: {here}");
    }
    let cancel = format!("{ambit} run cancel asks");
    let ended = bare(&cancel.split(' ').skip(1).collect::<Vec<_>>()).well();
    assert!(ended.out.contains(&format!("next         {ambit} run show asks")), "{}", ended.out);
}
