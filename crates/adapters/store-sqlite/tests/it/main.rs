//! The store on real files, as one program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "a child of a test speaks to its parent")]

mod append_only;
mod conformance;
mod crash;
mod failures;
mod place;
mod processes;
mod schema;
