//! Containers of OCI runtimes against the suite of their port, runtime by runtime.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "these are tests, helpers included"
)]

mod aborts;
mod absent;
mod forged;
mod hostile;
mod leaks;
mod ordinary_user;
mod suite;
mod support;
