//! The one spelling of numbers and hashes in lines of text. Two texts that mean the same are then the same text.

use ambit_ids::Digest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A number in decimal digits without leading zeroes or sign.
pub(crate) fn decimal(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|digit| digit.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

/// Bytes in the standard alphabet with their padding, and no spare bits set (RFC 4648, sections 4 and 3.5).
pub(crate) fn unbase64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// The same the other way.
pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// A hash in base64.
pub(crate) fn hash(text: &str) -> Option<Digest> {
    // Nothing longer is decoded: 32 bytes are always 44 characters.
    if text.len() != 44 {
        return None;
    }
    unbase64(text)?.try_into().ok().map(Digest::from_bytes)
}
