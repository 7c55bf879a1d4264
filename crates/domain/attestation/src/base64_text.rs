//! Base64 as envelopes hold it.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

/// The text of the standard alphabet, padded.
pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Reads a padded text of the standard alphabet or of the one for URLs; `None` for a text that mixes them, or whose last
/// character holds bits that belong to no byte: two texts of one alphabet never mean the same bytes.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_alphabet_is_read_and_no_second_spelling() {
        assert_eq!(encode(b"\xfb\xff\xfe"), "+//+");
        for good in ["+//+", "-__-"] {
            assert_eq!(decode(good).as_deref(), Some(&b"\xfb\xff\xfe"[..]), "{good}");
        }
        assert_eq!(decode("aGVsbG8=").as_deref(), Some(&b"hello"[..]));
        for bad in
            ["+__+", "aGVsbG8", "aGVsbG9=", "aGVsbG8==", "aGVs bG8=", "aGVsbG8=\n", "=", "a", "hello world"]
        {
            assert_eq!(decode(bad), None, "{bad:?}");
        }
    }
}
