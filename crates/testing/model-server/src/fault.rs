//! What can go wrong with an answer, each by the name that a script gives it.

use serde::{Deserialize, Serialize};

/// One way in which an answer goes wrong. In a script a fault without a size is its name, one with a size is
/// `{name: {size: n}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// 429 that does not say when to come back.
    RateLimited,
    /// 429 with `retry-after`.
    RateLimitedFor {
        /// What the header says.
        seconds: u32,
    },
    /// 529, as a vendor answers that has no room.
    Overloaded,
    /// 503.
    Unavailable,
    /// 500.
    ServerError,
    /// 302 to another path of this server.
    Redirect302,
    /// 307 to another path of this server.
    Redirect307,
    /// 200 whose body is the vendor's error.
    ErrorBody,
    /// The connection is reset; where the turn is already known from its place, before the body is read.
    Reset,
    /// The connection is closed in order, without an answer.
    Close,
    /// The connection breaks off after so many bytes of the body.
    Cut {
        /// Bytes of the body that are sent.
        after_bytes: usize,
    },
    /// The body ends after so many bytes as if it were whole.
    CutCleanly {
        /// Bytes of the body that are sent.
        after_bytes: usize,
    },
    /// Nothing more comes after so many bytes, and the connection stays.
    Stall {
        /// Bytes of the body that are sent.
        after_bytes: usize,
    },
    /// The body comes in small pieces.
    Drip {
        /// The size of a piece.
        bytes: usize,
        /// The pause after each.
        every_ms: u64,
    },
    /// After so many events of a stream the vendor's error event; a whole answer becomes a 500.
    ErrorEvent {
        /// Events that are sent before it.
        after_events: usize,
    },
    /// The body never ends; in a stream, one small event after the other.
    Endless,
    /// The body never ends; in a stream, one event of one line.
    EndlessLine,
    /// The right body, said to be `text/html`.
    WrongContentType,
    /// The right body, compressed though nobody need have asked.
    Gzip,
    /// An answer that does not say what it used.
    UsageMissing,
    /// Every call comes twice, each time under an identifier of its own.
    TwoCalls,
    /// Arguments that are a string which holds their JSON, encoded once more than they should be.
    ArgumentsEncodedTwice,
    /// Arguments of the other shape: an object where the wire has a string, a string where it has an object.
    ArgumentsOfTheOtherShape,
    /// Arguments that stop being JSON before their end.
    InvalidArguments,
    /// A call of a tool that was not declared.
    WrongToolName,
    /// An answer without any content.
    Empty,
    /// The vendor's own way to refuse.
    Refusal,
}

impl Fault {
    /// The status that takes the answer's place, with its words.
    pub(crate) fn status(&self) -> Option<(u16, &'static str)> {
        match self {
            Self::RateLimited | Self::RateLimitedFor { .. } => Some((429, "Too many requests.")),
            Self::Overloaded => Some((529, "Overloaded")),
            Self::Unavailable => Some((503, "The service is not available.")),
            Self::ServerError => Some((500, "Internal server error")),
            _ => None,
        }
    }

    /// Whether the client cannot have read the whole of the usage, however patient it is.
    pub(crate) fn hides_usage(&self) -> bool {
        matches!(
            self,
            Self::UsageMissing
                | Self::Cut { .. }
                | Self::CutCleanly { .. }
                | Self::Stall { .. }
                | Self::ErrorEvent { .. }
                | Self::Endless
                | Self::EndlessLine
        )
    }
}
