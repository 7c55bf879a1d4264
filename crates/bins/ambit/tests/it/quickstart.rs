//! The commands of the quickstart, as they stand there, and what it says that they answer.

use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use ambit_model_server::{ModelServer, Script, Turn};
use serde_json::json;
use tempfile::TempDir;

const PAGE: &str = include_str!("../../../../../docs/quickstart.md");
/// What a page may leave out of an output.
const ANYTHING: char = '…';

/// The command blocks, each with what the page shows of its output.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for block in PAGE.split("```").skip(1).step_by(2) {
        match block.split_once('\n').unwrap() {
            ("sh", commands) => found.push((commands, "")),
            ("text", output) => found.last_mut().unwrap().1 = output,
            ("console", install) => assert!(install.contains("cargo build --release"), "{install}"),
            (other, _) => panic!("a block of {other:?}"),
        }
    }
    found
}

/// Whether a line is as the page shows it.
fn is_shown(line: &str, shown: &str) -> bool {
    let mut parts = shown.split(ANYTHING);
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// Holds an output against what the page shows: line for line, and anything where a line is only `…`.
#[track_caller]
fn assert_shown(commands: &str, output: &str, page: &str) {
    let mut lines = output.lines().map(str::trim_end);
    let mut may_skip = false;
    for shown in page.lines() {
        if shown == ANYTHING.to_string() {
            may_skip = true;
            continue;
        }
        let is_there = match may_skip {
            true => lines.any(|line| is_shown(line, shown)),
            false => lines.next().is_some_and(|line| is_shown(line, shown)),
        };
        assert!(is_there, "{commands}\nthe page shows: {shown}\nthe output is:\n{output}");
        may_skip = false;
    }
    assert!(page.is_empty() || may_skip || lines.next().is_none(), "{commands}\nthere is more:\n{output}");
}

fn script() -> Script {
    let plan =
        json!({"steps": [{"id": "s1", "summary": "Greet", "work": "source", "cases": ["AC-1", "AC-2"]}]});
    let change = |old: &str, new: &str, around: [&str; 2]| {
        let [before, after] = around;
        let patch =
            format!("--- a/greeting.py\n+++ b/greeting.py\n@@ -1,2 +1,2 @@\n{before}-{old}\n+{new}\n{after}");
        json!({"step": "s1", "patch": patch, "hypothesis": "A name is misspelt."})
    };
    let gate = |id: &str| Turn::call("run_named_gate", json!({"gateId": id}));
    let mut wish =
        change("def greet(name):", "def greet(name=\"world\"):", ["", "     return \"Hello, \" + name\n"]);
    wish.as_object_mut().unwrap().remove("hypothesis");
    Script::of([
        Turn::call("read_project_file", json!({"path": "greeting.py"})),
        Turn::call("propose_plan", plan.clone()),
        gate("python.syntax"),
        gate("python.tests"),
        Turn::call(
            "apply_project_patch",
            change(
                "    return \"Hello, \" + nmae",
                "    return \"Hello, \" + name",
                [" def greet(name):\n", ""],
            ),
        )
        .when("NameError"),
        gate("python.syntax"),
        gate("python.tests"),
        Turn::call("propose_plan", plan).when("Whoever gives no name is the world"),
        Turn::call("apply_project_patch", wish),
        gate("python.syntax"),
        gate("python.tests"),
    ])
}

#[test]
fn the_quickstart_works_as_it_is_written() {
    if !crate::rig::meets_secure_generation() {
        println!("skipped: PROFILE_NOT_MET the outputs of the quickstart are those of the strictest profile");
        return;
    }
    let server = ModelServer::builder(script()).key("sk-right").start().unwrap();
    let place = TempDir::new().unwrap();
    let at = |name: &str| place.path().join(name);
    for dir in ["bin", "home"] {
        std::fs::create_dir(at(dir)).unwrap();
    }
    symlink(env!("CARGO_BIN_EXE_ambit"), at("bin/ambit")).unwrap();
    let blocks = blocks();
    assert!(blocks.len() > 6, "{blocks:?}");
    let commands: Vec<&str> = blocks.iter().map(|(commands, _)| *commands).collect();
    let path = format!("{}:{}", at("bin").display(), std::env::var("PATH").unwrap());
    let done = Command::new("sh")
        .args(["-c", &format!("set -e\n{}", commands.join("\necho '<<end of block>>'\n"))])
        .env_clear()
        .envs([
            ("PATH", path.as_str()),
            ("HOME", at("home").to_str().unwrap()),
            ("MODEL_URL", &server.base_url()),
            ("ANTHROPIC_API_KEY", "sk-right"),
        ])
        .current_dir(place.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    let _ = Command::new("chmod").args(["-R", "u+w"]).arg(place.path()).status();
    assert!(done.status.success(), "{out}\n{err}");
    let outputs: Vec<&str> = out.split("<<end of block>>\n").collect();
    assert_eq!(outputs.len(), blocks.len());
    for ((commands, shown), output) in blocks.iter().zip(outputs) {
        assert_shown(commands, output, shown);
    }
    assert!(at("hello-bundle/revision/greeting.py").is_file());
    assert_eq!(server.problems(), [] as [String; 0]);
    assert_eq!(server.unused_turns(), [] as [usize; 0]);
}
