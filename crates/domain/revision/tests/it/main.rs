//! The crate from outside: real patches, real trees, other tools, hostile input.

#![allow(
    clippy::disallowed_methods,
    reason = "tests read cases and run other tools; the crate itself does neither"
)]

mod bounds;
mod cases;
mod corpus;
mod differential;
mod patches;
mod properties;
mod recompute;
mod refusals;
mod rows;
mod source;
mod traversal;
mod trees;
