use std::fmt;

use crate::limits::ABBREVIATION_DIGITS;

const FULL_DIGITS: usize = 40;

/// The full name of a commit: forty lowercase hexadecimal digits (SHA-1, as git writes them).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommitSha(String);

/// A commit as a person names it: in full, or by its first digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitName {
    /// In full.
    Full(CommitSha),
    /// At least seven and fewer than forty digits, which must begin the name of exactly one commit.
    Abbreviated(String),
}

/// The text names no commit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} names no commit; nothing was fetched. Name it by its forty hexadecimal digits, or by the first seven or \
     more"
)]
pub struct CommitNameError {
    /// The text.
    pub text: String,
}

impl CommitNameError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "MIRROR_COMMIT_MALFORMED"
    }
}

impl CommitSha {
    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl CommitName {
    /// Reads a name. Uppercase digits are taken for lowercase ones.
    ///
    /// # Errors
    /// [`CommitNameError`] where it is anything but seven to forty hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self, CommitNameError> {
        let fits = (ABBREVIATION_DIGITS..=FULL_DIGITS).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !fits {
            return Err(CommitNameError { text: text.to_owned() });
        }
        let digits = text.to_ascii_lowercase();
        Ok(if digits.len() == FULL_DIGITS {
            Self::Full(CommitSha(digits))
        } else {
            Self::Abbreviated(digits)
        })
    }

    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Full(sha) => sha.as_str(),
            Self::Abbreviated(digits) => digits,
        }
    }
}

impl fmt::Display for CommitSha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for CommitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn only_seven_to_forty_hexadecimal_digits_name_a_commit(text in ".{0,48}|[0-9a-fA-F]{0,48}|-[0-9a-f]{6,39}") {
            let fits = (7..=40).contains(&text.len()) && text.chars().all(|c| c.is_ascii_hexdigit());
            match CommitName::parse(&text) {
                Ok(name) => {
                    prop_assert!(fits);
                    prop_assert_eq!(name.as_str(), text.to_lowercase());
                    prop_assert_eq!(matches!(name, CommitName::Full(_)), text.len() == 40);
                }
                Err(error) => prop_assert!(!fits && error.text == text),
            }
        }
    }
}
