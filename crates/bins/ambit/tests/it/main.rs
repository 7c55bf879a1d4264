//! The command line from outside: the real binary, real sandboxes, a real home.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "these are tests, helpers included"
)]

mod ordinary_run;
mod rig;
