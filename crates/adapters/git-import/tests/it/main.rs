//! Repositories as git makes them, as attackers make them, and as accidents leave them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking and says what it skips"
)]

mod absent;
mod changing;
mod commits;
mod elsewhere;
mod hostile;
mod limits;
mod malformed;
mod names;
mod world;
