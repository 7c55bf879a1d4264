//! The server, seen from outside.

mod bill;
mod client;
mod faults;
mod program;
mod refusals;
mod sdks;
