use std::fmt::{self, Write as _};

use ambit_ids::is_unprintable;

/// How many bytes of a line an [`Excerpt`] covers.
const EXCERPT_BYTES: usize = 120;

/// The start of a line of a patch or a file, with its end where it is short.
///
/// Displayed, as in a message, what does not show is escaped: a tab as `\t`, the end of the line as `\n`, a backslash as
/// `\\`, a byte that is not UTF-8 as `\xe9`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    start: Vec<u8>,
    is_cut: bool,
}

impl Excerpt {
    pub(super) fn of(line: &[u8]) -> Self {
        if line.len() <= EXCERPT_BYTES {
            return Self { start: line.to_vec(), is_cut: false };
        }
        // A character is not cut.
        let begins = |at: &usize| line[*at] & 0b1100_0000 != 0b1000_0000;
        let end = (0..=EXCERPT_BYTES).rev().find(begins).unwrap_or(EXCERPT_BYTES);
        Self { start: line[..end].to_vec(), is_cut: true }
    }

    /// The text as it stands there, with nothing escaped, and an ellipsis where it was cut. What is not UTF-8 is U+FFFD.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.start).into_owned();
        if self.is_cut {
            text.push('…');
        }
        text
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.start.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '\\' => f.write_str("\\\\")?,
                    '\n' => f.write_str("\\n")?,
                    '\r' => f.write_str("\\r")?,
                    '\t' => f.write_str("\\t")?,
                    c if is_unprintable(c) => write!(f, "{}", c.escape_unicode())?,
                    c => f.write_char(c)?,
                }
            }
            write!(f, "{}", chunk.invalid().escape_ascii())?;
        }
        if self.is_cut { f.write_str("…") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_kept_as_it_stands_and_escaped_where_it_is_shown() {
        for (line, text, shown) in [
            (&b"say(\"a\\n\", 'b')\n"[..], "say(\"a\\n\", 'b')\n", "say(\"a\\\\n\", 'b')\\n"),
            (b"\tx\r\n", "\tx\r\n", "\\tx\\r\\n"),
            (b"\x1b[2J", "\x1b[2J", "\\u{1b}[2J"),
            ("\u{202e}\u{e9}\u{6f22}".as_bytes(), "\u{202e}\u{e9}\u{6f22}", "\\u{202e}\u{e9}\u{6f22}"),
            (b"caf\xe9", "caf\u{fffd}", "caf\\xe9"),
        ] {
            let excerpt = Excerpt::of(line);
            assert_eq!((excerpt.text().as_str(), excerpt.to_string().as_str()), (text, shown));
        }
        let long = Excerpt::of("x".repeat(EXCERPT_BYTES + 1).as_bytes());
        assert_eq!(long.text(), "x".repeat(EXCERPT_BYTES) + "…");
        assert_eq!(long.to_string(), long.text());
        assert_eq!(Excerpt::of("\u{6f22}".repeat(60).as_bytes()).text(), "\u{6f22}".repeat(40) + "…");
        assert_eq!(
            Excerpt::of(format!("x{}", "\u{6f22}".repeat(60)).as_bytes()).text(),
            format!("x{}…", "\u{6f22}".repeat(39))
        );
    }
}
