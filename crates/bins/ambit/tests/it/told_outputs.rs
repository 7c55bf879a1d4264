//! What is told of outputs: those of gates, and those of one command by hand.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::rig::{FIX, GATE, PLAN, Project, patch, transcript};
use crate::stable::stable;

/// A gate that keeps a report and what is in a directory, beside a link and nothing at all.
const CHECK: &str = "echo noted > report.txt\necho one > made/one.txt\n";

fn project() -> Project {
    let project = Project::empty();
    project.write("app/check.sh", CHECK);
    fs::create_dir(project.path("app/made")).unwrap();
    project.write("app/made/two.txt", "two\n");
    symlink("greet.sh", project.path("app/link.txt")).unwrap();
    let catalog = fs::read_to_string(project.path("catalog.yaml")).unwrap();
    let kept = "outputs:\n        - { path: report.txt, maxKib: 4 }\n        - { path: absent.xml, maxKib: 4 }\n        - { path: link.txt, maxKib: 4 }\n        - { path: made, maxKib: 4, maxEntries: 4 }\n";
    project.write("catalog.yaml", &catalog.replace("outputs: []\n", kept));
    project.approve_as_ada();
    project
}

#[test]
fn a_page_of_a_run_tells_what_was_kept_and_what_was_refused_and_why() {
    let project = project();
    let turns = [PLAN, &patch(FIX, ""), GATE].concat();
    let ended = project.start("kept", &transcript(&turns, "finish")).well();
    let section = |page: &str| -> String {
        let from = page.lines().skip_while(|line| *line != "outputs");
        let rows: Vec<&str> = from.take_while(|line| *line == "outputs" || line.starts_with("  ")).collect();
        rows.join("\n")
    };
    let rows = [
        ("unit", "kept     report.txt (6 B)"),
        ("", "kept     made/one.txt (4 B)"),
        ("", "kept     made/two.txt (4 B)"),
        ("", "refused  absent.xml (absent): nothing is there"),
        ("", "refused  link.txt (link): it, or a directory on the way to it, is a symbolic link"),
    ];
    let rows: String = rows.iter().map(|(gate, told)| format!("\n  {gate:<28} {told}")).collect();
    let expected = format!("outputs{rows}");
    assert_eq!(section(&ended.out), expected, "{}", ended.out);
    let shown = project.ambit(["run", "show", "kept"]).well().out;
    assert_eq!(section(&shown), expected, "{shown}");
    assert!(shown.lines().any(|line| line == "backend      linux"), "{shown}");
    let json = project.show("kept");
    assert_eq!(json["pins"]["backend"], "linux");
    let of_gate = &json["outputs"][0];
    assert_eq!((&of_gate["gate"], &of_gate["attempt"]), (&json!("unit"), &json!(1)), "{of_gate}");
    assert_eq!(of_gate["kept"].as_array().unwrap().len(), 3);
    assert_eq!(of_gate["refused"][0], json!({"path": "absent.xml", "why": "absent"}));
    let gate = project.ambit(["gate", "show", "kept", "unit"]).well().out;
    assert!(gate.contains("refused  absent.xml (absent): nothing is there\n"), "{gate}");

    let out = project.path("bundle");
    let exported = project.ambit(["run", "export", "kept", "--out", out.to_str().unwrap(), "--json"]).well();
    let names = json!([
        "gates/unit-1/outputs/report.txt",
        "gates/unit-1/outputs/made/one.txt",
        "gates/unit-1/outputs/made/two.txt"
    ]);
    assert_eq!(exported.json()["outputs"], names);
    let kept = |name: &str| fs::read_to_string(out.join("gates/unit-1/outputs").join(name)).unwrap();
    assert_eq!((kept("report.txt"), kept("made/one.txt")), ("noted\n".to_owned(), "one\n".to_owned()));
    insta::assert_snapshot!("run_show_outputs", stable(&shown));
}

#[test]
fn what_was_to_be_kept_and_is_not_is_no_success_and_is_told() {
    let project = Project::empty();
    let run = |more: &[&str]| {
        let words = ["sandbox", "run", "--image", "tools", "--profile", project.profile, "--quiet"];
        project.ambit([&words[..], more].concat())
    };
    let there = run(&["--keep", "made", "--", "sh", "-c", "echo 1 > made"]).well();
    assert_eq!(there.err, "");
    let absent =
        run(&["--keep", "made", "--keep", "absent", "--into", "taken", "--", "sh", "-c", "echo 1 > made"]);
    let told: Value = absent.json();
    assert_eq!(
        (absent.code, &told["exitCode"], &told["errorClass"]),
        (3, &json!(0), &Value::Null),
        "{absent:?}"
    );
    assert_eq!(told["observation"]["refusedOutputs"][0], json!({"path": "absent", "why": "absent"}));
    assert_eq!(absent.err, "1 output not kept: absent (absent): nothing is there\n");
    assert_eq!(fs::read_to_string(project.path("taken/kept/made")).unwrap(), "1\n");
    // The end of the command is told first, and this as well.
    let failed = run(&["--keep", "absent", "--wall-ms", "50", "--", "sleep", "60"]);
    assert!(failed.code == 5 && failed.err.contains("absent (absent)"), "{failed:?}");
}
