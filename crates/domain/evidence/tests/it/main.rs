//! Stored types, from the outside: what is written is read back, by this version and by every later one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

mod artifacts;
mod chain;
mod checklist;
mod golden;
mod redacted;
mod samples;
mod silenced;
mod standing;
mod watched;
