//! Whoever answers the turns of a run.

use std::sync::Arc;

use ambit_ids::{AgentId, Digest, MicroUsd, RunId};
use ambit_redaction::Redactor;
use async_trait::async_trait;

use crate::AbortSignal;

/// An agent.
///
/// It only ever proposes. Whatever it answers is untrusted bytes until it was read against the schema of the tools; an
/// agent holds no store, no broker, no sandbox and no credential of this system.
#[async_trait]
pub trait Agent: Send + Sync {
    /// Who it is.
    fn id(&self) -> &AgentId;

    /// The digest of everything that determines what it answers and that can be known beforehand: its transcript, or its
    /// prompts, model and settings. A run is pinned to it, and is driven by no agent of another one.
    fn definition(&self) -> Digest;

    /// The most that one turn can cost: what is reserved before it is asked.
    fn turn_quote(&self) -> MicroUsd;

    /// What takes the keys that it holds out of whatever a run keeps or tells; the rules alone where it holds none.
    fn redactor(&self) -> Redactor;

    /// Answers one turn. MUST end soon after the signal is raised.
    async fn answer(&self, offer: TurnOffer, abort: AbortSignal) -> Result<AgentAnswer, AgentError>;
}

/// One open turn of a run.
#[derive(Clone, Debug)]
pub struct TurnOffer {
    /// The run.
    pub run: RunId,
    /// The turn, counted from 1.
    pub turn: u32,
    /// What is known so far, as the text that the agent reads: a JSON object.
    pub context: Arc<str>,
}

/// What an agent answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentAnswer {
    /// Its words, as they came.
    pub bytes: Vec<u8>,
    /// What the turn cost. `None` where nobody can tell: the turn is then charged at its reservation.
    pub cost: Option<MicroUsd>,
}

impl AgentError {
    /// A failure of which nothing is known but what happened: the turn is charged at its reservation.
    #[must_use]
    pub fn unsettled(detail: impl Into<String>) -> Self {
        Self::Failed { code: "AGENT_FAILED".to_owned(), detail: detail.into(), cost: None }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// It has nothing more to propose.
    #[error("the agent has nothing more to propose")]
    Finished,
    /// The signal was raised first.
    #[error("the turn was aborted")]
    Aborted,
    /// It cannot be reached or answered what cannot be read as an answer at all.
    #[error("the agent failed: {detail} ({code})")]
    Failed {
        /// The stable code, which the run records as why it ended. `AGENT_FAILED` where nothing closer is known.
        code: String,
        /// What happened, for people. Never recorded: it may hold words of others.
        detail: String,
        /// What the failed turn cost. `None` where nobody can tell: it is then charged at its reservation.
        cost: Option<MicroUsd>,
    },
}
