//! Keys in real files, as one program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "a child of a test speaks to its parent")]

mod files;
mod foreign;
