//! One suite per port, run by every adapter.
//!
//! A suite takes a function that opens an implementation under a name: a new name is a new, empty one; a name that was
//! opened before is the same one, as another process would open it. The suites need a tokio runtime with threads.
//!
//! A check panics with what it found. Each is public as well, so that a test can name the one that it stands on.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a check fails by panicking")]

pub mod blobs;
pub mod children;
pub mod leases;
pub mod policy;
pub mod sandbox;
pub mod signer;
pub mod store;
