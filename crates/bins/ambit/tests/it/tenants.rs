//! What another tenant is told.

use crate::rig::{Answered, Project, diligent};

const NEVER: &str = "run_00000000000000000000000000";

fn seen(answered: &Answered, id: &str, name: &str) -> (i32, String, String) {
    let blind = |text: &str| text.replace(id, "ID").replace(name, "NAME");
    (answered.code, blind(&answered.out), blind(&answered.err))
}

// proves E-A10
// break crates/bins/ambit/src/context.rs: `if !known.contains(&run) {` -> `if named.ends_with("00000000") {`
#[test]
fn ids_of_others_are_answered_like_ids_of_nobody() {
    let project = Project::new();
    project.start("mine", &diligent("finish")).well();
    let real = project.show("mine")["run"].as_str().unwrap().to_owned();
    let verbs: [&[&str]; 7] = [
        &["run", "show"],
        &["run", "watch"],
        &["run", "cancel"],
        &["trace", "show"],
        &["trace", "verify"],
        &["run", "export", "--out", "nowhere"],
        &["run", "revise", "wish", "--case", "AC-1"],
    ];
    for (org, name) in [("intruder", project.name.clone()), ("acme", format!("{}-other", project.name))] {
        for json in [false, true] {
            for verb in verbs {
                let ask = |id: &str| {
                    let mut words: Vec<&str> = verb.to_vec();
                    words.insert(2, id);
                    words.extend(["--org", org, "--project", &name]);
                    if json {
                        words.push("--json");
                    }
                    project.ambit(words)
                };
                let (other, nobody) = (ask(&real), ask(NEVER));
                assert_eq!(other.code, 11, "{verb:?}: {other:?}");
                assert_eq!(seen(&other, &real, "mine"), seen(&nobody, NEVER, "none"), "{verb:?}");
                let (other, nobody) = (ask("mine"), ask("none"));
                assert_eq!(other.code, 11, "{verb:?}: {other:?}");
                assert_eq!(seen(&other, &real, "mine"), seen(&nobody, NEVER, "none"), "{verb:?}");
            }
        }
        let elsewhere = |words: &[&str]| {
            project.ambit(words.iter().copied().chain(["--org", org, "--project", &name])).out
        };
        assert_eq!(elsewhere(&["run", "list"]), "no run yet\n");
        assert_eq!(elsewhere(&["trace", "list"]), "nothing has happened in this project yet\n");
        assert!(elsewhere(&["revision", "log"]).starts_with("no revision yet"));
    }
    assert_eq!(project.show(&real)["phase"], "completed", "its owner sees it");
}
