//! The hidden check: what an agent gets to know of it, which is nothing.

use std::sync::Arc;

use ambit_blueprint::{Document, HiddenFiles};
use ambit_ids::{Content, Digest, GateId, Incarnation};
use ambit_revision::{Contents, FileKind, Tree, TreeFile};
use ambit_revisions::Revisions;
use ambit_simulation::{Execution, Outcome, Reply, Setup, Turn, World, edit, simulate};

use crate::policies::world;

/// The id of the hidden check, and a word of its command.
const CHECK: &str = "covert-probe-7f3a";
/// What it prints.
const SAYS: &str = "COVERT-OUTPUT-91bc";

fn judge(execution: &Execution<'_>) -> Outcome {
    let word = execution.text("src/word.txt");
    let passes = match execution.gate.as_str() {
        CHECK => word == "right\n",
        _ => word.starts_with("right"),
    };
    let mut outcome = if passes { Outcome::passes() } else { Outcome::fails("AssertionError: the word\n") };
    if execution.gate.as_str() == CHECK {
        outcome.stdout = SAYS.into();
        outcome.stderr = SAYS.into();
    }
    outcome
}

async fn covert_world() -> World {
    let mut setup = Setup { judge: Box::new(judge), ..Setup::standard() };
    setup.blueprint.spec.gates[1].hidden_check = Some(CHECK.parse().unwrap());
    for document in &mut setup.documents {
        let text = String::from_utf8(document.to_canonical().unwrap().into_bytes()).unwrap();
        let named = text.replace("\"hidden\"", &format!("\"{CHECK}\""));
        assert!(named.contains(CHECK));
        *document = Document::parse("catalog.json", named.as_bytes()).unwrap();
    }
    world(setup).await
}

/// An agent that asks for the check by its name, as if it had guessed it, and then writes `word` and runs the gates.
fn guesses(turn: &Turn, guess: &str, word: &str) -> Reply {
    Reply::Say(match turn.proposals() {
        0 => turn.plan(&["AC-1", "AC-2"]),
        1 => turn.gate_once(guess),
        2 => turn.explained(&edit("src/word.txt", "undone\n", word)),
        3 => turn.gate_once("unit"),
        4 => turn.gate_once("integration"),
        _ => return Reply::Finished,
    })
}

// proves E-F02 E-F11
// break crates/control-plane/orchestrator/src/context.rs: `"gates": gates(dossier),` -> `"gates": json!([gates(dossier), dossier.pins.hidden_checks().iter().map(|check| check.command.to_string()).collect::<Vec<_>>()]),`
#[test]
fn nothing_that_an_agent_is_told_names_the_hidden_check_and_no_call_of_it_reaches_its_sandbox() {
    simulate(async {
        let mut heard = Vec::new();
        for (word, reason) in [("right\n", "gates-passed"), ("right, but for show\n", "hidden-check-failed")]
        {
            // A guess that happens to be right is answered like one that is wrong.
            for guess in [CHECK, "no-such-gate-4e1d0"] {
                let world = covert_world().await;
                let agent = world.agent(move |turn| guesses(turn, guess, word));
                let run = world.start(&agent).await;
                let state = world.drive(&run, &agent).await.ended();
                assert_eq!(state.stop_reason().unwrap().code(), reason);
                let told: Vec<String> =
                    agent.told().iter().map(|context| context.to_string().replace(guess, "GUESS")).collect();
                assert_eq!(told.len(), 5, "it is asked for nothing after the last gate");
                for text in &told {
                    assert!(!text.contains(CHECK) && !text.contains(SAYS), "{text}");
                }
                assert!(told[2].contains("GATE_UNKNOWN"), "{}", told[2]);
                heard.push(told[2].len());
                let check: GateId = CHECK.parse().unwrap();
                let ran = world.sandbox.executed();
                let (hidden, open): (Vec<_>, Vec<_>) = ran.iter().partition(|ran| ran.gate == check);
                let lives = |of: &[&ambit_simulation::Executed]| -> Vec<Incarnation> {
                    let mut lives: Vec<Incarnation> = of.iter().map(|ran| ran.incarnation.clone()).collect();
                    lives.dedup();
                    lives
                };
                assert_eq!((hidden.len(), open.len()), (1, 2));
                let (first, second) = (lives(&open), lives(&hidden));
                assert!(first.len() == 1 && second.len() == 1 && first != second, "{first:?} {second:?}");
                assert!(world.sandbox.live().is_empty(), "neither of them is left");
                // A person sees what it was and how it ended.
                let dossier = state.dossier().unwrap();
                assert_eq!(
                    (&dossier.hidden[0].gate, dossier.hidden[0].passed()),
                    (&check, word == "right\n")
                );
            }
        }
        heard.dedup();
        assert_eq!(heard.len(), 1, "a right guess and a wrong one are answered alike: {heard:?}");
    });
}

/// A file of the hidden check, and what it holds.
const CASE_FILE: &str = "tests/protected/case-77ab.txt";
const CASE: &str = "COVERT-CASE-c0de";

/// Passes where the word is right; the hidden check sees that only by its own file.
fn judge_by_case(execution: &Execution<'_>) -> Outcome {
    let has_case = execution.text(CASE_FILE) == CASE;
    let passes = match execution.gate.as_str() {
        "hidden" => has_case && execution.text("src/word.txt") == "right\n",
        _ => !has_case && execution.text("src/word.txt").starts_with("right"),
    };
    if passes { Outcome::passes() } else { Outcome::fails("AssertionError: the word\n") }
}

/// A world whose blueprint names this folder. Whether it is kept is another matter.
async fn world_with_files(content: &str, is_kept: bool) -> World {
    let mut setup = Setup { judge: Box::new(judge_by_case), ..Setup::standard() };
    let file = TreeFile::of(FileKind::File, content.as_bytes());
    let tree = Tree::from_files([(CASE_FILE.parse().unwrap(), file)]).unwrap();
    let gate = &mut setup.blueprint.spec.gates[1];
    gate.hidden_check = Some("hidden".parse().unwrap());
    gate.hidden_files = Some(HiddenFiles { from: "covert".parse().unwrap(), digest: tree.digest() });
    let world = world(setup).await;
    let mut contents = Contents::new();
    contents.extend([Content::of(content.as_bytes().to_vec())]);
    if is_kept {
        let revisions = Revisions::new(Arc::new(world.blobs.clone()));
        revisions.keep(&world.scope, &tree, &contents).await.unwrap();
    }
    world
}

/// An agent that looks everywhere for what it is judged by, before and after it writes `word`.
fn snoops(turn: &Turn, word: &str) -> Reply {
    Reply::Say(match turn.proposals() {
        0 => turn.plan(&["AC-1", "AC-2"]),
        1 | 8 => turn.list(),
        2 | 9 => turn.search("COVERT"),
        3 => turn.search("case"),
        4 | 10 => turn.read(CASE_FILE),
        5 => turn.read("tests/protected"),
        6 => turn.explained(&edit("src/word.txt", "undone\n", word)),
        7 => turn.gate_once("unit"),
        11 => turn.gate_once("integration"),
        _ => return Reply::Finished,
    })
}

// proves E-F02 E-F11
// break crates/control-plane/broker/src/evaluate.rs: `let seen = self.execute(ground, lease, command, None, abort).await?;` -> `let hidden = match ground.hidden_files(gate) { Some(digest) => Some(self.revisions().hidden(ground.scope(), digest).await?), None => None }; let seen = self.execute(ground, lease, command, hidden.as_ref(), abort).await?;`
#[test]
fn an_agent_that_looks_everywhere_sees_nothing_of_the_files_of_a_hidden_check() {
    simulate(async {
        for (word, reason) in [("right\n", "gates-passed"), ("right, but for show\n", "hidden-check-failed")]
        {
            let world = world_with_files(CASE, true).await;
            let agent = world.agent(move |turn| snoops(turn, word));
            let run = world.start(&agent).await;
            let state = world.drive(&run, &agent).await.ended();
            assert_eq!(state.stop_reason().unwrap().code(), reason, "{:?}", state.stop_reason());
            let told = agent.told();
            assert_eq!(told.len(), 12, "it was asked for everything");
            let content = Digest::of(CASE.as_bytes()).to_string();
            let digest = world.blueprint.spec.gates[1].hidden_files.as_ref().unwrap().digest.to_string();
            for context in &told {
                // What it asks for it is told again, so only what nobody asked for counts.
                let text = context.to_string().replace(CASE_FILE, "ASKED");
                for trace in [CASE, "case-77ab", &content, &digest, "hiddenFiles", "\"covert\""] {
                    assert!(!text.contains(trace), "{trace}: {text}");
                }
            }
            // The revision that comes of it holds none of it either.
            let head = Revisions::new(Arc::new(world.blobs.clone()))
                .load(&world.scope, state.dossier().unwrap().head)
                .await
                .unwrap();
            assert!(head.get(&CASE_FILE.parse().unwrap()).is_none());
        }
    });
}

// proves E-F02
// break crates/control-plane/orchestrator/src/covert.rs: `not_in_source(&hidden, source)` -> `not_in_source(&hidden, &ambit_revision::Tree::empty())`
#[test]
fn no_run_starts_whose_hidden_files_are_gone_or_lie_in_its_source() {
    simulate(async {
        for (content, is_kept, code) in [
            (CASE, true, None),
            (CASE, false, Some("HIDDEN_FILES_MISSING")),
            ("the word is right\n", true, Some("HIDDEN_FILES_IN_SOURCE")),
        ] {
            let world = world_with_files(content, is_kept).await;
            let agent = world.agent(|_| Reply::Finished);
            let started = world.orchestrator().start(world.request(&agent, None)).await;
            assert_eq!(started.err().map(|error| error.code()), code);
        }
    });
}
