//! Public keys, what they are called, and what each may sign.

mod ed25519;
mod p256;
mod pem;
mod role;

pub use ed25519::Ed25519Key;
pub use p256::PublicKey;
pub use role::KeyRole;

use std::fmt;
use std::str::FromStr;

use ambit_ids::{Digest, ParseDigestError, text_form};

/// The name of a key: the SHA-256 of its `SubjectPublicKeyInfo` in DER. A hint for finding a key, never a reason to trust
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyId(Digest);

impl KeyId {
    fn of_spki(der: &[u8]) -> Self {
        Self(Digest::of(der))
    }
}

impl fmt::Display for KeyId {
    /// 64 lower-case hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

impl FromStr for KeyId {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, ParseDigestError> {
        format!("sha256:{text}").parse().map(Self)
    }
}

text_form!(KeyId);

/// Bytes are no public key of the one form that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Another algorithm or curve, a compressed point, or bytes too many or too few.
    #[error("not the DER of a SubjectPublicKeyInfo of {0}")]
    Form(&'static str),
    /// The point does not lie on the curve.
    #[error("the point does not lie on P-256")]
    Point,
    /// Not the text form of a public key, in lines of 64 characters.
    #[error("not a PEM text of one PUBLIC KEY")]
    Pem,
}

impl KeyError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Form(_) => "KEY_FORM",
            Self::Point => "KEY_POINT",
            Self::Pem => "KEY_PEM",
        }
    }
}
