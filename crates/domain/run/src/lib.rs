//! The run: one bounded job of one agent, as a pure state machine.

#![forbid(unsafe_code)]

mod limit;
mod phase;
mod stop;

pub use limit::Limit;
pub use phase::Phase;
pub use stop::StopReason;
