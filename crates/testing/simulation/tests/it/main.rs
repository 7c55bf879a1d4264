//! The ports in memory, held to the same contracts as those that keep things.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

mod conformance;
mod faults;
