//! The text form of a public key (RFC 7468), in the one spelling that tools write.

use crate::base64_text;

const BEGIN: &str = "-----BEGIN PUBLIC KEY-----\n";
const END: &str = "-----END PUBLIC KEY-----\n";
const LINE: usize = 64;
/// The longest text that is read: no key that is read here needs more.
const TEXT_BYTES: usize = 1024;

pub(super) fn encode(der: &[u8]) -> String {
    let mut text = BEGIN.to_owned();
    let mut rest = base64_text::encode(der);
    while rest.len() > LINE {
        let tail = rest.split_off(LINE);
        text.push_str(&rest);
        text.push('\n');
        rest = tail;
    }
    text.push_str(&rest);
    text.push('\n');
    text.push_str(END);
    text
}

/// The bytes of exactly one such text, whose last line may lack its end.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    if text.len() > TEXT_BYTES {
        return None;
    }
    let body = text.strip_prefix(BEGIN)?;
    let body = body.strip_suffix(END).or_else(|| body.strip_suffix(END.trim_end()))?;
    let der = base64_text::decode(&body.replace('\n', ""))?;
    (encode(&der).trim_end() == text.trim_end_matches('\n')).then_some(der)
}
