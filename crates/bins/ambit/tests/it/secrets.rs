//! What must appear nowhere: what an agent thinks to itself, and what lies in the environment of the program.

use crate::rig::{FIX, GATE, PLAN, Project, patch, transcript};

const THOUGHT: &str = "CANARY-thought-5b0e";
const SECRET: &str = "CANARY-secret-c41d";

// proves E-B05
// break crates/domain/run/src/answer/typed.rs: `let is_name = text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:*".contains(c));` -> `let is_name = !text.is_empty();`
#[test]
fn neither_a_thought_nor_a_secret_is_kept_or_shown() {
    let project = Project::empty();
    // The gate says everything that it was started with.
    project.write("app/check.sh", "set\ncat /proc/self/environ\nsh greet.sh ada | grep -q 'hello ada'\n");
    project.approve_as_ada();
    let thinking = |turn: &str| format!("{turn}      reasoning: I think {THOUGHT}\n");
    let turns = [
        format!("    - say: {{ reasoning: {THOUGHT} }}\n"),
        format!("    - say: {{ tool: \"<think>{THOUGHT}</think>\", input: {{}} }}\n"),
        thinking(PLAN),
        thinking(&patch(FIX, "")),
        thinking(GATE),
    ]
    .concat();
    let started = project
        .command(project.start_words("thinks", &transcript(&turns, "finish")))
        .env("AMBIT_TEST_SECRET", SECRET)
        .output()
        .unwrap();
    assert_eq!(started.status.code(), Some(0), "{}", String::from_utf8_lossy(&started.stderr));
    let out = project.path("bundle");
    project.ambit(["run", "export", "thinks", "--out", out.to_str().unwrap()]).well();
    let mut seen = vec![started.stdout, started.stderr];
    let views: [&[&str]; 8] = [
        &["run", "show", "thinks"],
        &["run", "watch", "thinks"],
        &["gate", "show", "thinks", "unit"],
        &["trace", "show", "thinks"],
        &["trace", "list", "--denials"],
        &["trace", "verify"],
        &["revision", "diff", "rev-0", "rev-1"],
        &["revision", "diff", "rev-0", "rev-1", "--patch"],
    ];
    for words in views {
        for json in [&[][..], &["--json"]] {
            let answered = project.ambit(words.iter().chain(json)).well();
            seen.extend([answered.out.into_bytes(), answered.err.into_bytes()]);
        }
    }
    for canary in [THOUGHT, SECRET] {
        let holds = |text: &[u8]| text.windows(canary.len()).any(|window| window == canary.as_bytes());
        assert!(!seen.iter().any(|text| holds(text)), "a view shows {canary}");
        assert!(!project.finds(canary), "the state holds {canary}");
        assert!(!crate::rig::finds_in(&out, canary), "the bundle holds {canary}");
    }
    assert!(project.finds("LC_ALL=C.UTF-8"), "what the gate was started with is kept");
    assert!(crate::rig::finds_in(&out, "Greet by name"), "a plan is kept");
}
