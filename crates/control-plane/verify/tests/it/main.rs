//! Real runs over the real store, blobs, keys and rules, and what becomes of them under an attacker's hands.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]
#![allow(clippy::print_stdout, reason = "a test that skips something says so")]

mod attack;
mod blobs;
mod cases;
mod consents;
mod eligibility;
mod forged;
mod forged_steps;
mod forger;
mod honest;
mod reported;
mod rows;
mod world;
