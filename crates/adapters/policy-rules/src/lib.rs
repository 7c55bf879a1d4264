//! A small pure engine for the tool rules of a policy bundle: the first one, by which older decisions are made again.
//!
//! An engine holds one bundle, by the digest of its document. The bundle's own examples are decided when it is loaded,
//! and a bundle of which one comes out otherwise is refused as a whole. What no rule answers is denied and ends the run.

#![forbid(unsafe_code)]

mod call;
mod engine;

pub use engine::{ENGINE, RuleEngine};
