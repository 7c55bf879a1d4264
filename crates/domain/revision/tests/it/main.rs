//! The crate from outside: real patches, real trees, other tools, hostile input.

#![allow(
    clippy::disallowed_methods,
    reason = "tests read cases and run other tools; the crate itself does neither"
)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, in its parts too")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

mod bounds;
mod cases;
mod codes;
mod corpus;
mod differential;
mod forms;
mod forms_agree;
mod mutations;
mod patches;
mod policy;
mod properties;
mod recompute;
mod refusals;
mod renames;
mod repeats;
mod rows;
mod source;
mod touched;
mod traversal;
mod trees;
mod view;
