//! The Linux sandboxes against the suite of their port, as root and as an ordinary user.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "these are tests, helpers included"
)]

mod hostile;
mod memory;
mod ordinary_user;
mod other_process;
mod suite;
mod support;
