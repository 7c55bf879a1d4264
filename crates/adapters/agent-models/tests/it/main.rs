//! Models as agents, from the outside.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]
#![allow(clippy::print_stdout, reason = "a test that skips something says so")]

mod answers;
mod bounds;
mod quotes;
mod runs;
mod talk;
