use ambit_gates::Ending;
use ambit_ids::Digest;
use ambit_run::{Dossier, Stage, State};
use serde::Serialize;

/// Where a gate stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GateView {
    /// The gate.
    pub gate: String,
    /// `not-run`, `passed`, `failed` or `flaky`, on the current tree.
    pub status: String,
    /// Whether it runs now.
    pub running: bool,
    /// Every execution of it, oldest first; none is ever taken away.
    pub attempts: Vec<AttemptView>,
}

/// One execution of a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptView {
    /// Which one, counted from 1.
    pub attempt: u32,
    /// The digest of the tree that it ran on.
    pub tree: Digest,
    /// How it ended, in a few words.
    pub ended: String,
    /// Whether it passed.
    pub passed: bool,
    /// The digest of everything that was seen.
    pub artifact: Digest,
    /// From start to end, in milliseconds.
    pub duration_ms: u64,
}

/// Every gate of a run, from cheap to dear, with its executions.
pub(super) fn gate_views(state: &State, dossier: &Dossier) -> Vec<GateView> {
    let running = match state {
        State::Open(open) => match &open.stage {
            Stage::Call(flight) => match &flight.call {
                ambit_run::ToolCall::RunNamedGate { gate_id, .. } => Some(gate_id),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    dossier
        .pins
        .gates
        .iter()
        .map(|pin| GateView {
            gate: pin.id.to_string(),
            status: dossier.gates.status(&pin.id, dossier.head).as_str().to_owned(),
            running: running == Some(&pin.id),
            attempts: dossier
                .gates
                .records()
                .iter()
                .filter(|record| record.gate == pin.id)
                .map(|record| AttemptView {
                    attempt: record.attempt,
                    tree: record.tree,
                    ended: ended(record.ending),
                    passed: record.ending.is_success(),
                    artifact: record.artifact,
                    duration_ms: record.duration.get(),
                })
                .collect(),
        })
        .collect()
}

/// How an execution ended, in a few words.
#[must_use]
pub fn ended(ending: Ending) -> String {
    match ending {
        Ending::Exited { code: 0 } => "passed".to_owned(),
        Ending::Exited { code } => format!("exit {code}"),
        Ending::Signalled { signal } => format!("signal {signal}"),
        Ending::LimitReached { limit } => format!("{} limit", limit.as_str()),
        Ending::Aborted => "aborted".to_owned(),
        Ending::NotStarted { why } => format!("not started: {why:?}").to_lowercase(),
        Ending::Indeterminate => "indeterminate".to_owned(),
    }
}
