//! The Linux sandboxes against the suite of their port, as root and as an ordinary user.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "these are tests, helpers included"
)]

mod counts;
mod descriptors;
mod hidden;
mod hostile;
mod killed;
mod layouts;
mod leaks;
mod leftovers;
mod memory;
mod ordinary_user;
mod other_process;
mod signs;
mod streams;
mod suite;
mod support;
mod tools;
mod trees;
mod wall;
