//! What Ambit asks of the world.
//!
//! Each port is a trait whose documentation is the contract: what an implementation MUST do and what its callers may
//! rely on. One conformance suite per port runs against every adapter. No method of a trait here has a default body,
//! so that no adapter grants anything by saying nothing.

#![forbid(unsafe_code)]

mod abort;
pub mod agent;
pub mod blobs;
pub mod images;
pub mod leases;
pub mod policy;
pub mod runtime;
pub mod sandbox;
pub mod signer;
pub mod store;
mod stream;
pub mod volumes;

pub use abort::{AbortHandle, AbortSignal};
