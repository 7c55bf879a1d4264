use std::fmt;
use std::sync::Arc;

use ambit_ids::{Digest, MicroUsd};
use ambit_redaction::Redactor;

use crate::allowance::ContextAllowance;
use crate::dialogue::Usage;

/// What an answer that used so much costs.
pub type Cost = Arc<dyn Fn(&Usage) -> MicroUsd + Send + Sync>;

/// What an agent is told of its model.
#[derive(Clone)]
pub struct ModelSettings {
    /// The digest of everything that determines which model answers, and how: its name, base URL and parameters.
    pub model: Digest,
    /// The most that one request can cost: [`ContextAllowance::bytes`] tokens of input and
    /// [`max_output_tokens`](Self::max_output_tokens) of output, each at its dearest price.
    pub quote: MicroUsd,
    /// What an answer costs.
    pub cost: Cost,
    /// The most tokens of one answer, reasoning included.
    pub max_output_tokens: u32,
    /// What takes the key of the model out of text.
    pub redactor: Redactor,
    /// How large a request may be.
    pub context: ContextAllowance,
}

impl fmt::Debug for ModelSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelSettings")
            .field("model", &self.model)
            .field("quote", &self.quote)
            .field("max_output_tokens", &self.max_output_tokens)
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}
