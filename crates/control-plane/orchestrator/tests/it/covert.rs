//! The hidden check: what an agent gets to know of it, which is nothing.

use ambit_blueprint::Document;
use ambit_ids::{GateId, Incarnation};
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
