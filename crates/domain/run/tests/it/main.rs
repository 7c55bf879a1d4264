//! The run, from the outside: what commands do to it and what it never does.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

mod approvals;
mod budgets;
mod cancellation;
mod comparison;
mod consent;
mod denials;
mod guarded;
mod loop_order;
mod recovery;
mod repeats;
mod simulation;
mod table;
mod world;
