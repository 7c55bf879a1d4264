//! A client against recorded answers and against servers that go wrong.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod canary;
mod cassettes;
mod scene;
mod transport;
