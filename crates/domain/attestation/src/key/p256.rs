use std::fmt;

use ambit_ids::Digest;
use p256::ecdsa::signature::hazmat::PrehashVerifier as _;
use p256::ecdsa::{Signature, VerifyingKey};

use super::{KeyError, KeyId, pem};

/// What stands before the point: an elliptic-curve key on P-256 by its name (RFC 5480), and a bit string of 65 bytes.
const PREFIX: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// The tag of a point with both coordinates.
const UNCOMPRESSED: u8 = 4;
const SPKI_BYTES: usize = PREFIX.len() + 65;

/// A public key for ECDSA on P-256 with SHA-256.
///
/// Only one encoding is read: a compressed point, or explicit parameters of the curve, would give one key a second name,
/// and it would count twice where keys are counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey([u8; SPKI_BYTES]);

impl PublicKey {
    /// A key from the DER of its `SubjectPublicKeyInfo`.
    ///
    /// # Errors
    /// [`KeyError`] for any other bytes.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, KeyError> {
        let spki: [u8; SPKI_BYTES] = der.try_into().map_err(|_| KeyError::Form("P-256"))?;
        if !spki.starts_with(&PREFIX) || spki[PREFIX.len()] != UNCOMPRESSED {
            return Err(KeyError::Form("P-256"));
        }
        VerifyingKey::from_sec1_bytes(&spki[PREFIX.len()..]).map_err(|_| KeyError::Point)?;
        Ok(Self(spki))
    }

    /// A key from both coordinates of its point, with the tag before them (SEC 1, section 2.3.3).
    ///
    /// # Errors
    /// [`KeyError`] for any other bytes.
    pub fn from_sec1_bytes(point: &[u8]) -> Result<Self, KeyError> {
        Self::from_spki_der(&[&PREFIX[..], point].concat())
    }

    /// A key from its PEM text.
    ///
    /// # Errors
    /// [`KeyError`] for any other text.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        Self::from_spki_der(&pem::decode(text).ok_or(KeyError::Pem)?)
    }

    /// The DER of its `SubjectPublicKeyInfo`.
    #[must_use]
    pub const fn spki_der(&self) -> &[u8] {
        &self.0
    }

    /// Its PEM text.
    #[must_use]
    pub fn to_pem(&self) -> String {
        pem::encode(&self.0)
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> KeyId {
        KeyId::of_spki(&self.0)
    }

    /// Whether `signature`, in DER, was made over exactly `message` by this key. Whoever has one signature of ECDSA can
    /// write a second one of the same message, so a signature is never counted and never names anything.
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        self.verifies_digest(Digest::of(message), signature)
    }

    /// The same for a message of this digest. A long message that is tried with many keys is read once.
    pub(crate) fn verifies_digest(&self, message: Digest, signature: &[u8]) -> bool {
        let key = VerifyingKey::from_sec1_bytes(&self.0[PREFIX.len()..]);
        let signature = Signature::from_der(signature);
        key.is_ok_and(|key| {
            signature.is_ok_and(|signature| key.verify_prehash(message.as_bytes(), &signature).is_ok())
        })
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.id())
    }
}
