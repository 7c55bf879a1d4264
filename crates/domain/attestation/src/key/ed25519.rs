use super::{KeyError, KeyId};

/// What stands before the 32 bytes (RFC 8410).
const PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
const SPKI_BYTES: usize = PREFIX.len() + 32;

/// A public Ed25519 key. Logs and witnesses sign with such keys; no statement is. Whether the bytes are a point of the
/// curve shows where a signature is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ed25519Key([u8; SPKI_BYTES]);

impl Ed25519Key {
    /// A key from its 32 bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        let mut spki = [0; SPKI_BYTES];
        spki[..PREFIX.len()].copy_from_slice(&PREFIX);
        spki[PREFIX.len()..].copy_from_slice(&bytes);
        Self(spki)
    }

    /// A key from the DER of its `SubjectPublicKeyInfo`.
    ///
    /// # Errors
    /// [`KeyError::Form`] for any other bytes.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, KeyError> {
        let wrong = KeyError::Form("Ed25519");
        let bytes = der.strip_prefix(&PREFIX).ok_or(wrong)?;
        bytes.try_into().map(Self::from_bytes).map_err(|_| wrong)
    }

    /// The DER of its `SubjectPublicKeyInfo`.
    #[must_use]
    pub const fn spki_der(&self) -> &[u8] {
        &self.0
    }

    /// The 32 bytes.
    #[must_use]
    pub fn bytes(&self) -> [u8; 32] {
        std::array::from_fn(|at| self.0[PREFIX.len() + at])
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> KeyId {
        KeyId::of_spki(&self.0)
    }
}
