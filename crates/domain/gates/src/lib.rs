//! What a gate execution resulted in, and the fingerprint by which a repeated failure is recognised.
//!
//! No gate passes without [`Ending::is_success`]. What the code under test writes may say anything: as output it can change
//! how a failure is described and which earlier failure it resembles, and as a report it can take a success away
//! ([`Objection`]). It never gives one.

#![forbid(unsafe_code)]

mod ending;
mod failure;
mod fingerprint;
mod noise;
mod objection;
mod output;
mod place;
mod report;
mod runner;
mod summary;
mod tally;

pub use ending::{Ending, NotStarted, ResourceLimit};
pub use failure::{Counts, Runner};
pub use fingerprint::{FailureFingerprint, fingerprint};
pub use objection::{Objection, objections};
pub use output::GateOutput;
pub use place::Place;
pub use report::{
    REPORT_BYTES, REPORT_DEPTH, REPORT_NAME_BYTES, REPORT_TESTS, ReportError, ReportFormat, ReportProblem,
    TestOutcome, TestReport, read_report,
};
pub use summary::{FailedCheck, Summary, summarize};
pub use tally::{BaseTests, GateTests, TestTally};
