use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest (FIPS 180-4) of exact bytes.
///
/// Its text form is `sha256:` and 64 lower-case hexadecimal digits; no other spelling parses, so that two equal
/// digests are always equal strings. A digest is always of the plaintext.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// Why a text is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a digest is `sha256:` and 64 lower-case hexadecimal digits")]
pub struct ParseDigestError;

impl Digest {
    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of several byte strings, one after the other, without any separator between them.
    #[must_use]
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// A digest that was computed elsewhere, from its 32 bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The 64 hexadecimal digits without the `sha256:` prefix, as file names use them.
    #[must_use]
    pub fn to_hex(&self) -> String {
        String::from_utf8_lossy(&self.hex_digits()).into_owned()
    }

    /// The same digits as bytes of ASCII.
    #[must_use]
    pub fn hex_digits(&self) -> [u8; 64] {
        let mut digits = [0; 64];
        let (eights, _) = digits.as_chunks_mut::<8>();
        for (eight, four) in eights.iter_mut().zip(self.0.as_chunks::<4>().0) {
            *eight = digits_of(u32::from_be_bytes(*four)).to_be_bytes();
        }
        digits
    }

    /// The first twelve hexadecimal digits: enough for a person to tell two digests apart, never an identity.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_hex()[..12].to_owned()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hex = text.strip_prefix("sha256:").ok_or(ParseDigestError)?.as_bytes();
        let mut bytes = [0_u8; 32];
        if hex.len() != 64 {
            return Err(ParseDigestError);
        }
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

/// Eight hexadecimal digits in ASCII, computed side by side: a directory object has one digest for each of its entries.
const fn digits_of(four_bytes: u32) -> u64 {
    let spread = four_bytes as u64;
    let spread = (spread | spread << 16) & 0x0000_ffff_0000_ffff;
    let spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff;
    let values = (spread | spread << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    // One in each byte whose value is written as a letter: adding six to it reaches sixteen.
    let letters = (values + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    // No sum leaves its byte: the largest is `f`.
    values + 0x3030_3030_3030_3030 + letters * (b'a' - b'9' - 1) as u64
}

fn nibble(digit: u8) -> Result<u8, ParseDigestError> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(ParseDigestError),
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_string_has_the_published_digest() {
        assert_eq!(
            Digest::of(b"").to_string(),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(Digest::of_parts(&[b"ab", b"", b"c"]), Digest::of(b"abc"));
    }

    #[test]
    fn every_byte_has_its_two_digits() {
        for byte in 0..=u8::MAX {
            let bytes: [u8; 32] = std::array::from_fn(|at| byte.wrapping_add(u8::try_from(at * 7).unwrap()));
            let plain: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(Digest::from_bytes(bytes).to_hex(), plain);
        }
    }

    #[test]
    fn only_the_one_spelling_parses() {
        let text = Digest::of(b"abc").to_string();
        assert_eq!(text.parse::<Digest>().unwrap(), Digest::of(b"abc"));
        for wrong in [
            text.to_uppercase(),
            text.replace("sha256:", ""),
            text.replace("sha256:", "sha512:"),
            text[..70].to_owned(),
            format!("{text}0"),
            text.replace("sha256:", "sha256: "),
        ] {
            assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
        }
    }
}
