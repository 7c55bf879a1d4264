use std::collections::BTreeSet;

use ambit_ids::Digest;

use super::{Envelope, Payload, PayloadType, ReadError, Threshold};
use crate::key::{KeyId, PublicKey};

/// Something that was read from bytes which enough keys had signed. It is made by verifying and in no other way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified<T> {
    content: T,
    payload_type: PayloadType,
    payload: Vec<u8>,
    signers: BTreeSet<KeyId>,
}

/// Bytes that were verified and not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread;

/// Too few keys signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{found} of the {needed} keys that are needed signed this")]
pub struct VerifyError {
    /// How many different keys of those that count signed it.
    pub found: usize,
    /// How many are needed.
    pub needed: usize,
}

impl VerifyError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "ENVELOPE_UNVERIFIED"
    }
}

impl Envelope {
    /// Verifies that enough different keys signed the bytes. Signatures are not counted, and what they say about their key
    /// decides nothing: a signature of a key that does not count, or of nobody, is passed over.
    ///
    /// # Errors
    /// [`VerifyError`] where there are too few.
    pub fn verify(&self, threshold: &Threshold) -> Result<Verified<Unread>, VerifyError> {
        let signed = self.signed_by(threshold.keys());
        let (found, needed) = (signed.len(), threshold.needed());
        if found < needed {
            return Err(VerifyError { found, needed });
        }
        Ok(self.verified_by(&signed))
    }

    /// Those of these keys that signed it. Each signature is somebody's once.
    pub(crate) fn signed_by<'a>(&self, keys: impl Iterator<Item = &'a PublicKey>) -> BTreeSet<PublicKey> {
        let message = Digest::of(&self.pae());
        keys.filter(|key| {
            self.signatures.iter().any(|signed| key.verifies_digest(message, &signed.signature))
        })
        .copied()
        .collect()
    }

    /// The bytes, once it is known who signed them.
    pub(crate) fn verified_by(&self, signers: &BTreeSet<PublicKey>) -> Verified<Unread> {
        Verified {
            content: Unread,
            payload_type: self.payload_type,
            payload: self.payload.clone(),
            signers: signers.iter().map(PublicKey::id).collect(),
        }
    }
}

impl Verified<Unread> {
    /// Reads exactly the bytes that were verified.
    ///
    /// # Errors
    /// [`ReadError`] where they are not what is asked for. Then nothing is verified.
    pub fn read<T: Payload>(self) -> Result<Verified<T>, ReadError> {
        if self.payload_type != T::TYPE {
            let found = self.payload_type.as_str().to_owned();
            return Err(ReadError::Kind { wanted: T::TYPE.as_str(), found });
        }
        let content = T::from_bytes(&self.payload)?;
        let Self { payload_type, payload, signers, .. } = self;
        Ok(Verified { content, payload_type, payload, signers })
    }
}

impl<T> Verified<T> {
    /// What was read.
    pub const fn content(&self) -> &T {
        &self.content
    }

    /// The very bytes that were verified.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The keys that signed them, of those that count.
    #[must_use]
    pub const fn signers(&self) -> &BTreeSet<KeyId> {
        &self.signers
    }
}
