//! The command line from outside: the real binary, real sandboxes, a real home.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "these are tests, helpers included"
)]

mod approvals;
mod grants;
mod lab;
mod limits;
mod ordinary_run;
mod readme;
mod rig;
mod secrets;
mod stable;
mod tenants;
mod views;
