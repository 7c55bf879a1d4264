//! The texts that statements are made of.

use std::fmt;
use std::str::FromStr;

use ambit_ids::{UnixMs, text_form};

/// The longest name or URI.
const TEXT_BYTES: usize = 1024;

/// A text is not what it was read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WordingError {
    /// Empty, too long, or with a character that nobody would see.
    #[error("a name has 1 to {TEXT_BYTES} bytes and no control characters")]
    Name,
    /// Without a scheme, or with a character that a URI cannot hold.
    #[error("a URI is a scheme, a colon and 1 to {TEXT_BYTES} visible characters of ASCII")]
    Uri,
    /// In another spelling, or out of range.
    #[error("a moment is RFC 3339 in UTC with exactly three decimals, before the year 10000")]
    Moment,
}

/// What something is called within a statement: a path, a gate, a part of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(String);

impl Name {
    /// Validates `text`.
    ///
    /// # Errors
    /// [`WordingError::Name`].
    pub fn new(text: impl Into<String>) -> Result<Self, WordingError> {
        let text = text.into();
        let fits = (1..=TEXT_BYTES).contains(&text.len()) && !text.chars().any(char::is_control);
        if fits { Ok(Self(text)) } else { Err(WordingError::Name) }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What something is called everywhere: a type, a deployment, a policy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Uri(String);

impl Uri {
    /// Validates `text`.
    ///
    /// # Errors
    /// [`WordingError::Uri`].
    pub fn new(text: impl Into<String>) -> Result<Self, WordingError> {
        let text = text.into();
        let scheme = |scheme: &str| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
        };
        let fits = text.len() <= TEXT_BYTES
            && text.bytes().all(|b| b.is_ascii_graphic())
            && text.split_once(':').is_some_and(|(first, rest)| scheme(first) && !rest.is_empty());
        if fits { Ok(Self(text)) } else { Err(WordingError::Uri) }
    }

    /// The URI as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A moment as statements spell it: records hold the same moment as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(UnixMs);

impl Moment {
    /// The first millisecond of the year 10000, which has no spelling of four digits.
    const END_MS: u64 = 253_402_300_800_000;

    /// This moment.
    ///
    /// # Errors
    /// [`WordingError::Moment`] past the year 9999.
    pub fn new(moment: UnixMs) -> Result<Self, WordingError> {
        if moment.get() < Self::END_MS { Ok(Self(moment)) } else { Err(WordingError::Moment) }
    }

    /// As records hold it.
    #[must_use]
    pub const fn get(self) -> UnixMs {
        self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for Name {
    type Err = WordingError;

    fn from_str(text: &str) -> Result<Self, WordingError> {
        Self::new(text)
    }
}

impl FromStr for Uri {
    type Err = WordingError;

    fn from_str(text: &str) -> Result<Self, WordingError> {
        Self::new(text)
    }
}

impl FromStr for Moment {
    type Err = WordingError;

    fn from_str(text: &str) -> Result<Self, WordingError> {
        text.parse().map(Self).map_err(|_| WordingError::Moment)
    }
}

text_form!(Name);
text_form!(Uri);
text_form!(Moment);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_what_they_say_or_nothing() {
        for good in ["a", "src/caf\u{e9}.rs", "gate unit", &"x".repeat(1024)] {
            assert!(Name::new(good).is_ok(), "{good}");
        }
        for bad in ["", "a\nb", "\u{7f}", "\0", &"x".repeat(1025)] {
            assert_eq!(Name::new(bad), Err(WordingError::Name), "{bad:?}");
        }
        for good in ["urn:ambit:build:run:v1", "https://example.com/a?b#c", "git+ssh:x"] {
            assert!(Uri::new(good).is_ok(), "{good}");
        }
        for bad in ["", "x", ":x", "x:", "1a:b", "a b:c", "a:b c", "a:\u{e9}", "a:b\n", "a/b:c"] {
            assert_eq!(Uri::new(bad), Err(WordingError::Uri), "{bad:?}");
        }
        assert_eq!(
            Moment::new(UnixMs::new(Moment::END_MS - 1)).unwrap().to_string(),
            "9999-12-31T23:59:59.999Z"
        );
        assert_eq!(Moment::new(UnixMs::new(Moment::END_MS)), Err(WordingError::Moment));
        assert_eq!("2026-11-29T23:59:59Z".parse::<Moment>(), Err(WordingError::Moment));
    }
}
