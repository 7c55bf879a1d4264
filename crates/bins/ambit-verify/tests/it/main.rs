//! The verifier as a stranger has it: a bundle that a real run left, the keys, and nothing else.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]
#![allow(clippy::print_stdout, reason = "a test that skips something says so")]

mod alone;
mod attacks;
mod golden;
mod tree;
