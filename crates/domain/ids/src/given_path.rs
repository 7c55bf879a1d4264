use std::fmt;

use crate::path::write_text_form;

/// How many bytes a [`GivenPath`] keeps of either end of what is longer than both.
const END_BYTES: usize = 128;

/// Bytes that were given as a path and need not be one, to be shown to whoever gave them.
///
/// They are shown in the text form of a [`RepoPath`](crate::RepoPath). Of more than 256 bytes both ends are kept, with an
/// ellipsis between them.
#[derive(Clone, PartialEq, Eq)]
pub struct GivenPath {
    head: Vec<u8>,
    /// What follows after a gap.
    tail: Option<Vec<u8>>,
}

impl GivenPath {
    /// What is shown of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        if bytes.len() <= 2 * END_BYTES {
            return Self { head: bytes.to_vec(), tail: None };
        }
        let head = (0..=END_BYTES).rev().find(|at| begins_character(bytes, *at)).unwrap_or(END_BYTES);
        let from = bytes.len() - END_BYTES;
        let tail = (from..bytes.len()).find(|at| begins_character(bytes, *at)).unwrap_or(from);
        Self { head: bytes[..head].to_vec(), tail: Some(bytes[tail..].to_vec()) }
    }
}

/// Whether no character of UTF-8 goes on here.
fn begins_character(bytes: &[u8], at: usize) -> bool {
    bytes[at] & 0b1100_0000 != 0b1000_0000
}

impl fmt::Display for GivenPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_text_form(&self.head, f)?;
        let Some(tail) = &self.tail else { return Ok(()) };
        f.write_str("…")?;
        write_text_form(tail, f)
    }
}

impl fmt::Debug for GivenPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RepoPath;

    #[test]
    fn what_is_no_path_shows_every_character_and_both_ends() {
        let shown = |bytes: &[u8]| GivenPath::of(bytes).to_string();
        assert_eq!(shown(b""), "");
        assert_eq!(shown("../caf\u{e9}\0\u{202e}\\".as_bytes()), "../caf\u{e9}\\x00\\xe2\\x80\\xae\\\\");
        assert_eq!(shown(b"/caf\xe9\n"), "/caf\\xe9\\x0a");
        let long = format!("/{}/end", "x".repeat(1 << 20));
        assert_eq!(shown(long.as_bytes()), format!("/{}…{}/end", "x".repeat(127), "x".repeat(124)));
        let wide = format!("../{}", "\u{6f22}".repeat(200));
        assert_eq!(shown(wide.as_bytes()), format!("../{}…{}", "\u{6f22}".repeat(41), "\u{6f22}".repeat(42)));
        assert_eq!(shown(&[0x80; 257]), format!("{}…{}", "\\x80".repeat(128), "\\x80".repeat(128)));
    }

    proptest::proptest! {
        #[test]
        fn a_path_is_shown_as_itself(bytes in proptest::collection::vec(proptest::num::u8::ANY, 1..400)) {
            let shown = GivenPath::of(&bytes).to_string();
            proptest::prop_assert!(shown.chars().count() <= 8 * END_BYTES + 1);
            if let Ok(path) = RepoPath::from_bytes(&bytes[..bytes.len().min(256)]) {
                let short = GivenPath::of(path.as_bytes());
                proptest::prop_assert_eq!(short.to_string(), path.to_string());
            }
        }
    }
}
