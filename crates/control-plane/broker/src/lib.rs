//! The tool broker: finds out what a proposed call would do, and performs the effect of a decided one.
//!
//! It owns every effect that an agent can cause; there is no other way to one. It knows no state machine: what may be
//! performed was decided before, by a policy and by the run, and is told to it as an intent.

#![forbid(unsafe_code)]

mod assess;
mod broker;
mod error;
mod evaluate;
mod ground;
mod patch;
mod perform;
mod performed;
mod read;
mod source;
mod view;

pub use assess::Assessment;
pub use broker::Broker;
pub use error::BrokerError;
pub use evaluate::{
    AskedGate, ReadReport, ReportedBase, ReportedTests, base_effect, gate_record, is_watched, output_of,
    protected_count, reported, tally,
};
pub use ground::Ground;
pub use performed::Performed;
pub use source::Source;
pub use view::{VIEW_BYTES, VIEW_FACTS, VIEW_LINE, VIEW_LINES, View};
