use std::fmt;
use std::str::FromStr;

use crate::path::is_unprintable;

/// The longest excerpt.
const MAX_BYTES: usize = 160;
/// What stands where the rest was left out.
const CUT: char = '\u{2026}';

/// A piece of somebody's text for people to read: one line, at most 160 bytes, and nothing in it that a reader would not see.
///
/// White space of any kind is one space. Control and format characters (Unicode `Cc` and `Cf`, among them those that turn
/// the direction of text), variation selectors, separators of lines, private use and unassigned tags are written out as
/// `\u{202e}`. Empty where there is no text.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Excerpt(String);

/// A text that is no excerpt: too long, or with a character that would have been written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is no excerpt: one line of at most {MAX_BYTES} bytes without control characters")]
pub struct NotAnExcerpt;

impl Excerpt {
    /// The beginning of `text`, as far as it fits.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut shown = String::new();
        for word in text.split_whitespace() {
            if !shown.is_empty() {
                shown.push(' ');
            }
            for c in word.chars() {
                if is_seen(c) {
                    shown.push(c);
                } else {
                    shown.extend(c.escape_unicode());
                }
                if shown.len() > MAX_BYTES {
                    return Self(cut(shown));
                }
            }
        }
        Self(shown)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Somebody's text in full, line by line, for whoever must not be led by what nobody sees: every character that an
/// [`Excerpt`] would write out is written out, and line feeds and tabs stay. A carriage return before a line feed goes.
#[must_use]
pub fn written_out(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            c if is_seen(c) || matches!(c, '\n' | '\t') => shown.push(c),
            c => shown.extend(c.escape_unicode()),
        }
    }
    shown
}

fn cut(mut shown: String) -> String {
    let mut end = MAX_BYTES - CUT.len_utf8();
    while !shown.is_char_boundary(end) {
        end -= 1;
    }
    shown.truncate(end);
    shown.push(CUT);
    shown
}

/// Whether a person sees the character where it stands.
fn is_seen(c: char) -> bool {
    let other = matches!(c,
        '\u{180b}'..='\u{180f}' | '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}'
        | '\u{feff}' | '\u{fff0}'..='\u{fff8}' | '\u{e000}'..='\u{f8ff}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{f0000}'..='\u{10ffff}');
    !other && !is_unprintable(c)
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Excerpt {
    type Err = NotAnExcerpt;

    fn from_str(text: &str) -> Result<Self, NotAnExcerpt> {
        let is_one = text.len() <= MAX_BYTES && text.chars().all(is_seen);
        is_one.then(|| Self(text.to_owned())).ok_or(NotAnExcerpt)
    }
}

crate::text_form!(Excerpt);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_written_out() {
        for (text, shown) in [
            ("assert total == 3", "assert total == 3"),
            ("  a\n\tb\u{2003}c ", "a b c"),
            ("na\u{ef}ve \u{4e2d}", "na\u{ef}ve \u{4e2d}"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("i\u{e0069}x\u{fe0f}\u{200b}", "i\\u{e0069}x\\u{fe0f}\\u{200b}"),
        ] {
            assert_eq!(Excerpt::of(text).as_str(), shown);
        }
    }

    #[test]
    fn a_text_in_full_keeps_its_lines_and_writes_out_the_same_characters() {
        let text = "one\r\n\ttwo\u{202e}\u{200b}\u{e0041}\u{1b}[2J\rthree";
        assert_eq!(written_out(text), "one\n\ttwo\\u{202e}\\u{200b}\\u{e0041}\\u{1b}[2J\\u{d}three");
        assert_eq!(written_out("na\u{ef}ve \u{4e2d}\n"), "na\u{ef}ve \u{4e2d}\n");
    }

    #[test]
    fn a_long_text_is_cut_at_a_character_and_is_read_back() {
        for text in ["\u{e9}".repeat(200), "a\u{202e}".repeat(100), "x".repeat(160), "x".repeat(161)] {
            let shown = Excerpt::of(&text);
            assert!(shown.as_str().len() <= MAX_BYTES);
            assert_eq!(shown.as_str().ends_with(CUT), text.len() > MAX_BYTES);
            assert_eq!(shown.as_str().parse(), Ok(shown.clone()));
        }
        for foreign in ["a\u{202e}b".to_owned(), "two\nlines".to_owned(), "x".repeat(161)] {
            assert_eq!(foreign.parse::<Excerpt>(), Err(NotAnExcerpt));
        }
    }
}
