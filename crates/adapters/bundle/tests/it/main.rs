//! Bundles as they are written and read, and as attackers make them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

mod bounds;
mod hostile_directories;
mod hostile_tars;
mod reading;
mod small;
