use std::fmt;
use std::str::FromStr;

use sha1_checked::Sha1;

/// The name of an object of git: its SHA-1, in repositories that use it.
///
/// Its text form is 40 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName([u8; 20]);

/// What an object of git is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectKind {
    /// A commit.
    Commit,
    /// A directory.
    Tree,
    /// The content of a file, or the target of a link.
    Blob,
}

/// Why a text is not the name of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a commit is named by all 40 hexadecimal digits of its SHA-1, in lower case")]
pub struct ObjectNameError;

/// The bytes were made to have the SHA-1 of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Collision;

impl ObjectKind {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
            Self::Blob => "blob",
        }
    }
}

impl ObjectName {
    /// The name that git gives to these bytes.
    pub(crate) fn of(kind: ObjectKind, bytes: &[u8]) -> Result<Self, Collision> {
        use sha1_checked::Digest as _;
        let mut hasher = Sha1::new();
        hasher.update(format!("{} {}\0", kind.word(), bytes.len()));
        hasher.update(bytes);
        let result = hasher.try_finalize();
        if result.has_collision() { Err(Collision) } else { Ok(Self((*result.hash()).into())) }
    }

    /// The name with these 20 bytes, as it was computed elsewhere.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// The 20 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ObjectName {
    type Err = ObjectNameError;

    /// Reads the text form. Forty zeros are git's word for nothing, and no name.
    fn from_str(text: &str) -> Result<Self, ObjectNameError> {
        let digits = text.as_bytes();
        if digits.len() != 40 || digits.iter().all(|digit| *digit == b'0') {
            return Err(ObjectNameError);
        }
        let mut bytes = [0_u8; 20];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

fn nibble(digit: u8) -> Result<u8, ObjectNameError> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(ObjectNameError),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_the_names_that_git_gives_them() {
        let name = |kind, bytes: &[u8]| ObjectName::of(kind, bytes).unwrap().to_string();
        assert_eq!(name(ObjectKind::Blob, b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(name(ObjectKind::Blob, b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(name(ObjectKind::Tree, b""), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    }

    #[test]
    fn a_name_is_all_of_its_digits_in_lower_case() {
        let text = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
        assert_eq!(text.parse::<ObjectName>().unwrap().to_string(), text);
        for wrong in
            [&text[..39], &text.to_uppercase(), &"0".repeat(40), &format!("{text}0"), &text.replace('e', "g")]
        {
            assert_eq!(wrong.parse::<ObjectName>(), Err(ObjectNameError), "{wrong}");
        }
    }
}
