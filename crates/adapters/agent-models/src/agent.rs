use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ambit_ids::{AgentId, Digest, MicroUsd, RunId};
use ambit_ports::AbortSignal;
use ambit_ports::agent::{Agent, AgentAnswer, AgentError, TurnOffer};
use ambit_redaction::Redactor;
use async_trait::async_trait;

use crate::composing::compose;
use crate::dialogue::{CallFailure, Charge, Model};
use crate::history::History;
use crate::prompts::prompts_digest;
use crate::proposing::propose;
use crate::settings::ModelSettings;
use crate::turn_context::TurnContext;

/// Raised with every change, other than of a prompt, of what a model reads or of what becomes of its answers.
const MANNERS: &[u8] = b"ambit-model-agent/1";
/// The answers without a call, in a row, after which a model is asked no more: each is told what was missing, and paid.
const EMPTY_ANSWERS: u32 = 5;
/// The most runs whose conversations are remembered at a time. One that is forgotten goes on from its context alone.
const REMEMBERED_RUNS: usize = 16;

/// An agent that a model answers.
///
/// What a conversation holds is kept in memory alone. A run that another process goes on with, or that was forgotten here,
/// goes on from the context of its turn.
pub struct ModelAgent {
    id: AgentId,
    model: Arc<dyn Model>,
    settings: ModelSettings,
    histories: Mutex<BTreeMap<RunId, History>>,
}

impl ModelAgent {
    /// An agent of this id over a model.
    #[must_use]
    pub fn new(id: AgentId, model: Arc<dyn Model>, settings: ModelSettings) -> Self {
        Self { id, model, settings, histories: Mutex::default() }
    }

    fn histories(&self) -> MutexGuard<'_, BTreeMap<RunId, History>> {
        self.histories.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn recall(&self, run: &RunId) -> History {
        self.histories().remove(run).unwrap_or_default()
    }

    fn remember(&self, run: RunId, history: History) {
        let mut histories = self.histories();
        while histories.len() >= REMEMBERED_RUNS && histories.pop_first().is_some() {}
        histories.insert(run, history);
    }

    /// What a request that got no reply is, with what is owed for it.
    fn failed(&self, failure: CallFailure) -> AgentError {
        let cost = match failure.charge {
            Charge::Nothing => Some(MicroUsd::ZERO),
            Charge::Settled(usage) => Some((self.settings.cost)(&usage)),
            Charge::Unsettled => None,
        };
        AgentError::Failed { code: failure.code.to_owned(), detail: failure.detail, cost }
    }
}

#[async_trait]
impl Agent for ModelAgent {
    fn id(&self) -> &AgentId {
        &self.id
    }

    /// The digest of the prompts, of the model and of the settings.
    fn definition(&self) -> Digest {
        let settings = &self.settings;
        Digest::of_parts(&[
            MANNERS,
            prompts_digest().to_hex().as_bytes(),
            settings.model.to_hex().as_bytes(),
            &settings.max_output_tokens.to_be_bytes(),
            &settings.context.tokens().to_be_bytes(),
        ])
    }

    fn turn_quote(&self) -> MicroUsd {
        self.settings.quote
    }

    fn redactor(&self) -> Redactor {
        self.settings.redactor.clone()
    }

    async fn answer(&self, offer: TurnOffer, abort: AbortSignal) -> Result<AgentAnswer, AgentError> {
        let unasked = |code: &str, detail: String| AgentError::Failed {
            code: code.to_owned(),
            detail,
            cost: Some(MicroUsd::ZERO),
        };
        let mut context: TurnContext = serde_json::from_str(&offer.context)
            .map_err(|error| unasked("MODEL_CONTEXT_UNREADABLE", error.to_string()))?;
        let mut history = self.recall(&offer.run);
        history.hear(std::mem::take(&mut context.since));
        let Some(request) = compose(&mut history, &context, &self.settings) else {
            let detail = format!("the run does not fit into {} bytes", self.settings.context.bytes());
            return Err(unasked("MODEL_CONTEXT_TOO_SMALL", detail));
        };
        let reply = match self.model.complete(request, abort.clone()).await {
            Ok(reply) => reply,
            Err(_) if abort.is_raised() => return Err(AgentError::Aborted),
            Err(failure) => return Err(self.failed(failure)),
        };
        let cost = Some((self.settings.cost)(&reply.usage));
        let proposed = propose(reply, &context, |id| history.has_call(id));
        history.push(proposed.exchange, Digest::of(&proposed.bytes));
        if history.empty_in_a_row() >= EMPTY_ANSWERS {
            let detail = format!("{EMPTY_ANSWERS} answers in a row held no call");
            return Err(AgentError::Failed { code: "MODEL_WITHOUT_CALLS".to_owned(), detail, cost });
        }
        self.remember(offer.run, history);
        Ok(AgentAnswer { bytes: proposed.bytes, cost })
    }
}
