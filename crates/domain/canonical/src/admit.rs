use std::collections::BTreeSet;
use std::fmt;

use ambit_ids::limits;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// Why raw bytes are not in the strict subset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdmissionError {
    /// More bytes than the caller allows.
    #[error("{found} bytes are more than the {limit} allowed")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
        /// The size in bytes.
        found: usize,
    },
    /// Not JSON, or JSON outside the subset; the text says where and what.
    #[error("{0}")]
    Refused(String),
}

/// Admits raw bytes of at most [`limits::RECORD_BYTES`].
///
/// # Errors
/// [`AdmissionError`] where the bytes are too many, are not JSON, or lie outside the strict subset.
pub fn admit(bytes: &[u8]) -> Result<(), AdmissionError> {
    admit_within(bytes, limits::RECORD_BYTES)
}

/// Admits raw bytes of at most `limit`.
///
/// # Errors
/// As [`admit`].
pub fn admit_within(bytes: &[u8], limit: usize) -> Result<(), AdmissionError> {
    if bytes.len() > limit {
        return Err(AdmissionError::TooLarge { limit, found: bytes.len() });
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    Strict { depth: 0 }
        .deserialize(&mut reader)
        .and_then(|()| reader.end())
        .map_err(|error| AdmissionError::Refused(error.to_string()))
}

/// Reads one value and keeps nothing of it but the answer that it lies in the subset.
#[derive(Clone, Copy)]
struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        if self.depth == limits::NESTING_DEPTH {
            return Err(E::custom(format_args!("nested deeper than {} levels", limits::NESTING_DEPTH)));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of the strict subset of JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        if value > limits::CANONICAL_INTEGER_MAX {
            return Err(E::custom(format_args!("the integer {value} is past 2^53 - 1")));
        }
        Ok(())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        if value.unsigned_abs() > limits::CANONICAL_INTEGER_MAX {
            return Err(E::custom(format_args!("the integer {value} is past -(2^53 - 1)")));
        }
        Ok(())
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        Err(E::custom("a number that is not an integer in plain digits"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        while items.next_element_seed(inner)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        let mut names = BTreeSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if names.contains(&name) {
                return Err(de::Error::custom(format_args!("the member {name:?} stands twice")));
            }
            names.insert(name);
            members.next_value_seed(inner)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subset_is_admitted() {
        for good in
            ["{}", "[]", "null", "\"\\u00e9\"", "{\"a\":[1,-1,true,null,\"x\"]}", "9007199254740991", " 1 "]
        {
            assert_eq!(admit(good.as_bytes()), Ok(()), "{good}");
        }
    }

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        let deep = "[".repeat(17) + &"]".repeat(17);
        for bad in [
            "{\"a\":1,\"a\":2}",
            "{\"a\":1,\"\\u0061\":2}",
            "9007199254740992",
            "-9007199254740992",
            "1.0",
            "1e2",
            "-0",
            "18446744073709551616",
            "\"\\ud800\"",
            "{\"a\":1}{}",
            "{\"a\":1,}",
            "",
            "nul",
            "\u{feff}{}",
            deep.as_str(),
        ] {
            assert!(admit(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(admit(b"\"\xff\"").is_err());
        assert!(matches!(admit_within(b"{}  ", 3), Err(AdmissionError::TooLarge { limit: 3, found: 4 })));
    }

    #[test]
    fn sixteen_levels_are_the_last_admitted() {
        assert_eq!(admit(("[".repeat(16) + &"]".repeat(16)).as_bytes()), Ok(()));
    }
}
