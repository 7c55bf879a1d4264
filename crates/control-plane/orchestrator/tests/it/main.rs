//! The one loop, in a world where everything can go wrong.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]
#![allow(clippy::print_stdout, reason = "a test that skips something says so")]

mod answers;
mod approvals;
mod boundaries;
mod canary;
mod cancellation;
mod covert;
mod crashes;
mod denials;
mod histories;
mod injections;
mod invariants;
mod leases;
mod names;
mod policies;
mod refusals;
mod replays;
mod retries;
mod revocations;
mod sandbox_faults;
mod sandboxes;
mod starts;
mod stops;
mod tenants;
mod traces;
