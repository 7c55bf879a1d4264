//! Decisions by Cedar.
#![expect(clippy::unwrap_used, reason = "a test ends where something is not there")]

mod conformance;
