use ambit_ids::{AgentId, Digest, MicroUsd};
use ambit_ports::AbortSignal;
use ambit_ports::agent::{Agent, AgentAnswer, AgentError, TurnOffer};
use ambit_redaction::Redactor;
use ambit_run::AgentPin;
use async_trait::async_trait;

/// Stands in the place of an agent that is not there, while a run is seen to its end. It proposes nothing.
pub(crate) struct Absent(AgentPin);

impl Absent {
    pub(crate) const fn in_place_of(agent: AgentPin) -> Self {
        Self(agent)
    }
}

#[async_trait]
impl Agent for Absent {
    fn id(&self) -> &AgentId {
        &self.0.id
    }

    fn definition(&self) -> Digest {
        self.0.definition
    }

    fn turn_quote(&self) -> MicroUsd {
        MicroUsd::ZERO
    }

    fn redactor(&self) -> Redactor {
        Redactor::by_rules()
    }

    async fn answer(&self, _: TurnOffer, mut abort: AbortSignal) -> Result<AgentAnswer, AgentError> {
        abort.raised().await;
        Err(AgentError::Aborted)
    }
}
