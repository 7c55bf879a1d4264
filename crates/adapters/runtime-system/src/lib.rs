//! The clock, identifiers, entropy and processes of this machine.

#![forbid(unsafe_code)]

mod clock;
mod entropy;
mod identifiers;
mod processes;

pub use clock::SystemClock;
pub use entropy::SystemEntropy;
pub use identifiers::TimeOrderedIds;
pub use processes::LinuxProcesses;
