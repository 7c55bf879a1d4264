//! What is asked of a policy (a request with facts), what it answers (a decision) and how answers combine.
//!
//! There is no engine here: engines are adapters. A request holds facts that were computed outside of the engine and
//! outside of the model; an engine never sees a raw path pattern, URL or command text to interpret.

#![forbid(unsafe_code)]

mod action;
mod authority;
mod decision;
mod example;
mod fact;
mod grant;
mod request;
mod weakening;

pub use action::{ActionClass, Capability, SideEffect, ToolName};
pub use authority::{LifecycleStage, Plane};
pub use decision::{Answer, Decision, DenialKind, EngineVersion, Verdict, combine};
pub use fact::{Fact, FactKind};
pub use grant::{Grant, GrantKind};
pub use request::{ApprovalInHand, Request};
pub use weakening::{Side, Weakening};
