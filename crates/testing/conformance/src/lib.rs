//! One suite per port, run by every adapter.

pub mod sandbox;
