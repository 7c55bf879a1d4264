//! Agents that a language model answers, over the wires of its vendors.

#![forbid(unsafe_code)]

mod agent;
mod allowance;
mod briefing;
mod composing;
mod dialogue;
mod exchange;
mod history;
mod observation;
mod prompts;
mod proposing;
mod quoting;
mod telling;
mod toolbox;
mod turn_context;

pub use agent::{Cost, ModelAgent, ModelSettings};
pub use allowance::{AllowanceTooSmall, ContextAllowance, request_bytes};
pub use dialogue::{
    CallArguments, CallFailure, Charge, Message, Model, ModelCall, ModelReply, ModelRequest, StopCause,
    ToolResult, ToolSpec, Usage,
};
pub use prompts::{prompts, prompts_digest};
