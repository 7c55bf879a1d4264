use std::sync::Arc;

use ambit_ids::{AgentId, Digest, MicroUsd};
use ambit_ports::AbortSignal;
use ambit_ports::agent::{Agent, AgentAnswer, AgentError, TurnOffer};
use ambit_redaction::Redactor;
use ambit_run::AgentPin;
use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::Notify;

pub(crate) type Line = Box<dyn Fn(&Value) -> String + Send + Sync>;

/// Answers line by line what it was given, then finishes or falls silent.
pub(crate) struct Script {
    id: AgentId,
    lines: Vec<Line>,
    falls_silent: bool,
    waits: Option<(usize, Arc<Notify>)>,
}

impl Script {
    pub(crate) fn new(lines: Vec<Line>) -> Self {
        Self { id: AgentId::new("script").unwrap(), lines, falls_silent: false, waits: None }
    }

    pub(crate) fn then_silence(mut self) -> Self {
        self.falls_silent = true;
        self
    }

    /// Says the line at this position only once it is told to.
    pub(crate) fn waiting_before(mut self, position: usize, told: &Arc<Notify>) -> Self {
        self.waits = Some((position, told.clone()));
        self
    }

    pub(crate) fn pin() -> AgentPin {
        AgentPin {
            id: AgentId::new("script").unwrap(),
            definition: Digest::of(b"script"),
            turn_quote: MicroUsd::new(2_000),
        }
    }
}

#[async_trait]
impl Agent for Script {
    fn id(&self) -> &AgentId {
        &self.id
    }

    fn definition(&self) -> Digest {
        Self::pin().definition
    }

    fn turn_quote(&self) -> MicroUsd {
        Self::pin().turn_quote
    }

    fn redactor(&self) -> Redactor {
        Redactor::by_rules()
    }

    async fn answer(&self, offer: TurnOffer, mut abort: AbortSignal) -> Result<AgentAnswer, AgentError> {
        let context: Value = serde_json::from_str(&offer.context).unwrap();
        let position = usize::try_from(context["proposals"].as_u64().unwrap()).unwrap();
        if let Some((_, told)) = self.waits.as_ref().filter(|(before, _)| *before == position) {
            told.notified().await;
        }
        match self.lines.get(position) {
            Some(line) => {
                let bytes = line(&context).into_bytes();
                Ok(AgentAnswer { bytes, cost: Some(MicroUsd::new(700)) })
            }
            None if self.falls_silent => {
                abort.raised().await;
                Err(AgentError::Aborted)
            }
            None => Err(AgentError::Finished),
        }
    }
}
