//! The envelope (DSSE 1.0): bytes, what they are, and who signed both together.

mod parse;
mod sign;
mod threshold;
mod verify;

pub use parse::EnvelopeError;
pub use sign::{SignError, Unsigned, sign};
pub(crate) use threshold::KEYS;
pub use threshold::{Threshold, ThresholdError};
pub use verify::{Unread, Verified, VerifyError};

use ambit_canonical::{CanonicalBytes, EncodeError, encode};
use serde::Serialize;

use crate::base64_text;
use crate::key::PublicKey;

/// The most bytes that one envelope may carry.
pub const PAYLOAD_BYTES: usize = 1 << 20;
/// The largest envelope that is read.
pub const ENVELOPE_BYTES: usize = PAYLOAD_BYTES.div_ceil(3) * 4 + (32 << 10);
/// The most signatures of one envelope. Each is tried with every key.
pub const SIGNATURES: usize = 8;
/// The longest signature that is kept. One of ECDSA on P-256 has at most 72 bytes; others are of keys that nobody here has.
pub const SIGNATURE_BYTES: usize = 1024;
/// The longest hint at a key.
pub const HINT_BYTES: usize = 256;

const _: () = assert!(SIGNATURES * (SIGNATURE_BYTES.div_ceil(3) * 4 + HINT_BYTES + 64) < 32 << 10);

/// What the bytes in an envelope are. It is signed with them, so that a signature for one kind never serves another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayloadType(&'static str);

impl PayloadType {
    /// Statements, layouts and links of in-toto.
    pub const IN_TOTO: Self = Self("application/vnd.in-toto+json");
    /// The file of keys.
    pub const TRUST_ROOT: Self = Self("application/vnd.ambit.trust-root+json");

    /// A type of somebody else.
    #[must_use]
    pub const fn of_others(name: &'static str) -> Self {
        Self(name)
    }

    /// The type as envelopes spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

/// Something that is signed as bytes and read from bytes that were verified.
pub trait Payload: Sized {
    /// What its bytes are.
    const TYPE: PayloadType;

    /// Its bytes, canonical.
    ///
    /// # Errors
    /// [`EncodeError`] for a value outside of what has canonical bytes.
    fn to_bytes(&self) -> Result<CanonicalBytes, EncodeError>;

    /// Reads it, and nothing that is almost it.
    ///
    /// # Errors
    /// [`ReadError`] says what is wrong.
    fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError>;

    /// What its readers expect as the hint at a key.
    fn hint(key: &PublicKey) -> String;
}

/// Bytes that were signed are not what they were read as.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON of the strict subset, or of another shape.
    #[error("the signed bytes have another shape")]
    Shape(#[source] EncodeError),
    /// A statement, layout, link or file of keys, but not the one asked for.
    #[error("the signed bytes are {found:?}, not {wanted}")]
    Kind {
        /// What was asked for.
        wanted: &'static str,
        /// What they say they are.
        found: String,
    },
    /// It contradicts itself, or lacks what it must say.
    #[error("{0}")]
    Content(&'static str),
}

impl ReadError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Shape(_) => "ATTESTATION_SHAPE",
            Self::Kind { .. } => "ATTESTATION_KIND",
            Self::Content(_) => "ATTESTATION_CONTENT",
        }
    }
}

/// An envelope that was read or made. That it was read says nothing about its signatures: [`Envelope::verify`] does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    payload_type: PayloadType,
    payload: Vec<u8>,
    signatures: Vec<Signed>,
}

/// One signature with its hint.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Signed {
    hint: Option<String>,
    signature: Vec<u8>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Printed<'a> {
    payload: String,
    payload_type: &'a str,
    signatures: Vec<PrintedSignature<'a>>,
}

#[derive(Serialize)]
struct PrintedSignature<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    keyid: Option<&'a str>,
    sig: String,
}

impl Envelope {
    /// The envelope as it is stored: canonical JSON, base64 of the standard alphabet.
    ///
    /// # Errors
    /// [`EncodeError`] where a hint holds what JSON cannot.
    pub fn print(&self) -> Result<CanonicalBytes, EncodeError> {
        let signatures = self.signatures.iter().map(|signed| PrintedSignature {
            keyid: signed.hint.as_deref(),
            sig: base64_text::encode(&signed.signature),
        });
        encode(&Printed {
            payload: base64_text::encode(&self.payload),
            payload_type: self.payload_type.as_str(),
            signatures: signatures.collect(),
        })
    }

    /// The bytes that every one of its signatures must be of.
    #[must_use]
    pub fn pae(&self) -> Vec<u8> {
        pae(self.payload_type.as_str(), &self.payload)
    }
}

/// What is signed: the type and the bytes, each with its length before it, so that no other pair gives the same.
#[must_use]
pub fn pae(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let mut encoded = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len()).into_bytes();
    encoded.extend_from_slice(payload);
    encoded
}
