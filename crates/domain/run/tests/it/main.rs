//! The run, from the outside: what commands do to it and what it never does.

mod approvals;
mod budgets;
mod cancellation;
mod loop_order;
mod recovery;
mod simulation;
mod table;
mod world;
