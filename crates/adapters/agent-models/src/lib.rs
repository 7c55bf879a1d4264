//! Agents that a language model answers, over the wires of its vendors.
//!
//! A [`ModelAgentDocument`] says which model is asked, over which wire, with which key and within which bounds. A [`Client`]
//! asks it: it counts every token once, tells what is owed for every failure, and asks again only where nothing is.

#![forbid(unsafe_code)]

mod agent;
mod allowance;
mod attempt;
mod base_url;
mod bound;
mod briefing;
mod cassette;
mod client;
mod composing;
mod dialogue;
mod document;
mod error;
mod exchange;
mod history;
mod http;
mod key;
mod ledger;
mod limits;
mod observation;
mod price;
mod prompts;
mod proposing;
mod quoting;
mod redact;
mod retry;
mod schema;
mod settings;
mod stated_price;
mod status;
mod telling;
mod thoughts;
mod toolbox;
mod turn_context;
mod wire;

pub use agent::ModelAgent;
pub use allowance::{AllowanceTooSmall, ContextAllowance, request_bytes};
pub use cassette::{Cassette, CassetteError};
pub use client::Client;
pub use dialogue::{
    CallArguments, CallFailure, Charge, Message, Model, ModelCall, ModelReply, ModelRequest, StopCause,
    ToolResult, ToolSpec, Usage,
};
pub use document::ModelAgentDocument;
pub use error::ModelAgentError;
pub use price::{Price, Pricing, Rates};
pub use prompts::{prompts, prompts_digest};
pub use schema::{KIND, schema};
pub use settings::{Cost, ModelSettings};
pub use wire::Wire;
