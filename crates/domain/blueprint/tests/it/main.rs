//! The documents as their users meet them: by their text, their digests and their problems.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod blueprint;
mod budget;
mod builtin;
mod bundle;
mod catalog;
mod hostile;
mod messages;
mod page;
mod policy_set;
mod profile;
mod schemas;
mod spelling;
