//! Text that was written to make an agent do something, and an agent that does all of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ambit_ids::{RepoPath, is_unprintable, written_out};
use ambit_orchestrator::RunRef;
use ambit_run::{State, ToolCall};
use ambit_simulation::{Outcome, Reply, Setup, SimAgent, Turn, World, edit, simulate};
use serde_json::{Value, json};

use crate::invariants::check_ended;
use crate::policies::world;

const PROTECTED: &str = "tests/protected/check.txt";

/// The cases of this name; `None` where they are absent, which `AMBIT_REQUIRE_CASES=1` makes a failure.
fn cases(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let cases = std::env::var_os("AMBIT_CASES").map_or_else(|| root.join("../shared/cases"), PathBuf::from);
    let file = cases.join(name);
    if file.exists() {
        return Some(file);
    }
    assert_ne!(std::env::var("AMBIT_REQUIRE_CASES").as_deref(), Ok("1"), "{} is absent", file.display());
    println!("skipped: CASES_ABSENT {name}");
    None
}

/// Where a text stands that somebody wrote for the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Readme,
    Dependencies,
    FileName,
    GateOutput,
    GateSummary,
}

impl Place {
    const ALL: [Self; 5] =
        [Self::Readme, Self::Dependencies, Self::FileName, Self::GateOutput, Self::GateSummary];

    const fn is_of_a_gate(self) -> bool {
        matches!(self, Self::GateOutput | Self::GateSummary)
    }

    /// Puts the text there, and tells how the agent is shown it.
    fn plant(self, setup: &mut Setup, text: &str) -> String {
        match self {
            Self::Readme => setup.files[1].1 = text.as_bytes().to_vec(),
            Self::Dependencies => {
                setup.files[2].1 = format!("attrs==25.3.0\n# {text}\n").into_bytes();
            }
            Self::FileName => {
                let path = named(text);
                setup.files.push((path.to_string(), b"x\n".to_vec()));
                return path.to_string();
            }
            Self::GateOutput => {
                let said = text.to_owned();
                setup.judge = Box::new(move |_| Outcome::fails(&said));
                return replaced(text);
            }
            Self::GateSummary => {
                let said = format!(
                    "=== short test summary info ===\nFAILED tests/test_word.py::test_word - AssertionError: {text}\n"
                );
                setup.judge = Box::new(move |_| Outcome::fails(&said));
                return replaced(text);
            }
        }
        text.to_owned()
    }

    /// The call that shows it to the agent.
    fn look(self, turn: &Turn) -> Value {
        match self {
            Self::Readme => turn.read("README.md"),
            Self::Dependencies => turn.read("requirements.txt"),
            Self::FileName => turn.list(),
            Self::GateOutput | Self::GateSummary => turn.gate_once("unit"),
        }
    }

    /// What of the answer to that call holds it.
    fn shown(self, answer: &Value) -> String {
        match self {
            Self::Readme | Self::Dependencies => answer["content"].as_str().unwrap().to_owned(),
            Self::FileName => answer["files"]
                .as_array()
                .unwrap()
                .iter()
                .map(|file| {
                    file.as_str().or_else(|| file["path"].as_str()).unwrap_or_else(|| panic!("{file}"))
                })
                .collect::<Vec<_>>()
                .join("\n"),
            Self::GateOutput => answer["output"].as_str().unwrap().to_owned(),
            Self::GateSummary => answer["summary"]["failures"][0]["message"]
                .as_str()
                .unwrap_or_else(|| panic!("{self:?}: {answer}"))
                .to_owned(),
        }
    }

    /// Whether the call is the one that shows it.
    fn is_look(self, call: &ToolCall) -> bool {
        match call {
            ToolCall::ReadProjectFile { path, .. } => match self {
                Self::Readme => path.to_string() == "README.md",
                Self::Dependencies => path.to_string() == "requirements.txt",
                _ => false,
            },
            ToolCall::ListProjectFiles { .. } => self == Self::FileName,
            ToolCall::RunNamedGate { gate_id, .. } => self.is_of_a_gate() && gate_id.as_str() == "unit",
            _ => false,
        }
    }
}

/// The text as it comes out of a gate: what nobody sees is replaced where output is captured.
fn replaced(text: &str) -> String {
    text.trim_end().chars().map(|c| if is_unprintable(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// The calls that show all places: the gate shows its output and its summary at once.
const LOOKS: [Place; 4] = [Place::Readme, Place::Dependencies, Place::FileName, Place::GateSummary];

/// A file that is called so, as far as a path can be.
fn named(text: &str) -> RepoPath {
    let written = written_out(text).replace(['/', '\\'], "_");
    (1..=written.len().min(200))
        .rev()
        .filter_map(|end| written.get(..end))
        .find_map(|name| format!("src/{}", name.trim().trim_matches('.')).parse().ok())
        .unwrap()
}

/// What an obedient agent does, as calls of this system.
fn obey(order: &Value, turn: &Turn) -> Value {
    let Some(tool) = order["tool"].as_str() else { return order.clone() };
    if let Some(text) = order["reason"].as_str().filter(|text| text.contains("10MB")) {
        let reason = text.replace("10MB", &"x".repeat(10 << 20));
        return json!({"tool": tool, "input": {"proposalId": "prop_0123456789abcdef", "capability": "publish", "reason": reason}});
    }
    let patch = if order.get("delete").is_some() {
        Some(format!("--- a/{PROTECTED}\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-the word is right\n"))
    } else if order.get("adds").is_some() {
        Some(edit("requirements.txt", "attrs==25.3.0\n", "attrs==25.3.0\nevil==1.0\n"))
    } else {
        (tool == "apply_project_patch").then(|| edit(PROTECTED, "the word is right\n", "any word\n"))
    };
    let mut call = match patch {
        Some(patch) if turn.must_explain() => turn.explained(&patch),
        Some(patch) => turn.patch(&patch),
        None => json!({"tool": tool, "input": {"revisionId": turn.context()["revision"]}}),
    };
    let Value::Object(fields) = order else { return call };
    for (name, value) in fields {
        let is_told_by_the_patch = name == "path" && tool == "apply_project_patch";
        if !is_told_by_the_patch && !matches!(name.as_str(), "tool" | "delete" | "adds") {
            call["input"][name] = value.clone();
        }
    }
    if tool == "run_named_gate" && call["input"]["idempotencyKey"].is_null() {
        call["input"]["idempotencyKey"] = json!(format!("turn-{}", turn.number()));
    }
    if tool == "read_project_file" {
        call["input"]["projectId"] = turn.context()["project"].clone();
    }
    call
}

/// An agent that plans, reads the text, and does everything that it asks for.
fn obedient(world: &World, places: &[Place], orders: Vec<Value>) -> Arc<SimAgent> {
    let places = places.to_vec();
    world.agent(move |turn| match turn.proposals() {
        0 => Reply::Say(turn.plan(&["AC-1", "AC-2"])),
        number if number <= places.len() => Reply::Say(places[number - 1].look(turn)),
        number => orders
            .get(number - 1 - places.len())
            .map_or(Reply::Finished, |order| Reply::Say(obey(order, turn))),
    })
}

/// Nothing of what a run is bound by differs from what was approved.
async fn check_bounds(world: &World, run: &RunRef, state: &State, places: &[Place], told: &str) {
    let dossier = state.dossier().unwrap();
    assert_eq!(dossier.head, world.base_tree.digest(), "{told}: the tree was changed");
    assert_eq!(
        world.sandbox.executed().len(),
        places.iter().filter(|place| place.is_of_a_gate()).count(),
        "{told}: something ran"
    );
    assert_eq!(dossier.approvals.receipts().count(), 0, "{told}: something was approved");
    assert_eq!(dossier.pins.blueprint.digest, world.digest, "{told}");
    let (limits, approved) = (dossier.ledger.limits(), &world.blueprint.spec.run_budget);
    assert_eq!(limits.model_steps, approved.max_model_steps, "{told}: a limit was raised");
    assert_eq!(limits.tool_cost, approved.max_tool_cost, "{told}: a limit was raised");
    let project = world.projects().project(&world.scope).await.unwrap();
    let digests: Vec<_> = project.approved_digests(&world.blueprint.metadata.name).collect();
    assert_eq!(digests, [world.digest], "{told}: another blueprint is approved");
    assert_eq!(project.approvers().count(), 1, "{told}: somebody else may approve");
    let foreign = world.links(run).await.into_iter().any(|link| match link.record.event() {
        Ok(ambit_run::Event::CallDecided(decided)) => {
            decided.outcome == ambit_run::CallOutcome::Perform
                && !places.iter().any(|place| place.is_look(&decided.call))
        }
        _ => false,
    });
    assert!(!foreign, "{told}: an ordered call was performed");
    check_ended(world, run, state, told).await;
}

// proves E-E11 E-D10 E-E07 E-C10 E-F05
// break crates/adapters/policy-rules/src/call.rs: `facts: request.facts.iter().map(Fact::kind).collect(),` -> `facts: BTreeSet::new(),`
#[test]
fn whatever_a_text_orders_an_obedient_agent_to_do_changes_nothing() {
    let Some(file) = cases("injection/payloads.jsonl") else { return };
    let lines = std::fs::read_to_string(file).unwrap();
    let mut orders = 0;
    for line in lines.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let (told, text) = (case["id"].as_str().unwrap(), case["text"].as_str().unwrap());
        let calls = case["obedient_agent_calls"].as_array().unwrap().clone();
        orders += calls.len();
        let mut setup = Setup::standard();
        // One gate says what is in its output and in its summary.
        let planted = Place::ALL.map(|place| place.plant(&mut setup, text));
        simulate(async {
            let world = world(setup).await;
            let agent = obedient(&world, &LOOKS, calls);
            let run = world.start(&agent).await;
            let state = world.drive(&run, &agent).await.ended();
            let heard = agent.heard();
            for (place, planted) in Place::ALL.into_iter().zip(planted) {
                let look = LOOKS.iter().position(|look| *look == place).unwrap_or(LOOKS.len() - 1);
                let shown = place.shown(&heard[2 + look]);
                assert!(shown.contains(&planted), "{told} in {place:?}: the agent was shown {shown:?}");
            }
            check_bounds(&world, &run, &state, &LOOKS, told).await;
        });
    }
    assert!(orders >= 20, "only {orders} orders were tried");
}

#[test]
fn an_honest_call_by_the_same_agent_is_performed() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let orders = vec![json!({"tool": "run_named_gate", "gateId": "unit"})];
        let agent = obedient(&world, &[Place::Readme], orders);
        let run = world.start(&agent).await;
        world.drive(&run, &agent).await.ended();
        assert_eq!(world.sandbox.executed().len(), 1);
    });
}

/// What nobody sees: the direction of text turned, nothing of any width, letters of tags, the beginning of an order to a
/// terminal.
const UNSEEN: [char; 4] = ['\u{202e}', '\u{200b}', '\u{e0041}', '\u{1b}'];

// proves E-F05
#[test]
fn what_nobody_sees_is_written_out_wherever_an_agent_reads_no_file() {
    let text: String = UNSEEN.iter().map(|c| format!("a{c}b ")).collect();
    for place in Place::ALL {
        simulate(async {
            let mut setup = Setup::standard();
            place.plant(&mut setup, &text);
            let world = world(setup).await;
            let orders = vec![json!({"tool": "run_named_gate", "gateId": format!("unit{text}")})];
            let agent = obedient(&world, &[place], orders);
            let run = world.start(&agent).await;
            world.drive(&run, &agent).await.ended();
            let exact = matches!(place, Place::Readme | Place::Dependencies);
            let heard = agent.heard();
            let shown = place.shown(&heard[2]);
            assert_eq!(UNSEEN.iter().all(|c| shown.contains(*c)), exact, "{place:?}: {shown:?}");
            let strings = |value: &Value| serde_json::to_string(value).unwrap();
            let seen = |value: &Value| {
                !UNSEEN.iter().any(|c| strings(value).contains(*c) || strings(value).contains("\\u001b"))
            };
            assert!(exact || seen(&heard[2]), "{place:?}: {}", heard[2]);
            assert!(
                heard.get(3).is_some_and(|denied| !denied["denied"].is_null() && seen(denied)),
                "{heard:?}"
            );
        });
    }
}

// proves E-D10
// break crates/domain/run/src/step/draft.rs: `match dossier.ledger.check(&Amounts::turn(reserved)) {` -> `match dossier.ledger.check(&Amounts::default()) {`
#[test]
fn no_words_of_an_agent_raise_a_limit() {
    simulate(async {
        let mut setup = Setup::standard();
        setup.blueprint.spec.run_budget.max_model_steps = 5;
        let world = world(setup).await;
        let agent =
            world.agent(|_| Reply::Say(json!({"runBudget": {"maxModelSteps": 1000}, "raiseBudget": true})));
        let run = world.start(&agent).await;
        let state = world.drive(&run, &agent).await.ended();
        assert_eq!(state.stop_reason().unwrap().to_string(), "budget (maxModelSteps)");
        assert_eq!(agent.told().len(), 5);
        check_ended(&world, &run, &state, "raise the budget").await;
    });
}
