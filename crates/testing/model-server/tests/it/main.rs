//! The server, seen from outside.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

mod bill;
mod client;
mod faults;
mod program;
mod refusals;
mod sdks;
