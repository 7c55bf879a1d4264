//! Captures real tools of this machine, runs them from the image, and attacks what was captured.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking and says what it skips"
)]

mod crash;
mod digest;
mod import;
mod layout;
mod prune;
mod refusal;
mod running;
mod toolchains;
mod volume;
mod volume_cargo;
mod world;
