//! Statements are made of a run's records, signed, verified, altered, and shown to programs of others.

#![allow(
    clippy::disallowed_methods,
    reason = "tests read cases and run other tools; the crate itself does neither"
)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, in its parts too")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

mod cases;
mod foreign;
mod golden;
mod hostile;
mod keys;
mod layouts;
mod parties;
mod properties;
mod roots;
mod run;
mod statements;
mod tampered;
mod vectors;
mod wycheproof;
