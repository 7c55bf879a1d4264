//! The source service over real blobs, as one program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod counting;
mod scale;
