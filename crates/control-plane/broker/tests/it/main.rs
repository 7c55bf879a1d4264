//! What the broker finds out about a call, and what it performs.

#![allow(clippy::print_stdout, reason = "a test that skips something says so")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

mod assessing;
mod backend_faults;
mod bench;
mod guarding;
mod hidden_files;
mod performing;
mod reading;
mod viewing;
mod withheld;
