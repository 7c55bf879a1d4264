use std::fmt;

use crate::ObjectId;
use crate::limits::ABBREVIATION_DIGITS;

/// Which commit is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rev {
    /// What `HEAD` names.
    Head,
    /// A commit, or an annotated tag of one, by all of its digits.
    Exact(ObjectId),
    /// A branch or tag by its name, or else a commit by its first digits.
    Name(String),
}

/// Why a text names no commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no name of a branch, a tag or a commit; parents, ranges and dates are not understood")]
pub struct RevError;

impl std::str::FromStr for Rev {
    type Err = RevError;

    fn from_str(text: &str) -> Result<Self, RevError> {
        if text == "HEAD" {
            return Ok(Self::Head);
        }
        if let Some(id) = ObjectId::from_hex(text.as_bytes()) {
            return Ok(Self::Exact(id));
        }
        if is_reference_name(text.as_bytes()) { Ok(Self::Name(text.to_owned())) } else { Err(RevError) }
    }
}

impl Rev {
    /// The digits, where the name could be an abbreviated one.
    pub(crate) fn digits(name: &str) -> Option<Vec<u8>> {
        let digits = name.as_bytes().to_ascii_lowercase();
        let fits = (ABBREVIATION_DIGITS..ObjectId::DIGITS).contains(&digits.len());
        (fits && digits.iter().all(u8::is_ascii_hexdigit)).then_some(digits)
    }
}

/// Whether git would admit a reference of this name (`git check-ref-format --allow-onelevel`).
pub(crate) fn is_reference_name(name: &[u8]) -> bool {
    let forbidden = |byte: &u8| *byte <= b' ' || b"\x7f~^:?*[\\".contains(byte);
    let component = |part: &[u8]| {
        !part.is_empty() && !part.starts_with(b".") && !part.ends_with(b".lock") && part.len() < 256
    };
    let holds = |needle: &[u8]| name.windows(needle.len()).any(|part| part == needle);
    name.len() <= 1024
        && name != b"@"
        && !name.starts_with(b"-")
        && !name.ends_with(b".")
        && !name.iter().any(forbidden)
        && !holds(b"..")
        && !holds(b"@{")
        && name.split(|byte| *byte == b'/').all(component)
}

impl fmt::Display for Rev {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Head => f.write_str("HEAD"),
            Self::Exact(id) => fmt::Display::fmt(id, f),
            Self::Name(name) => fmt::Display::fmt(&name.escape_debug(), f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_nowhere_else() {
        for good in ["main", "v1.0", "feature/x", "refs/heads/main", "abcd", "a@b", "é"] {
            assert_eq!(good.parse(), Ok(Rev::Name(good.to_owned())), "{good}");
        }
        for bad in [
            "",
            "@",
            "../config",
            "a/../b",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.lock",
            "a b",
            "a~1",
            "a^",
            "a@{1}",
            "a..b",
            "a:b",
            "a\\b",
            "-x",
            "a\0",
            "a\n",
            "a.",
        ] {
            assert_eq!(bad.parse::<Rev>(), Err(RevError), "{bad:?}");
        }
    }

    #[test]
    fn all_digits_are_a_commit_and_some_may_be_one() {
        let digits = "0123456789abcdef0123456789ABCDEF01234567";
        let Ok(Rev::Exact(id)) = digits.parse() else { panic!("{digits}") };
        assert_eq!(id.to_string(), digits.to_lowercase());
        assert_eq!(Rev::digits("ABCd"), Some(b"abcd".to_vec()));
        assert_eq!(Rev::digits("abc"), None);
        assert_eq!(Rev::digits("abcg"), None);
        assert_eq!("HEAD".parse(), Ok(Rev::Head));
    }
}
