//! The tool rules of a policy bundle, read as Cedar policies and decided by Cedar.
//!
//! A bundle stays the document that people write: each of its rules is turned into one Cedar policy with the rule's name,
//! reason and alternative as annotations, so that the whole can be read, validated and proven as Cedar. Around the bundle
//! stand a few forbids that no bundle lifts. Cedar answers with the policies that determined its answer, and their
//! annotations say which of the three verdicts that is.
//!
//! Two ways in which Cedar fails open by itself are closed here. A forbid whose evaluation fails is skipped by Cedar: here any
//! failure denies. Entities that are built without the schema lose the hierarchy of actions: here they are built with it
//! alone, and an engine that permits one of the calls that are known to be denied is not handed out.

#![forbid(unsafe_code)]

mod compile;
mod difference;
mod engine;
mod ground;
mod law;
mod laws;
mod question;
mod refusal;
mod sample;
mod schema;
mod self_test;
mod slice;
mod standing;

pub use compile::cedar_text;
pub use difference::{Difference, Side, differences};
pub use engine::{CedarEngine, ENGINE};
pub use refusal::CedarError;
pub use schema::schema_text;
pub use standing::standing_text;
