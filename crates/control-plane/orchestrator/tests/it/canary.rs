//! What must appear nowhere: what an agent thinks to itself, and what lies outside of its revision.

use ambit_ports::blobs::BlobStore as _;
use ambit_ports::store::{Seq, Store as _};
use ambit_simulation::{Reply, Setup, Turn, World, edit, simulate};
use serde_json::{Value, json};

use crate::policies::world;

const THOUGHT: &str = "CANARY-thought-7f3a";
const SECRET: &str = "CANARY-secret-91bc";

/// Everything that the project's owner could ever read: every record and every blob.
async fn everything(world: &World) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for stream in world.store.streams() {
        for row in world.store.read(&stream, Seq(0), 10_000).await.unwrap() {
            all.push((format!("{stream} {}", row.seq.0), row.bytes));
        }
    }
    let blobs = world.blobs.all().into_iter().filter(|(scope, ..)| *scope == world.scope);
    all.extend(blobs.map(|(_, digest, bytes)| (digest.to_string(), bytes.to_vec())));
    all
}

fn holds(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

/// A call as a model gives it that thinks aloud beside it, in every place that it can find.
fn aloud(turn: &Turn) -> Reply {
    let patch = || turn.explained(&edit("src/word.txt", "undone\n", "right\n"));
    let mut beside = patch();
    beside["reasoning"] = json!(THOUGHT);
    let mut inside = patch();
    inside["input"]["thinking"] = json!(THOUGHT);
    let answers: [Value; 10] = [
        json!({"reasoning": THOUGHT}),
        turn.plan(&["AC-1", "AC-2"]),
        beside,
        inside,
        json!({"plan": format!("<think>{THOUGHT}</think> I will start with the tests")}),
        json!({"tool": format!("<think>{THOUGHT}</think>"), "input": {}}),
        json!({"tool": "read_project_file", "input": THOUGHT}),
        turn.read("outside/secret.txt"),
        patch(),
        turn.gate_once("unit"),
    ];
    match turn.proposals() {
        10 => Reply::Text(format!("<think>{THOUGHT}</think>{{\"tool\":\"list_project_files\"}}")),
        11 => Reply::Say(turn.read_of("ledger", "secret.txt")),
        12 => Reply::Say(turn.gate_once("integration")),
        number => answers.get(number).map_or(Reply::Finished, |answer| Reply::Say(answer.clone())),
    }
}

// proves E-B05 E-L01
// break crates/domain/run/src/answer/typed.rs: `serde_json::from_value(value).map_err(|error| Denial::new(code, misfit(&error)).about(what))` -> `serde_json::from_value(value).map_err(|error| Denial::new(code, error.to_string()).about(what))`
// break crates/domain/run/src/answer/typed.rs: `let is_name = text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:*".contains(c));` -> `let is_name = !text.is_empty();`
#[test]
fn neither_a_thought_nor_a_secret_appears_in_any_record_or_blob() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let mut ledger = world.scope.clone();
        ledger.project = "ledger".parse().unwrap();
        world.blobs.put(&ledger, bytes::Bytes::from_static(SECRET.as_bytes())).await.unwrap();
        let agent = world.agent(aloud);
        let run = world.start(&agent).await;
        let state = world.drive(&run, &agent).await.ended();
        assert_eq!(state.stop_reason().unwrap().code(), "gates-passed", "what it did besides was taken");
        assert!(agent.told().len() >= 13);
        let all = everything(&world).await;
        for (place, bytes) in &all {
            for word in [THOUGHT, SECRET, world.credential.reveal().as_str()] {
                assert!(!holds(bytes, word), "{word} stands in {place}");
            }
        }
        assert!(all.iter().any(|(_, bytes)| holds(bytes, "make it right")), "a plan is kept on purpose");
        for (what, told) in agent.told().iter().enumerate() {
            assert!(!told.to_string().contains(SECRET), "turn {what} was told a secret");
        }
    });
}
