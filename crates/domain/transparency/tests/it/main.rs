//! The log from outside: published vectors, a second implementation, a naive one, and hostile input.

#![allow(clippy::disallowed_methods, reason = "tests read cases; the crate itself reads nothing")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, in its parts too")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

mod cases;
mod checkpoints;
mod foreign;
mod golden;
mod keys;
mod naive;
mod notes;
mod proofs;
mod signers;
mod tiles;
mod tree;
mod vectors;
mod witnesses;
