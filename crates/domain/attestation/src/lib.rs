//! Statements about a run that somebody signed, in formats that tools of others verify: in-toto statements, layouts and
//! links in DSSE envelopes, signed with ECDSA over P-256.
//!
//! Bytes are verified before they are read, and what is read is exactly what was verified: [`Verified`] can be made in no
//! other way. Which key may say what stands in a closed table ([`KeyRole::may_sign`]) and in a file that the verifier has
//! from elsewhere ([`TrustRoot`]), never in the evidence itself. Private keys stay outside: whoever signs gets the bytes
//! and answers with a signature.

#![forbid(unsafe_code)]

mod base64_text;
pub mod envelope;
pub mod key;
pub mod layout;
pub mod predicate;
pub mod statement;
pub mod trust_root;
mod wording;

pub use envelope::{Envelope, Payload, PayloadType, Threshold, Unsigned, Verified, pae, sign};
pub use key::{KeyId, KeyRole, PublicKey};
pub use predicate::{Predicate, PredicateType};
pub use statement::{DigestSet, ResourceDescriptor, Statement, Subject};
pub use trust_root::TrustRoot;
pub use wording::{Moment, Name, Uri};
