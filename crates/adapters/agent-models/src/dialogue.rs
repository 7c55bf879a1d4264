//! What a model is asked and what it answers, in no vendor's words.

use ambit_ports::AbortSignal;
use async_trait::async_trait;
use serde_json::{Map, Value};

/// A model behind a wire.
#[async_trait]
pub trait Model: Send + Sync {
    /// Asks once. What was certainly not charged may be tried again inside; anything else MUST NOT be.
    async fn complete(&self, request: ModelRequest, abort: AbortSignal) -> Result<ModelReply, CallFailure>;
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// The instructions.
    pub system: String,
    /// The conversation so far. It begins with the user and ends with the user or with results.
    pub messages: Vec<Message>,
    /// What the model may call.
    pub tools: Vec<ToolSpec>,
    /// The most tokens of the answer, reasoning included.
    pub max_output_tokens: u32,
}

/// A part of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// What the platform says.
    User(String),
    /// What the model said. Reasoning is no part of it: it was dropped when it was read.
    Assistant {
        /// Its words; may be empty.
        text: String,
        /// Its calls.
        calls: Vec<ModelCall>,
    },
    /// What came of the calls of the message before, every one of them once.
    ToolResults(Vec<ToolResult>),
}

/// A call that a model made.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCall {
    /// The vendor's id, or one that was made where the vendor gave none.
    pub id: String,
    /// The tool, as the model spelled it.
    pub name: String,
    /// The arguments.
    pub arguments: CallArguments,
}

/// The arguments of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallArguments {
    /// An object.
    Object(Map<String, Value>),
    /// Text that is no JSON object, as it came.
    Unreadable(String),
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The id of the call.
    pub call: String,
    /// What the model gets to read.
    pub content: String,
    /// Whether the call had no effect.
    pub is_error: bool,
}

/// A tool, as a model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name, of `[a-z_]`.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its input, an object without additional properties.
    pub schema: Value,
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelReply {
    /// Its words; may be empty.
    pub text: String,
    /// Its calls, in order.
    pub calls: Vec<ModelCall>,
    /// Why it ended.
    pub stop: StopCause,
    /// What it used, exactly as the vendor counted.
    pub usage: Usage,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopCause {
    /// It had nothing more to say.
    Done,
    /// It made calls.
    Calls,
    /// The limit of output was reached: what is there may be cut off.
    Length,
    /// It refused, or a filter of the vendor did.
    Refused,
}

/// Tokens of one call, each counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input that was neither read from nor written to a cache.
    pub input_tokens: u64,
    /// Input that was read from a cache.
    pub cache_read_tokens: u64,
    /// Input that was written to a cache.
    pub cache_write_tokens: u64,
    /// Output, reasoning included.
    pub output_tokens: u64,
    /// The part of the output that was reasoning, where the vendor tells.
    pub reasoning_tokens: u64,
}

/// Why there is no reply, and what it cost.
#[derive(Debug, thiserror::Error)]
#[error("{detail} ({code})")]
pub struct CallFailure {
    /// The stable code, `MODEL_...`.
    pub code: &'static str,
    /// What happened, for people. Holds no key and no content of an answer.
    pub detail: String,
    /// What is owed.
    pub charge: Charge,
}

/// What is owed for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// Nothing: the vendor did not take the request, or says so.
    Nothing,
    /// This much.
    Settled(Usage),
    /// Nobody can tell. The call is charged at its reservation.
    Unsettled,
}
