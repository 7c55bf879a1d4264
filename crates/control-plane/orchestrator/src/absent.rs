use ambit_ids::{AgentId, MicroUsd};
use ambit_ports::AbortSignal;
use ambit_ports::agent::{Agent, AgentAnswer, AgentError, TurnOffer};
use async_trait::async_trait;

/// Stands in the place of an agent that is not there, while a run is seen to its end. It proposes nothing.
pub(crate) struct Absent(AgentId);

impl Absent {
    pub(crate) const fn in_place_of(agent: AgentId) -> Self {
        Self(agent)
    }
}

#[async_trait]
impl Agent for Absent {
    fn id(&self) -> &AgentId {
        &self.0
    }

    fn turn_quote(&self) -> MicroUsd {
        MicroUsd::ZERO
    }

    async fn answer(&self, _: TurnOffer, mut abort: AbortSignal) -> Result<AgentAnswer, AgentError> {
        abort.raised().await;
        Err(AgentError::Aborted)
    }
}
