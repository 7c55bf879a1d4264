//! A backend is used as far as it was measured, and believed as far as it proves.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

mod admission;
mod leaks;
mod lives;
