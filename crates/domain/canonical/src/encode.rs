use std::fmt;

use ambit_ids::Digest;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::admit::{AdmissionError, admit_within};

/// Bytes in canonical form. They are hashed, signed and stored as they are and never serialised a second time.
#[derive(Clone, PartialEq, Eq)]
pub struct CanonicalBytes(Vec<u8>);

impl CanonicalBytes {
    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, handed on.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The digest of exactly these bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&self.0)
    }
}

impl fmt::Debug for CanonicalBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

/// Why a value has no canonical bytes, or bytes have no value.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// The value does not serialise to JSON, or the bytes do not fit the type.
    #[error("not of the expected shape: {0}")]
    Shape(#[source] serde_json::Error),
    /// The value lies outside the strict subset.
    #[error(transparent)]
    Admission(#[from] AdmissionError),
    /// The bytes are JSON of the subset, but not its canonical form.
    #[error("the bytes are not in canonical form")]
    NotCanonical,
}

/// The canonical bytes of a typed value.
///
/// # Errors
/// [`EncodeError`] where the value holds a float, an integer past 2^53 - 1, or nests too deeply.
pub fn encode<T: Serialize>(value: &T) -> Result<CanonicalBytes, EncodeError> {
    // The plain text is admitted first: the canonical writer would round what it cannot tell.
    let plain = serde_json::to_vec(value).map_err(EncodeError::Shape)?;
    admit_within(&plain, usize::MAX)?;
    serde_json_canonicalizer::to_vec(value).map(CanonicalBytes).map_err(EncodeError::Shape)
}

/// Reads a typed value from bytes of at most `limit_bytes` that must be canonical.
///
/// # Errors
/// [`EncodeError`] where the bytes lie outside the subset, do not fit `T`, or are a second spelling of the value.
pub fn decode<T: Serialize + DeserializeOwned>(bytes: &[u8], limit_bytes: usize) -> Result<T, EncodeError> {
    admit_within(bytes, limit_bytes)?;
    let value: T = serde_json::from_slice(bytes).map_err(EncodeError::Shape)?;
    if encode(&value)?.as_bytes() != bytes {
        return Err(EncodeError::NotCanonical);
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn members_are_sorted_by_utf_16_and_nothing_is_spaced() {
        let value = BTreeMap::from([("\u{10000}", 1), ("\u{ffff}", 2), ("a", 3)]);
        assert_eq!(encode(&value).unwrap().as_bytes(), "{\"a\":3,\"\u{10000}\":1,\"\u{ffff}\":2}".as_bytes());
    }

    #[test]
    fn a_float_or_a_large_integer_has_no_canonical_bytes() {
        assert!(encode(&1.5_f64).is_err());
        assert!(encode(&u64::MAX).is_err());
        assert!(encode(&(1_u64 << 53)).is_err());
    }

    #[test]
    fn a_second_spelling_does_not_decode() {
        type Shape = BTreeMap<String, u8>;
        assert!(decode::<Shape>(b"{\"a\":1,\"b\":2}", 100).is_ok());
        for other in ["{\"b\":2,\"a\":1}", "{\"a\":1, \"b\":2}", "{\"\\u0061\":1,\"b\":2}"] {
            assert!(
                matches!(decode::<Shape>(other.as_bytes(), 100), Err(EncodeError::NotCanonical)),
                "{other}"
            );
        }
    }
}
