use ambit_canonical::EncodeError;

use super::{Envelope, PAYLOAD_BYTES, Payload, PayloadType, SIGNATURES, Signed, pae};
use crate::key::PublicKey;

/// Something that waits for its signature.
#[derive(Clone, Debug)]
pub struct Unsigned {
    payload_type: PayloadType,
    payload: Vec<u8>,
    hint: fn(&PublicKey) -> String,
}

/// Why there is no envelope.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    /// The value has no canonical bytes.
    #[error("there are no canonical bytes to sign")]
    Encode(#[from] EncodeError),
    /// More than an envelope carries.
    #[error("{0} bytes are more than an envelope carries")]
    TooLarge(usize),
    /// More signatures than an envelope has.
    #[error("an envelope has at most {SIGNATURES} signatures")]
    TooManySignatures,
    /// What came back is no signature of these bytes by this key.
    #[error("what was given is not this key's signature of these bytes")]
    Wrong,
    /// The signer could not.
    #[error("nothing was signed")]
    Signer(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl SignError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Encode(_) => "ATTESTATION_SHAPE",
            Self::TooLarge(_) | Self::TooManySignatures => "ENVELOPE_TOO_LARGE",
            Self::Wrong => "SIGNATURE_WRONG",
            Self::Signer(_) => "SIGNATURE_ABSENT",
        }
    }
}

impl Unsigned {
    /// The bytes of `value`, as they will be signed.
    ///
    /// # Errors
    /// [`SignError`] where it has none, or too many.
    pub fn of<T: Payload>(value: &T) -> Result<Self, SignError> {
        let payload = value.to_bytes()?.into_bytes();
        if payload.len() > PAYLOAD_BYTES {
            return Err(SignError::TooLarge(payload.len()));
        }
        Ok(Self { payload_type: T::TYPE, payload, hint: T::hint })
    }

    /// What a signer signs.
    #[must_use]
    pub fn pae(&self) -> Vec<u8> {
        pae(self.payload_type.as_str(), &self.payload)
    }

    /// The envelope with the signature that a signer made. It is checked first: what nobody could verify is not kept.
    ///
    /// # Errors
    /// [`SignError::Wrong`] for any other signature.
    pub fn signed(self, key: &PublicKey, signature: Vec<u8>) -> Result<Envelope, SignError> {
        let Self { payload_type, payload, hint } = self;
        Envelope { payload_type, payload, signatures: Vec::new() }.with(key, hint(key), signature)
    }
}

impl Envelope {
    /// The same with one more signature of the same bytes.
    ///
    /// # Errors
    /// [`SignError`] for a signature that is not of these bytes, or one too many.
    pub fn countersigned(self, key: &PublicKey, signature: Vec<u8>) -> Result<Self, SignError> {
        self.with(key, key.id().to_string(), signature)
    }

    fn with(mut self, key: &PublicKey, hint: String, signature: Vec<u8>) -> Result<Self, SignError> {
        if self.signatures.len() == SIGNATURES {
            return Err(SignError::TooManySignatures);
        }
        if !key.verifies(&self.pae(), &signature) {
            return Err(SignError::Wrong);
        }
        self.signatures.push(Signed { hint: Some(hint), signature });
        Ok(self)
    }
}

/// Signs `value`: `signer` gets the bytes and answers with the signature of `key` over them, in DER.
///
/// # Errors
/// [`SignError`] where there is nothing to sign, the signer could not, or what it gave is no signature of `key`.
pub fn sign<T: Payload, E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    value: &T,
    key: &PublicKey,
    signer: impl FnOnce(&[u8]) -> Result<Vec<u8>, E>,
) -> Result<Envelope, SignError> {
    let unsigned = Unsigned::of(value)?;
    let signature = signer(&unsigned.pae()).map_err(|cause| SignError::Signer(cause.into()))?;
    unsigned.signed(key, signature)
}
