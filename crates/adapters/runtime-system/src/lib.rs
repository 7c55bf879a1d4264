//! The clock, identifiers and entropy of this machine.

#![forbid(unsafe_code)]

mod clock;
mod entropy;
mod identifiers;

pub use clock::SystemClock;
pub use entropy::SystemEntropy;
pub use identifiers::TimeOrderedIds;
