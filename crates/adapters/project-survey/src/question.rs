use crate::gate::ProposedGate;
use crate::parts::Parts;

/// Something that could not be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub asks: String,
    /// The answers, the default first; never empty.
    pub choices: Vec<Choice>,
}

/// One answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What people read.
    pub label: String,
    pub(crate) parts: Parts,
}

impl Choice {
    pub(crate) fn of_gate(label: &str, gate: ProposedGate) -> Self {
        Self::of_gates(label, vec![gate])
    }

    pub(crate) fn of_gates(label: &str, gates: Vec<ProposedGate>) -> Self {
        Self { label: label.to_owned(), parts: Parts { gates, ..Parts::default() } }
    }
}

impl Question {
    pub(crate) fn moved_below(self, directory: &str) -> Self {
        let moved = |choice: Choice| Choice { parts: choice.parts.moved_below(directory), ..choice };
        Self { choices: self.choices.into_iter().map(moved).collect(), ..self }
    }
}
