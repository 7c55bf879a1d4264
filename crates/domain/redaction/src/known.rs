//! A key that this program holds, in the forms in which another program may write it.

use zeroize::Zeroizing;

use crate::scan::{Ahead, Look};

/// Shorter texts are no keys but words that servers without keys are given in place of one, and are found in any project.
pub const LEAST_KEY_BYTES: usize = 16;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// One form of a key. Its memory is cleared.
pub(crate) struct Known {
    form: Zeroizing<Vec<u8>>,
    /// Whether programs break lines in it.
    is_wrapped: bool,
}

impl Known {
    pub(crate) fn start(&self) -> [u8; 2] {
        [self.form[0], self.form[1]]
    }

    /// Whether it begins here.
    pub(crate) fn look(&self, ahead: Ahead<'_>) -> Look {
        let mut at = 0;
        for wanted in self.form.iter() {
            let mut skipped = 0;
            while self.is_wrapped
                && at > 0
                && skipped < 2
                && matches!(ahead.bytes.get(at), Some(b'\r' | b'\n'))
            {
                at += 1;
                skipped += 1;
            }
            match ahead.bytes.get(at) {
                None => return ahead.ended(),
                Some(byte) if byte == wanted => at += 1,
                Some(_) => return Look::Nothing,
            }
        }
        Look::Secret { from: 0, to: at, then: None }
    }
}

/// Every form of a key; none of one that is too short.
pub(crate) fn forms(key: &str) -> Vec<Known> {
    if key.len() < LEAST_KEY_BYTES {
        return Vec::new();
    }
    let bytes = key.as_bytes();
    let mut known: Vec<Known> = Vec::new();
    let mut add = |form: Vec<u8>, is_wrapped| {
        let form = Zeroizing::new(form);
        if known.iter().all(|other| other.form != form) {
            known.push(Known { form, is_wrapped });
        }
    };
    add(bytes.to_vec(), false);
    add(each(bytes, in_json), false);
    for is_upper in [true, false] {
        add(each(bytes, |byte| in_url(byte, is_upper)), false);
        add(each(bytes, |byte| format!("%{}", in_hex(byte, is_upper))), false);
        add(each(bytes, |byte| in_hex(byte, is_upper)), true);
    }
    for before in 0..3 {
        let standard = base64(bytes, before);
        let urls = standard.iter().map(|byte| match byte {
            b'+' => b'-',
            b'/' => b'_',
            other => *other,
        });
        add(urls.collect(), true);
        add(standard, true);
    }
    known
}

fn each(bytes: &[u8], form: impl Fn(u8) -> String) -> Vec<u8> {
    bytes.iter().flat_map(|byte| form(*byte).into_bytes()).collect()
}

fn in_hex(byte: u8, is_upper: bool) -> String {
    if is_upper { format!("{byte:02X}") } else { format!("{byte:02x}") }
}

fn in_json(byte: u8) -> String {
    match byte {
        b'"' => "\\\"".to_owned(),
        b'\\' => "\\\\".to_owned(),
        other => char::from(other).to_string(),
    }
}

fn in_url(byte: u8, is_upper: bool) -> String {
    match byte {
        b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{}", in_hex(byte, is_upper)),
    }
}

/// The characters of base64 that these bytes decide wholly, where `before` bytes of something else stand before them.
fn base64(bytes: &[u8], before: usize) -> Vec<u8> {
    let mut padded = vec![0; before];
    padded.extend_from_slice(bytes);
    let padded = Zeroizing::new(padded);
    let bit = |at: usize| padded[at / 8] >> (7 - at % 8) & 1;
    let sextets = (before * 8).div_ceil(6)..padded.len() * 8 / 6;
    sextets.map(|at| BASE64[usize::from((0..6).fold(0, |sum, i| sum << 1 | bit(at * 6 + i)))]).collect()
}
