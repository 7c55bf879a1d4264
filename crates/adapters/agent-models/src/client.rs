use std::sync::Arc;

use ambit_ids::{DurationMs, MicroUsd};
use ambit_ports::AbortSignal;
use ambit_ports::runtime::{Clock, Entropy};
use ambit_redaction::Redactor;
use async_trait::async_trait;

use crate::attempt::{Attempt, Channel, Outcome};
use crate::bound;
use crate::cassette::{Cassette, Tape};
use crate::dialogue::{CallFailure, Charge, Model, ModelReply, ModelRequest, Usage};
use crate::document::ModelAgentDocument;
use crate::error::ModelAgentError;
use crate::http::Connection;
use crate::key::Secret;
use crate::ledger::TokenLedger;
use crate::limits::ATTEMPTS;
use crate::price::Pricing;
use crate::redact;
use crate::retry;

/// The model of one run, behind the wire that its document names.
///
/// A call is asked again at most four times, with waits in between, and only where it is certain that nothing was
/// charged: there was no connection, or the status was 429, 503 or 529. Every other failure is told at once, with what is
/// owed for it.
pub struct Client {
    document: ModelAgentDocument,
    pricing: Pricing,
    channel: Channel,
    key: Option<Secret>,
    tape: Option<Tape>,
    tokens: TokenLedger,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("document", &self.document)
            .field("pricing", &self.pricing)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// A client that speaks to the model of `document`. Nothing is sent yet.
    ///
    /// `environment` answers variables by name and is asked for nothing but the key. `clock` says which day's prices hold
    /// and waits between attempts; `entropy` is the chance in those waits. `turns_before` are the turns that the run has
    /// had before this client: each is counted against the token cap at its full bound.
    ///
    /// # Errors
    /// [`ModelAgentError`] where there is no key, no price or no way to connect.
    pub fn new(
        document: ModelAgentDocument,
        environment: &dyn Fn(&str) -> Option<String>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        turns_before: u32,
    ) -> Result<Self, ModelAgentError> {
        let key = document.key().resolve(environment)?;
        let connection = Connection::new(&document)?;
        Self::over(document, Channel::Live(connection), key, clock, entropy, turns_before)
    }

    /// A client that is answered from a cassette, one exchange for each attempt, whatever it asks. It has no key and opens
    /// no connection.
    ///
    /// # Errors
    /// [`ModelAgentError::PriceUnknown`].
    pub fn replaying(
        document: ModelAgentDocument,
        cassette: Cassette,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, ModelAgentError> {
        Self::over(document, Channel::Replay(Tape::holding(cassette)), None, clock, entropy, 0)
    }

    fn over(
        document: ModelAgentDocument,
        channel: Channel,
        key: Option<Secret>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        turns_before: u32,
    ) -> Result<Self, ModelAgentError> {
        let pricing = document.pricing(clock.now())?;
        let turn = document.request_bound_tokens() + u64::from(document.max_output_tokens());
        let tokens = TokenLedger::new(document.token_cap(), turn.saturating_mul(u64::from(turns_before)));
        Ok(Self { document, pricing, channel, key, tape: None, tokens, clock, entropy })
    }

    /// The same client, taking down every exchange from now on.
    #[must_use]
    pub fn recording(mut self) -> Self {
        self.tape = Some(Tape::default());
        self
    }

    /// What was taken down so far, scrubbed of the key and of ids of whoever pays.
    #[must_use]
    pub fn cassette(&self) -> Cassette {
        self.tape.as_ref().map(Tape::cassette).unwrap_or_default()
    }

    /// The document.
    #[must_use]
    pub const fn document(&self) -> &ModelAgentDocument {
        &self.document
    }

    /// The most that one call can cost: what is to be reserved for it. Nothing where no price is known.
    #[must_use]
    pub fn call_quote(&self) -> MicroUsd {
        self.pricing.quote(self.document.request_bound_tokens(), self.document.max_output_tokens().into())
    }

    /// What is known of the price of a call.
    #[must_use]
    pub const fn pricing(&self) -> Pricing {
        self.pricing
    }

    /// What takes the key out of text.
    #[must_use]
    pub fn redactor(&self) -> Redactor {
        Redactor::knowing(self.key.iter().map(Secret::expose))
    }

    /// What a call of this usage cost; `None` where no price is known.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Option<MicroUsd> {
        self.pricing.cost(usage)
    }

    fn check(&self, request: &ModelRequest) -> Result<u64, CallFailure> {
        let (input, most) = (bound::input_tokens(request), self.document.request_bound_tokens());
        if input > most || request.max_output_tokens > self.document.max_output_tokens() {
            return Err(unsent(
                "MODEL_REQUEST_TOO_LARGE",
                format!(
                    "the request may have {input} tokens of {most} and asks for {} of {}: raise `contextTokens` or \
                     `maxOutputTokens`",
                    request.max_output_tokens,
                    self.document.max_output_tokens()
                ),
            ));
        }
        let bound = input + u64::from(request.max_output_tokens);
        if self.tokens.reserve(bound) {
            return Ok(bound);
        }
        Err(unsent(
            "MODEL_TOKEN_CAP",
            format!("a call of up to {bound} tokens would pass the token cap of the run: raise `tokenCap`"),
        ))
    }

    async fn attempts(&self, body: &[u8], abort: &mut AbortSignal) -> Result<ModelReply, CallFailure> {
        let mut number = 1;
        loop {
            if abort.is_raised() {
                return Err(aborted(Charge::Nothing));
            }
            let attempt = Attempt {
                channel: &self.channel,
                wire: self.document.wire(),
                key: self.key.as_ref(),
                stream: self.document.streams(),
                tape: self.tape.as_ref(),
                body,
                now: self.clock.now(),
            };
            let outcome = tokio::select! {
                biased;
                () = abort.raised() => return Err(aborted(Charge::Unsettled)),
                outcome = attempt.make() => outcome,
            };
            let (failure, after) = match outcome {
                Outcome::Ended(ended) => return ended,
                Outcome::Again(failure, after) => (failure, after),
            };
            number += 1;
            if number > ATTEMPTS {
                return Err(failure);
            }
            let wait = DurationMs::new(retry::wait_ms(number, after, self.entropy.as_ref()));
            let moment = self.clock.now().saturating_add(wait);
            tokio::select! {
                biased;
                () = abort.raised() => return Err(aborted(Charge::Nothing)),
                () = self.clock.sleep_until(moment) => {}
            }
        }
    }
}

#[async_trait]
impl Model for Client {
    async fn complete(
        &self,
        request: ModelRequest,
        mut abort: AbortSignal,
    ) -> Result<ModelReply, CallFailure> {
        let bound = self.check(&request)?;
        let body = self.document.wire().encode(&self.document.manner(), &request).to_string().into_bytes();
        let mut outcome = self.attempts(&body, &mut abort).await;
        let used = match &outcome {
            Ok(reply) => Some(total(&reply.usage)),
            Err(CallFailure { charge: Charge::Settled(usage), .. }) => Some(total(usage)),
            Err(CallFailure { charge: Charge::Nothing, .. }) => Some(0),
            Err(CallFailure { charge: Charge::Unsettled, .. }) => None,
        };
        if let Some(used) = used {
            self.tokens.settle(bound, used);
        }
        if let Some(key) = &self.key {
            match &mut outcome {
                Ok(reply) => redact::reply(reply, key.expose()),
                Err(failure) => redact::text(&mut failure.detail, key.expose()),
            }
        }
        outcome
    }
}

fn total(usage: &Usage) -> u64 {
    usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens
}

fn unsent(code: &'static str, detail: String) -> CallFailure {
    CallFailure { code, detail, charge: Charge::Nothing }
}

fn aborted(charge: Charge) -> CallFailure {
    CallFailure { code: "MODEL_ABORTED", detail: "the call was aborted".to_owned(), charge }
}
