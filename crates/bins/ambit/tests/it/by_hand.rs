//! One command in a fresh sandbox, for whoever operates the machine.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::rig::{Answered, PLAN, Project, meets_secure_generation, transcript};

fn words<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let profile = if meets_secure_generation() { "secure-generation-v1" } else { "laptop-v1" };
    [&["sandbox", "run", "--image", "tools", "--profile", profile], more].concat()
}

/// Holds an answer against the schema of its kind.
#[track_caller]
pub(crate) fn assert_fits(project: &Project, kind: &str, answer: &Value) {
    let schema = project.ambit(["schema", "show", kind]).well().json();
    let wrong: Vec<String> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(answer)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{kind}: {wrong:#?}");
}

/// Whether the home holds anything of a sandbox.
fn leaves(project: &Project, told: &Value) -> bool {
    let lease = told["lease"]["lease"].as_str().unwrap();
    project.home().join("sandboxes/leases").join(lease).exists()
}

#[test]
fn one_command_is_seen_whole_and_leaves_nothing() {
    let project = Project::empty();
    let script = "cat greet.sh; echo made > made; echo \"$A\" >&2; exit 7";
    let ran = project.ambit(words(&[
        "--workspace",
        "app",
        "--env",
        "A=b=c",
        "--keep",
        "made",
        "--into",
        "taken",
        "--memory-mib",
        "64",
        "--pids",
        "8",
        "--",
        "sh",
        "-c",
        script,
    ]));
    let told = ran.json();
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_fits(&project, "SandboxRun", &told);
    let ended = (&told["ended"], &told["exitCode"], &told["signal"], &told["errorClass"]);
    assert_eq!(ended, (&json!("exit 7"), &json!(7), &Value::Null, &json!("failed")));
    let seen = &told["observation"];
    assert_eq!(seen["stdout"]["head"], crate::rig::GREET);
    assert_eq!(seen["stderr"]["head"], "b=c\n");
    assert_eq!((&seen["outputs"][0]["path"], &seen["outputs"][0]["bytes"]), (&json!("made"), &json!(5)));
    assert_eq!((&told["limits"]["memoryBytes"], &told["limits"]["pids"]), (&json!(64 << 20), &json!(8)));
    let taken = |name: &str| std::fs::read_to_string(project.path("taken").join(name)).unwrap();
    assert_eq!(
        (taken("kept/made"), taken("stdout"), taken("stderr")),
        ("made\n".into(), crate::rig::GREET.into(), "b=c\n".into())
    );
    assert_eq!(told["scope"], json!({"organization": "acme", "project": project.name}));
    assert_eq!(told["lease"]["backend"], "linux");
    assert_eq!(told["destruction"]["proven"], true);
    assert!(told["destruction"]["receipt"]["remaining"].as_array().unwrap().len() > 2);
    assert!(!leaves(&project, &told));
    assert!(!project.path("app/made").exists(), "nothing comes back to the directory");
    assert!(ran.err.contains("no run, and nothing of it is recorded"), "{ran:?}");
    assert_eq!(project.ambit(["run", "list", "--json"]).well().json()["runs"], json!([]));
    assert_eq!(project.ambit(["trace", "list", "--json"]).well().json()["records"], json!([]));
}

#[test]
fn each_end_has_its_class_and_its_exit_code() {
    let project = Project::empty();
    for (more, exit, class) in [
        (&["--", "cat"][..], 0, Value::Null),
        (&["--", "sh", "-c", "kill -9 $$"], 3, json!("signal")),
        (&["--", "/none"], 3, json!("not-started")),
        (&["--wall-ms", "50", "--", "sleep", "60"], 5, json!("timeout")),
        (&["--output-kib", "1", "--", "sh", "-c", "while :; do echo yes; done"], 5, json!("output")),
    ] {
        let ran = project.ambit(words(more));
        let told = ran.json();
        assert_eq!((ran.code, &told["errorClass"]), (exit, &class), "{more:?}: {told}");
        assert_eq!(told["destruction"]["proven"], true, "{more:?}");
        assert_fits(&project, "SandboxRun", &told);
    }
    let absent = project.ambit(words(&["--backend", "oci:none-of-that-name", "--json", "--", "cat"]));
    assert!(absent.out.is_empty() && absent.code != 0, "{absent:?}");
    let other = project.ambit(["backend", "inspect", "oci:env", "--json"]);
    assert_eq!((other.code, other.code_of_failure().as_str()), (9, "BACKEND_NOT_A_RUNTIME"), "{other:?}");
    let holds_keys = words(&["--workspace", project.home().to_str().unwrap(), "--json", "--", "cat"]);
    assert_eq!(project.ambit(holds_keys).code_of_failure(), "IMPORT_HOLDS_HOME");
}

#[test]
fn a_refusal_leaves_no_directory_so_that_the_same_can_be_asked_again() {
    let project = Project::empty();
    let into = project.path("taken");
    let ask = |workspace: &str| {
        let workspace = project.path(workspace);
        let more =
            ["--into", into.to_str().unwrap(), "--workspace", workspace.to_str().unwrap(), "--", "cat"];
        project.ambit(words(&more))
    };
    let refused = ask("nowhere");
    assert!(refused.code != 0 && refused.err.contains("nowhere does not exist"), "{refused:?}");
    assert!(!into.exists(), "an empty directory is left");
    std::fs::create_dir(project.path("there")).unwrap();
    ask("there").well();
    assert!(into.join("stdout").is_file());
}

// proves E-I12
// break crates/bins/ambit/src/verbs/sandbox.rs: `handle.abort();` -> `drop(&handle);`
#[test]
fn an_interrupt_ends_the_command_and_proves_that_nothing_is_left() {
    let project = Project::empty();
    let script = "trap '' INT TERM; echo > ready; sleep 600 & sleep 600";
    let mut command = project.command(words(&["--wall-ms", "20000", "--", "sh", "-c", script]));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("run_"), "{line}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ran = Answered::of(child.wait_with_output().unwrap());
    let told = ran.json();
    assert_eq!((ran.code, &told["errorClass"]), (130, &json!("aborted")), "{ran:?}");
    assert_eq!(told["destruction"]["proven"], true);
    assert!(!leaves(&project, &told));
}

#[test]
fn output_is_shown_while_the_command_runs() {
    let project = Project::empty();
    let script = r"printf 'caf\303\251 \033[31mred\n'; echo a warning >&2; printf half; sleep 600";
    let mut command = project.command(words(&["--live", "--wall-ms", "60000", "--", "sh", "-c", script]));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut shown = BufReader::new(child.stderr.take().unwrap());
    // The command goes on until it is interrupted, which only the sight of what it said does.
    let (mut said, mut byte) = (Vec::new(), [0]);
    let whole = |said: &[u8]| {
        ["\nout | half", "\nerr | a warning\n", "\nout | caf\u{e9} \u{fffd}[31mred\n"]
            .iter()
            .all(|part| String::from_utf8_lossy(said).contains(part))
    };
    while !whole(&said) {
        shown.read_exact(&mut byte).unwrap();
        said.extend(byte);
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    shown.read_to_end(&mut said).unwrap();
    let ran = Answered::of(child.wait_with_output().unwrap());
    let told = ran.json();
    assert_eq!((ran.code, &told["errorClass"]), (130, &json!("aborted")), "{ran:?}");
    assert_eq!(told["observation"]["stdout"]["head"], "caf\u{e9} \u{fffd}[31mred\nhalf");
    assert!(said.ends_with(b"\nended: aborted\n"), "{}", String::from_utf8_lossy(&said));
}

/// Whoever holds the terminal up holds up neither the command nor the removal of its sandbox.
#[test]
fn a_terminal_that_is_held_holds_up_nothing() {
    let project = Project::empty();
    let script = "i=0; while [ $i -lt 20000 ]; do echo a line of output $i; i=$((i+1)); done";
    let more = ["--live", "--into", "taken", "--wall-ms", "60000", "--", "sh", "-c", script];
    let mut command = project.command(words(&more));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let unread = child.stderr.take().unwrap();
    // Both streams are taken out after the sandbox is gone.
    let last = project.path("taken/stderr");
    for _ in 0..6000 {
        if last.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(last.exists(), "the command waits for its output to be shown");
    assert!(child.try_wait().unwrap().is_none(), "nothing was left to be shown");
    assert_eq!(std::fs::read_to_string(project.path("taken/stdout")).unwrap().lines().count(), 20_000);
    drop(unread);
    let ran = Answered::of(child.wait_with_output().unwrap());
    let told = ran.json();
    assert_eq!((ran.code, &told["errorClass"]), (0, &Value::Null), "{ran:?}");
    assert!(!leaves(&project, &told));
}

/// It is for operators: whatever an agent can say, name or run leads elsewhere.
#[test]
fn nothing_that_an_agent_can_say_reaches_it() {
    let project = Project::new();
    let tools = project.ambit(["tools", "list", "--json"]).well().json();
    let tools: Vec<&str> = tools.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert!(!tools.is_empty() && tools.iter().all(|tool| !tool.contains("sandbox")), "{tools:?}");
    let say = |value: Value| format!("    - say: {value}\n");
    let call = |tool: &str| say(json!({"tool": tool, "input": {"image": "tools", "argv": ["cat"]}}));
    let gate = say(json!({"tool": "run_named_gate",
        "input": {"revisionId": "${revision}", "gateId": "sandbox-run", "idempotencyKey": "k"}}));
    let turns = [PLAN.to_owned(), call("sandbox_run"), call("sandbox run"), gate].concat();
    project.start("reaching", &transcript(&turns, "finish"));
    let records = project.ambit(["trace", "show", "reaching", "--json"]).well().out;
    assert_eq!(records.matches("TOOL_UNKNOWN").count(), 2, "{records}");
    assert!(records.contains("GATE_UNKNOWN") && !records.contains("gate.finished"), "{records}");
    // The program itself is in no image, and a path of the host is none inside.
    let own = env!("CARGO_BIN_EXE_ambit");
    let ran = project.ambit(words(&["--", own, "sandbox", "run", "--image", "tools", "--", "cat"]));
    assert_eq!(ran.json()["errorClass"], "not-started", "{ran:?}");
}
