//! Directories as people and attackers make them, into a tree and out of one.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking and says what it skips"
)]

mod changing;
mod exporting;
mod git;
mod hostile;
mod ignoring;
mod importing;
mod looking;
mod memory;
mod round_trip;
mod scale;
mod world;
