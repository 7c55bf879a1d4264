//! What a gate execution resulted in, and the fingerprint by which a repeated failure is recognised.
//!
//! Whether a gate passed is [`Ending::is_success`] and nothing else. Everything here that reads output is a view of a
//! failure that is already certain: output is written by the code under test and may say anything, so it can change how
//! a failure is described and which earlier failure it resembles, and never whether there is one.

#![forbid(unsafe_code)]

mod ending;
mod failure;
mod fingerprint;
mod noise;
mod output;
mod place;
mod runner;
mod summary;

pub use ending::{Ending, NotStarted, ResourceLimit};
pub use failure::{Counts, Runner};
pub use fingerprint::{FailureFingerprint, fingerprint};
pub use output::GateOutput;
pub use place::Place;
pub use summary::{FailedCheck, Summary, summarize};
