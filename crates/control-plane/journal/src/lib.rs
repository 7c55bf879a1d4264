//! The evidence writer: chains records, signs the head, and commits both together with whatever they justify.
//!
//! It also reads, and never believes what it reads: every link and the signature of the head are checked each time a
//! stream is loaded, so that nothing is ever decided on a stream that somebody altered.

#![forbid(unsafe_code)]

mod append;
mod error;
mod journal;
mod load;

pub use ambit_evidence::v1::Entry;
pub use error::{HeadFault, JournalError};
pub use journal::{Journal, Tip, Together};
pub use load::{Loaded, checked_end, verify_head};
