//! Canonical bytes: RFC 8785 (JCS) output of a strict subset of JSON.
//!
//! The subset is what two independent readers cannot read differently: integers only, at most 2^53 - 1 either way
//! (RFC 7493), no duplicate member names, no lone surrogates, nesting bounded. Raw bytes are *admitted* against the
//! subset before anything is read from them, because JSON readers silently keep the last of two equal names and round
//! large numbers. What is hashed or signed is serialised from typed values, and the bytes are kept as they are.

#![forbid(unsafe_code)]

mod admit;
mod encode;
mod leaf;

pub use admit::{AdmissionError, admit, admit_within};
pub use encode::{CanonicalBytes, EncodeError, decode, encode};
pub use leaf::leaf_hash;
