//! Derives everything about a run again from what is stored, and believes nothing that is written there.
//!
//! A run's trace says what was pinned, proposed, decided, done and seen. Here each of these is made again from what it
//! rests on: links and heads from bytes and the log key, pins from documents, decisions from requests and rules, trees
//! from patches, gate records from outputs, the standing of the revision from all of them. What differs is refuted, by
//! the name of the link; what cannot be read is not checked, and never taken for proved.
//!
//! What this cannot tell: whoever holds the log key can write a trace of things that never happened, as long as it fits
//! together; and a store that is put back as a whole to an earlier moment tells the truth of that moment. Both take a
//! witness outside of the store.

#![forbid(unsafe_code)]

mod approvals;
mod artifacts;
mod base;
mod bundle;
mod decisions;
mod documents;
mod eligible;
mod ending;
mod finding;
mod findings;
mod gates;
mod log_keys;
mod observations;
mod origin;
mod patches;
mod project;
mod readable;
mod report;
mod run;
mod sandboxes;
mod steps;
mod stream;
mod trace;
mod vault;
mod verifier;

pub use bundle::{BundleJudgement, Inventory};
pub use eligible::{Eligibility, EligibilityStanding, Missing};
pub use finding::{Finding, LinkName};
pub use findings::Standing;
pub use log_keys::{LogKey, LogKeys};
pub use readable::Readable;
pub use report::{Check, CheckId, Report, Verdict};
pub use verifier::Verifier;
