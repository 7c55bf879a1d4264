//! What a gate execution resulted in, and the fingerprint by which a repeated failure is recognised.

#![forbid(unsafe_code)]

mod ending;

pub use ending::{Ending, NotStarted, ResourceLimit};
