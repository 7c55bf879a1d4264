//! How large a request may be.

use crate::dialogue::{CallArguments, Message, ModelCall, ModelRequest};

/// What a vendor may put around the whole of a request, and around each message, call, result and tool of it, in bytes.
const AROUND_ALL: usize = 2048;
const AROUND_EACH: usize = 64;
/// Bytes that are counted as one token, rounded up. Text of any kind has more bytes a token than this on the average.
const BYTES_A_TOKEN: usize = 3;

/// How much of a model's context a request may take.
///
/// Budgeted in tokens by an estimate, three bytes each; bounded in bytes, which are certain. No tokenizer makes more tokens
/// than there are bytes, so a price for [`bytes`](Self::bytes) tokens of input is a true upper bound of any request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextAllowance {
    tokens: u32,
}

/// Why an allowance is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found} tokens of context are too few for a run; it takes at least {least}", least = ContextAllowance::LEAST_TOKENS)]
pub struct AllowanceTooSmall {
    /// The tokens that were given.
    pub found: u32,
}

impl AllowanceTooSmall {
    /// The stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        "MODEL_CONTEXT_TOO_SMALL"
    }
}

impl ContextAllowance {
    /// The fewest tokens with which a run can be told what it is about.
    pub const LEAST_TOKENS: u32 = 20_000;

    /// An allowance of so many tokens, by the estimate.
    ///
    /// # Errors
    /// [`AllowanceTooSmall`] below [`LEAST_TOKENS`](Self::LEAST_TOKENS).
    pub const fn of_tokens(tokens: u32) -> Result<Self, AllowanceTooSmall> {
        if tokens < Self::LEAST_TOKENS {
            return Err(AllowanceTooSmall { found: tokens });
        }
        Ok(Self { tokens })
    }

    /// The tokens.
    #[must_use]
    pub const fn tokens(self) -> u32 {
        self.tokens
    }

    /// The most bytes of a request, as [`request_bytes`] counts them.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.tokens as usize * BYTES_A_TOKEN
    }

    /// A part of the bytes: one of `parts`.
    pub(crate) const fn share(self, parts: usize) -> usize {
        self.bytes() / parts
    }
}

/// The size of a request in bytes: its texts, and what vendors may put around them.
#[must_use]
pub fn request_bytes(request: &ModelRequest) -> usize {
    let tools: usize = request
        .tools
        .iter()
        .map(|tool| AROUND_EACH + tool.name.len() + tool.description.len() + tool.schema.to_string().len())
        .sum();
    AROUND_ALL + request.system.len() + tools + messages_bytes(&request.messages)
}

/// The part of it that messages are.
pub(crate) fn messages_bytes(messages: &[Message]) -> usize {
    messages.iter().map(message_bytes).sum()
}

fn message_bytes(message: &Message) -> usize {
    AROUND_EACH
        + match message {
            Message::User(text) => text.len(),
            Message::Assistant { text, calls } => text.len() + calls.iter().map(call_bytes).sum::<usize>(),
            Message::ToolResults(results) => {
                results.iter().map(|result| AROUND_EACH + result.call.len() + result.content.len()).sum()
            }
        }
}

fn call_bytes(call: &ModelCall) -> usize {
    let arguments = match &call.arguments {
        CallArguments::Object(members) => {
            // What is written twice as text, once in the other, has its escapes escaped.
            serde_json::to_string(members).map_or(0, |text| text.len() + escapes(&text))
        }
        CallArguments::Unreadable(text) => text.len() + escapes(text),
    };
    AROUND_EACH + call.id.len() + call.name.len() + arguments
}

fn escapes(text: &str) -> usize {
    text.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count()
}
