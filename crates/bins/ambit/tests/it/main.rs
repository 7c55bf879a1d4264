//! The command line from outside: the real binary, real sandboxes, a real home.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "these are tests, helpers included"
)]

mod bad_home;
mod bad_input;
mod crash;
mod elsewhere;
mod evidence;
mod hostile_agents;
mod observed;
mod ordinary_run;
mod rig;
mod tamper;
