//! Models as agents, from the outside: against recorded answers, against servers that go wrong, and as whole runs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "a test that skips something says so")]

mod answers;
mod bounds;
mod canary;
mod cassettes;
mod faults;
mod haggling;
mod meeting;
mod money;
mod quotes;
mod runs;
mod scene;
mod talk;
mod transport;
