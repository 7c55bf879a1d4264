//! Agents that a language model answers, over the wires of its vendors.

#![forbid(unsafe_code)]

mod dialogue;

pub use dialogue::{
    CallArguments, CallFailure, Charge, Message, Model, ModelCall, ModelReply, ModelRequest, StopCause,
    ToolResult, ToolSpec, Usage,
};
