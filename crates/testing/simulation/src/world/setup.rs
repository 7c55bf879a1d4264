use std::sync::Arc;

use ambit_blueprint::{Blueprint, Document};
use ambit_ids::{DurationMs, Scope};
use ambit_ports::runtime::IdGenerator;

use super::World;
use crate::{Execution, Outcome, Reply, SimAgent, Turn, edit};

/// What a world is made from.
pub struct Setup {
    /// What decides everything that is left to chance.
    pub seed: u64,
    /// The project.
    pub scope: Scope,
    /// The blueprint.
    pub blueprint: Blueprint,
    /// The documents that the project registers before.
    pub documents: Vec<Document>,
    /// The files of the base revision.
    pub files: Vec<(String, Vec<u8>)>,
    /// Whether the blueprint is approved; otherwise it is registered and no more.
    pub approved: bool,
    /// How commands end.
    pub judge: Box<dyn Fn(&Execution<'_>) -> Outcome + Send + Sync>,
    /// The generator of identifiers, where it is not that of the seed.
    pub ids: Option<Arc<dyn IdGenerator>>,
}

/// The file that the job of a [`Setup::standard`] is about.
const FILE: &str = "src/word.txt";

impl Setup {
    /// A small job: the word in `src/word.txt` is `undone` and must become `right`. The gate `unit` is cheap, the gate
    /// `integration` dear, and both read that word; the hidden check `hidden`, which no blueprint names yet, wants that
    /// it is not `secretly wrong`.
    ///
    /// # Panics
    /// Never: its documents are valid.
    #[must_use]
    pub fn standard() -> Self {
        Self {
            seed: 1,
            scope: Scope { organization: "acme".parse().unwrap(), project: "shop".parse().unwrap() },
            blueprint: Blueprint::parse("bp-1", include_bytes!("documents/bp-1.yaml")).unwrap(),
            documents: vec![Document::parse("catalog", include_bytes!("documents/catalog.yaml")).unwrap()],
            files: [
                (FILE, "undone\n"),
                ("README.md", "# Shop\n"),
                ("requirements.txt", "attrs==25.3.0\n"),
                ("tests/protected/check.txt", "the word is right\n"),
            ]
            .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
            .to_vec(),
            approved: true,
            judge: Box::new(judge),
            ids: None,
        }
    }

    /// The same with another seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self { seed, ..Self::standard() }
    }
}

fn judge(execution: &Execution<'_>) -> Outcome {
    let word = execution.text(FILE);
    let passes = match execution.gate.as_str() {
        "hidden" => word != "right, but secretly wrong\n",
        _ => word.starts_with("right"),
    };
    if passes { Outcome::passes() } else { Outcome::fails(&format!("AssertionError: the word is {word}")) }
}

/// The next call of a worker on [`Setup::standard`]: a plan, a wrong patch, the gates, the right patch, the gates.
#[must_use]
pub fn work(turn: &Turn, base: &str) -> serde_json::Value {
    if !turn.is_planned() {
        return turn.plan(&["AC-1", "AC-2"]);
    }
    if turn.head() == base {
        return turn.explained(&edit(FILE, "undone\n", "wrong\n"));
    }
    if turn.must_explain() {
        return turn.explained(&edit(FILE, "wrong\n", "right\n"));
    }
    turn.gate_once(&turn.next_gate().unwrap_or_else(|| "unit".to_owned()))
}

impl World {
    /// An agent that does the job of [`Setup::standard`], wrongly first. It reads everything that it needs from the
    /// context of its turn, so that it goes on after a crash as if nothing had been.
    #[must_use]
    pub fn worker(&self) -> Arc<SimAgent> {
        let base = self.base_tree.digest().to_string();
        self.agent(move |turn| Reply::Say(work(turn, &base)))
    }

    /// The same, which thinks about every turn for a while.
    #[must_use]
    pub fn thoughtful_worker(&self, while_ms: DurationMs) -> Arc<SimAgent> {
        let base = self.base_tree.digest().to_string();
        self.agent(move |turn| Reply::After(while_ms, Box::new(Reply::Say(work(turn, &base)))))
    }
}
