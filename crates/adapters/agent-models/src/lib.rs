//! Agents that a language model answers, over the wires of its vendors.
//!
//! A [`ModelAgentDocument`] says which model is asked, over which wire, with which key and within which bounds. A [`Client`]
//! asks it: it counts every token once, tells what is owed for every failure, and asks again only where nothing is.

#![forbid(unsafe_code)]

mod attempt;
mod base_url;
mod bound;
mod cassette;
mod client;
mod dialogue;
mod document;
mod error;
mod http;
mod key;
mod ledger;
mod limits;
mod price;
mod redact;
mod retry;
mod stated_price;
mod status;
mod wire;

pub use cassette::{Cassette, CassetteError};
pub use client::Client;
pub use dialogue::{
    CallArguments, CallFailure, Charge, Message, Model, ModelCall, ModelReply, ModelRequest, StopCause,
    ToolResult, ToolSpec, Usage,
};
pub use document::ModelAgentDocument;
pub use error::ModelAgentError;
pub use price::{Price, Pricing, Rates};
pub use wire::Wire;
