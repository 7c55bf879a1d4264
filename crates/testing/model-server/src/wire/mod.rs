//! The three wires: what a request must be, and what an answer looks like.

mod chat;
mod chat_check;
mod check;
mod messages;
mod messages_check;
mod openai;
mod responses;
mod responses_check;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::Answer;
use check::Headers;
pub(crate) use check::{Asked, DeclaredTool, MayCall, Rejection};

/// A vendor's way to speak with a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// Anthropic Messages, `POST /v1/messages`.
    Messages,
    /// OpenAI Responses, `POST /v1/responses`.
    Responses,
    /// OpenAI Chat Completions, `POST /v1/chat/completions`, spoken by many others.
    Chat,
}

/// One event of a stream.
pub(crate) struct Event {
    name: Option<&'static str>,
    data: String,
}

impl Event {
    fn named(name: &'static str, data: &Value) -> Self {
        Self { name: Some(name), data: data.to_string() }
    }

    fn unnamed(data: &Value) -> Self {
        Self { name: None, data: data.to_string() }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let name = self.name.map(|name| format!("event: {name}\n")).unwrap_or_default();
        format!("{name}data: {}\n\n", self.data).into_bytes()
    }
}

/// Few enough for an event to be small, and enough for a client to have had its fill before long.
fn filler_words() -> String {
    "and so on ".repeat(40)
}

impl Wire {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Messages, Self::Responses, Self::Chat];

    /// The path that it is spoken at.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Messages => "/v1/messages",
            Self::Responses => "/v1/responses",
            Self::Chat => "/v1/chat/completions",
        }
    }

    /// The wire of this name, as it stands in a bill.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "messages" | "anthropic" => Some(Self::Messages),
            "responses" => Some(Self::Responses),
            "chat" => Some(Self::Chat),
            _ => None,
        }
    }

    /// The header that names the request in an answer.
    pub(crate) fn request_id_header(self) -> &'static str {
        match self {
            Self::Messages => "request-id",
            Self::Responses | Self::Chat => "x-request-id",
        }
    }

    pub(crate) fn call_id(self, number: u64, index: usize) -> String {
        match self {
            Self::Messages => format!("toolu_{number:08}{index:04}"),
            Self::Responses | Self::Chat => format!("call_{number:08}{index:04}"),
        }
    }

    /// What the vendor looks at before it reads the body.
    pub(crate) fn check_headers(self, headers: &Headers, key: Option<&str>) -> Result<(), Rejection> {
        match self {
            Self::Messages => messages_check::headers(headers, key),
            Self::Responses | Self::Chat => openai::check_headers(headers, key),
        }
    }

    pub(crate) fn check(self, body: &Value) -> Result<Asked, Rejection> {
        match self {
            Self::Messages => messages_check::check(body),
            Self::Responses => responses_check::check(body),
            Self::Chat => chat_check::check(body),
        }
    }

    /// The vendor's error with this status.
    pub(crate) fn error(self, rejection: &Rejection, number: u64) -> Value {
        match self {
            Self::Messages => messages::error(rejection, number),
            Self::Responses | Self::Chat => openai::error(rejection),
        }
    }

    pub(crate) fn whole(self, answer: &Answer, body: &Value) -> Value {
        match self {
            Self::Messages => messages::whole(answer),
            Self::Responses => responses::whole(answer, body),
            Self::Chat => chat::whole(answer),
        }
    }

    /// The answer as events; `asked` says whether the usage was asked for.
    pub(crate) fn events(self, answer: &Answer, body: &Value, asked: &Asked) -> Vec<Event> {
        match self {
            Self::Messages => messages::events(answer),
            Self::Responses => responses::events(answer, body),
            Self::Chat => chat::events(answer, asked.wants_usage),
        }
    }

    /// The error that a stream brings in the place of its event `index`.
    pub(crate) fn error_event(self, number: u64, index: usize) -> Event {
        match self {
            Self::Messages => {
                let overloaded = Rejection::new(529, "Overloaded");
                Event::named("error", &messages::error(&overloaded, number))
            }
            Self::Responses => responses::error_event(index),
            Self::Chat => Event::unnamed(&openai::error(&Rejection::new(500, "The server had an error."))),
        }
    }

    /// The events of a stream before the first words of a text.
    pub(crate) fn opening_events(self) -> usize {
        match self {
            Self::Messages => 3,
            Self::Responses => 4,
            Self::Chat => 1,
        }
    }

    /// One more piece of text in a stream that does not end.
    pub(crate) fn filler_event(self, number: u64, index: usize) -> Event {
        match self {
            Self::Messages => messages::filler_event(),
            Self::Responses => responses::filler_event(number, index),
            Self::Chat => chat::filler_event(number),
        }
    }
}
