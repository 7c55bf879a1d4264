//! What each vendor's wire looks like: how a request is written and how an answer is read. No bytes move here.

mod anthropic_messages;
mod decoder;
mod draft;
mod fault;
mod json;
mod openai_chat;
mod openai_responses;
mod openai_usage;
mod sse;

#[cfg(test)]
mod tests;

use ambit_ids::vocabulary;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use decoder::Decoder;
pub(crate) use fault::{Fault, error_of, told, vendor_code};
pub(crate) use json::parse;
pub(crate) use sse::{Events, Flow};

use crate::dialogue::{ModelReply, ModelRequest};

vocabulary!(
    /// A wire.
    Wire {
        /// Anthropic Messages: `POST {base}/v1/messages`, API version 2023-06-01.
        AnthropicMessages = "anthropic-messages",
        /// OpenAI Responses without state at the vendor: `POST {base}/v1/responses`.
        OpenaiResponses = "openai-responses",
        /// OpenAI Chat Completions, which Ollama, vLLM and OpenRouter speak too: `POST {base}/v1/chat/completions`.
        OpenaiChat = "openai-chat",
    }
);

/// The name under which Chat Completions takes the limit of output. OpenAI's own models of today take only the second,
/// some servers only the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OutputLimitName {
    MaxTokens,
    MaxCompletionTokens,
}

/// How requests are put, the same for every call of an agent.
#[derive(Clone, Debug)]
pub(crate) struct Manner {
    pub(crate) model: String,
    pub(crate) stream: bool,
    pub(crate) output_limit: OutputLimitName,
}

/// Reads the events of a stream.
trait EventReader: Send {
    /// Takes the data of one event.
    fn event(&mut self, data: &[u8]) -> Result<Flow, Fault>;

    /// The answer, once the stream has ended.
    fn finish(self: Box<Self>) -> Result<ModelReply, Fault>;
}

impl Wire {
    /// The path below `/v1`.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "messages",
            Self::OpenaiResponses => "responses",
            Self::OpenaiChat => "chat/completions",
        }
    }

    /// The body of a request.
    pub(crate) fn encode(self, manner: &Manner, request: &ModelRequest) -> Value {
        match self {
            Self::AnthropicMessages => anthropic_messages::encode(manner, request),
            Self::OpenaiResponses => openai_responses::encode(manner, request),
            Self::OpenaiChat => openai_chat::encode(manner, request),
        }
    }

    fn whole(self, body: &Value) -> Result<ModelReply, Fault> {
        if let Some(error) = error_of(body) {
            let used = match self {
                Self::OpenaiResponses => openai_responses::usage_of(body).ok(),
                Self::AnthropicMessages | Self::OpenaiChat => None,
            };
            return Err(Fault::vendor(error).settled(used));
        }
        match self {
            Self::AnthropicMessages => anthropic_messages::whole(body),
            Self::OpenaiResponses => openai_responses::whole(body),
            Self::OpenaiChat => openai_chat::whole(body),
        }
    }

    fn events(self) -> Box<dyn EventReader> {
        match self {
            Self::AnthropicMessages => Box::<anthropic_messages::Reader>::default(),
            Self::OpenaiResponses => Box::<openai_responses::Reader>::default(),
            Self::OpenaiChat => Box::<openai_chat::Reader>::default(),
        }
    }
}
