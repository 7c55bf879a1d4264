use ambit_canonical::{AdmissionError, admit_within};
use serde::Deserialize;

use super::{
    ENVELOPE_BYTES, Envelope, HINT_BYTES, PAYLOAD_BYTES, PayloadType, SIGNATURE_BYTES, SIGNATURES, Signed,
};
use crate::base64_text;

/// Why bytes are no envelope.
#[derive(Debug, thiserror::Error)]
pub enum EnvelopeError {
    /// Too many bytes, no JSON, a member twice, nested too deeply.
    #[error("not an envelope: {0}")]
    Admission(#[from] AdmissionError),
    /// JSON of another shape.
    #[error("not an envelope: {0}")]
    Shape(#[source] serde_json::Error),
    /// Of another type, in whatever spelling.
    #[error("the envelope holds {found:?}, not {wanted:?}")]
    Type {
        /// What was asked for.
        wanted: &'static str,
        /// What it says it holds.
        found: String,
    },
    /// A text that is no base64, or a second spelling of the same bytes.
    #[error("{0} is not base64")]
    Base64(&'static str),
    /// Nobody signed it.
    #[error("nobody signed the envelope")]
    Unsigned,
    /// More of something than is read.
    #[error("{0} is more than is read")]
    TooMuch(&'static str),
}

impl EnvelopeError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Admission(AdmissionError::TooLarge { .. }) | Self::TooMuch(_) => "ENVELOPE_TOO_LARGE",
            Self::Admission(AdmissionError::Refused(_)) | Self::Shape(_) => "ENVELOPE_SHAPE",
            Self::Type { .. } => "ENVELOPE_TYPE",
            Self::Base64(_) => "ENVELOPE_BASE64",
            Self::Unsigned => "ENVELOPE_UNSIGNED",
        }
    }
}

/// Members that are not named here are left out: nothing signs them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Read {
    payload: String,
    payload_type: String,
    signatures: Vec<ReadSignature>,
}

#[derive(Deserialize)]
struct ReadSignature {
    #[serde(default)]
    keyid: Option<String>,
    sig: String,
}

impl Envelope {
    /// Reads an envelope of exactly this type.
    ///
    /// # Errors
    /// [`EnvelopeError`]: what cannot be read whole is not read at all.
    pub fn parse(bytes: &[u8], payload_type: PayloadType) -> Result<Self, EnvelopeError> {
        admit_within(bytes, ENVELOPE_BYTES)?;
        let read: Read = serde_json::from_slice(bytes).map_err(EnvelopeError::Shape)?;
        if read.payload_type != payload_type.as_str() {
            return Err(EnvelopeError::Type { wanted: payload_type.as_str(), found: read.payload_type });
        }
        let payload = base64_text::decode(&read.payload).ok_or(EnvelopeError::Base64("payload"))?;
        if payload.len() > PAYLOAD_BYTES {
            return Err(EnvelopeError::TooMuch("the payload"));
        }
        if read.signatures.is_empty() {
            return Err(EnvelopeError::Unsigned);
        }
        if read.signatures.len() > SIGNATURES {
            return Err(EnvelopeError::TooMuch("the number of signatures"));
        }
        let signatures = read.signatures.into_iter().map(signed).collect::<Result<_, _>>()?;
        Ok(Self { payload_type, payload, signatures })
    }
}

/// An empty hint is none, as the format has it; an empty signature is nobody's.
fn signed(read: ReadSignature) -> Result<Signed, EnvelopeError> {
    let signature = base64_text::decode(&read.sig).ok_or(EnvelopeError::Base64("a signature"))?;
    let hint = read.keyid.filter(|hint| !hint.is_empty());
    if signature.is_empty() {
        return Err(EnvelopeError::Unsigned);
    }
    if signature.len() > SIGNATURE_BYTES {
        return Err(EnvelopeError::TooMuch("a signature"));
    }
    if hint.as_ref().is_some_and(|hint| hint.len() > HINT_BYTES) {
        return Err(EnvelopeError::TooMuch("the hint at a key"));
    }
    Ok(Signed { hint, signature })
}
