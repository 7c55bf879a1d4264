//! An agent that follows a transcript: for demonstrations, and for the proof that nothing which an agent can say has an
//! effect that was not decided outside of it.
//!
//! A transcript says turn by turn what the agent answers, and how it goes on when the turns are used up: it finishes,
//! falls silent, or misbehaves in one of several ways. It asserts nothing itself.

#![forbid(unsafe_code)]

mod conduct;
mod fill;
mod schema;
mod transcript;

use ambit_ids::{AgentId, Digest, MicroUsd};
use ambit_ports::AbortSignal;
use ambit_ports::agent::{Agent, AgentAnswer, AgentError, TurnOffer};
use ambit_redaction::Redactor;
use async_trait::async_trait;
use serde_json::Value;

pub use schema::{KIND, schema};
use transcript::Line;
pub use transcript::{Conduct, Transcript, TranscriptError};

/// An agent that follows a transcript.
#[derive(Debug)]
pub struct ScriptedAgent {
    id: AgentId,
    transcript: Transcript,
}

impl ScriptedAgent {
    /// An agent over a transcript. Its id is `scripted` with the transcript's name.
    ///
    /// # Errors
    /// [`TranscriptError::Name`] where the transcript's name makes no id.
    pub fn new(transcript: Transcript) -> Result<Self, TranscriptError> {
        let id = AgentId::new(format!("scripted.{}", transcript.name()))
            .map_err(|_| TranscriptError::Name(transcript.name().to_owned()))?;
        Ok(Self { id, transcript })
    }
}

#[async_trait]
impl Agent for ScriptedAgent {
    fn id(&self) -> &AgentId {
        &self.id
    }

    /// The digest of the transcript, patches included.
    fn definition(&self) -> Digest {
        self.transcript.digest()
    }

    fn turn_quote(&self) -> MicroUsd {
        self.transcript.turn_quote()
    }

    fn redactor(&self) -> Redactor {
        Redactor::by_rules()
    }

    async fn answer(&self, offer: TurnOffer, mut abort: AbortSignal) -> Result<AgentAnswer, AgentError> {
        let context: Value = serde_json::from_str(&offer.context)
            .map_err(|error| AgentError::unsettled(format!("the context is no JSON: {error}")))?;
        let position = context.get("proposals").and_then(Value::as_u64).unwrap_or_default();
        let line = self.transcript.line(position);
        let answer = match line {
            Some(Line::Silent) => {
                abort.raised().await;
                return Err(AgentError::Aborted);
            }
            Some(Line::Text { text, cost }) => AgentAnswer { bytes: text.into_bytes(), cost },
            Some(Line::Say { value, cost }) => {
                AgentAnswer { bytes: fill::fill(&value, &context).to_string().into_bytes(), cost }
            }
            None => return conduct::go_on(self.transcript.then(), position, &context, &mut abort).await,
        };
        Ok(answer)
    }
}
