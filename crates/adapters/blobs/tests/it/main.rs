//! Blobs in real directories, as one program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "a child of a test speaks to its parent")]

mod batches;
mod conformance;
mod crash;
mod files;
mod full;
mod opening;
mod place;
