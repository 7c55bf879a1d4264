use std::sync::{Arc, Mutex, PoisonError};

use ambit_ids::{AgentId, Digest, DurationMs, MicroUsd};
use ambit_ports::AbortSignal;
use ambit_ports::agent::{Agent, AgentAnswer, AgentError, TurnOffer};
use ambit_redaction::Redactor;
use ambit_run::AgentPin;
use async_trait::async_trait;
use serde_json::Value;

use crate::{Cut, Faults, SimClock, Turn, World};

/// What an agent does with a turn.
#[derive(Clone, Debug)]
pub enum Reply {
    /// It proposes this, for nothing.
    Say(Value),
    /// It proposes this at that cost; `None` where nobody can tell.
    Priced(Value, Option<MicroUsd>),
    /// It answers this text, whatever it is.
    Text(String),
    /// It has nothing more to propose.
    Finished,
    /// It says nothing until it is aborted.
    Silent,
    /// It says nothing, not even when it is aborted.
    Deaf,
    /// It cannot be reached.
    Unreachable,
    /// It does this after a while.
    After(DurationMs, Box<Self>),
}

type Answer = dyn Fn(&Turn) -> Reply + Send + Sync;

/// An agent that a closure is. It outlives every control plane of its world, as somebody else's process would, and
/// remembers everything that it was told.
pub struct SimAgent {
    id: AgentId,
    quote: MicroUsd,
    clock: SimClock,
    faults: Faults,
    answer: Box<Answer>,
    told: Mutex<Vec<Value>>,
}

impl World {
    /// An agent whose turns cost at most a tenth of a cent.
    pub fn agent(&self, answer: impl Fn(&Turn) -> Reply + Send + Sync + 'static) -> Arc<SimAgent> {
        Arc::new(SimAgent {
            id: AgentId::new("simulated").unwrap(),
            quote: MicroUsd::new(1_000),
            clock: self.clock,
            faults: self.faults.clone(),
            answer: Box::new(answer),
            told: Mutex::default(),
        })
    }

    /// An agent that proposes these, one a turn, and is then finished. After a crash it goes on where the run is.
    pub fn script<const N: usize>(&self, calls: [fn(&Turn) -> Value; N]) -> Arc<SimAgent> {
        self.agent(move |turn| {
            calls.get(turn.proposals()).map_or(Reply::Finished, |call| Reply::Say(call(turn)))
        })
    }
}

impl SimAgent {
    /// What a run is pinned to that this agent shall answer.
    #[must_use]
    pub fn pin(&self) -> AgentPin {
        AgentPin { id: self.id.clone(), definition: self.definition(), turn_quote: self.quote }
    }

    /// Everything that it was told, turn by turn.
    #[must_use]
    pub fn told(&self) -> Vec<Value> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What it was told in every turn of the call before.
    #[must_use]
    pub fn heard(&self) -> Vec<Value> {
        self.told().into_iter().map(|mut context| context["last"].take()).collect()
    }
}

#[async_trait]
impl Agent for SimAgent {
    fn id(&self) -> &AgentId {
        &self.id
    }

    fn definition(&self) -> Digest {
        Digest::of(self.id.as_str().as_bytes())
    }

    fn turn_quote(&self) -> MicroUsd {
        self.quote
    }

    fn redactor(&self) -> Redactor {
        Redactor::by_rules()
    }

    async fn answer(&self, offer: TurnOffer, mut abort: AbortSignal) -> Result<AgentAnswer, AgentError> {
        if self.faults.pass(Cut::AgentAsked).await.is_some() {
            return Err(AgentError::unsettled("planned"));
        }
        let context: Value = serde_json::from_str(&offer.context).unwrap();
        self.told.lock().unwrap_or_else(PoisonError::into_inner).push(context.clone());
        let mut reply = (self.answer)(&Turn::new(context));
        while let Reply::After(pause, next) = reply {
            self.clock.pass(pause).await;
            reply = *next;
        }
        let (value, cost) = match reply {
            Reply::Say(value) => (value.to_string(), Some(MicroUsd::ZERO)),
            Reply::Priced(value, cost) => (value.to_string(), cost),
            Reply::Text(text) => (text, Some(MicroUsd::ZERO)),
            Reply::Finished => return Err(AgentError::Finished),
            Reply::Unreachable => return Err(AgentError::unsettled("planned")),
            Reply::Silent => {
                abort.raised().await;
                return Err(AgentError::Aborted);
            }
            // What was to come after a while has come.
            Reply::Deaf | Reply::After(..) => std::future::pending().await,
        };
        self.faults.pass(Cut::AgentAnswered).await;
        Ok(AgentAnswer { bytes: value.into_bytes(), cost })
    }
}
