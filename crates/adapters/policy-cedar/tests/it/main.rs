//! Decisions by Cedar.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test ends where something is not there")]

mod conformance;
mod difference;
mod engine;
mod mutants;
mod table;
