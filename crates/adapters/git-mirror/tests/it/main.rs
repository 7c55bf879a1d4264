//! Repositories as people and attackers make them, with the real git, and into a mirror.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking and says what it skips"
)]

mod abbreviated;
mod deadline;
mod hostile;
mod mirror_state;
mod obtaining;
mod world;
