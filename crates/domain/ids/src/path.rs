use std::fmt;
use std::str::FromStr;

use crate::limits;

/// The path of a file in a project: relative, in bytes, `/` between components.
///
/// A value of this type cannot leave the tree it is resolved in and cannot name git's own directory: no component is
/// empty, `.`, `..` or anything that a file system folds to `.git`, and there is no NUL. It need not be UTF-8. Paths
/// compare by their bytes.
///
/// Its text form (for JSON and people) is the UTF-8 itself, with `\\` for a backslash and `\xNN` for each byte that
/// is a control character, part of an invisible or direction-changing character, or not UTF-8. It reads back exactly.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(Vec<u8>);

/// Why bytes are not a path within a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Nothing at all.
    #[error("the path is empty")]
    Empty,
    /// It starts at a root.
    #[error("the path is absolute")]
    Absolute,
    /// It would climb out.
    #[error("the path has a `..` component")]
    Parent,
    /// `a//b`, a trailing slash, or a `.` component: a second spelling of another path.
    #[error("the path has an empty or `.` component")]
    NotNormal,
    /// A NUL byte.
    #[error("the path holds a NUL byte")]
    Nul,
    /// A component that some file system takes for git's own directory.
    #[error("the path names git's own directory, in a spelling that some file system folds to `.git`")]
    GitDirectory,
    /// Past [`limits::PATH_BYTES`], [`limits::PATH_COMPONENT_BYTES`] or [`limits::PATH_COMPONENTS`].
    #[error("the path is too long or too deep")]
    TooLong,
    /// The text form has an escape that this type does not write.
    #[error("the path has a malformed escape")]
    Escape,
}

impl PathError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Empty => "PATH_EMPTY",
            Self::Absolute => "PATH_ABSOLUTE",
            Self::Parent => "PATH_PARENT",
            Self::NotNormal => "PATH_NOT_NORMAL",
            Self::Nul => "PATH_NUL",
            Self::GitDirectory => "PATH_GIT_DIRECTORY",
            Self::TooLong => "PATH_TOO_LONG",
            Self::Escape => "PATH_ESCAPE",
        }
    }
}

impl RepoPath {
    /// Validates the bytes of a path.
    ///
    /// # Errors
    /// [`PathError`] names the first rule that the path breaks.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PathError> {
        if bytes.is_empty() {
            return Err(PathError::Empty);
        }
        if bytes.len() > limits::PATH_BYTES {
            return Err(PathError::TooLong);
        }
        if bytes.contains(&0) {
            return Err(PathError::Nul);
        }
        if bytes[0] == b'/' {
            return Err(PathError::Absolute);
        }
        let mut components = 0;
        for component in bytes.split(|b| *b == b'/') {
            components += 1;
            match component {
                b"" | b"." => return Err(PathError::NotNormal),
                b".." => return Err(PathError::Parent),
                name if name.len() > limits::PATH_COMPONENT_BYTES => return Err(PathError::TooLong),
                name if folds_to_git(name) => return Err(PathError::GitDirectory),
                _ => {}
            }
        }
        if components > limits::PATH_COMPONENTS {
            return Err(PathError::TooLong);
        }
        Ok(Self(bytes.to_vec()))
    }

    /// The path of `name` within the directory `self`.
    ///
    /// # Errors
    /// [`PathError`] where the joined path breaks a rule.
    pub fn join(&self, name: &[u8]) -> Result<Self, PathError> {
        let mut bytes = self.0.clone();
        bytes.push(b'/');
        bytes.extend_from_slice(name);
        Self::from_bytes(&bytes)
    }

    /// The bytes, `/` between components.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The components from the root down; never empty.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0.split(|b| *b == b'/')
    }

    /// The last component.
    #[must_use]
    pub fn file_name(&self) -> &[u8] {
        self.components().next_back().unwrap_or_default()
    }

    /// Whether every character of it shows: none is a control, invisible or direction-changing character. Bytes that
    /// are not UTF-8 are no characters.
    #[must_use]
    pub fn is_printable(&self) -> bool {
        self.0.utf8_chunks().all(|chunk| !chunk.valid().chars().any(is_unprintable))
    }

    /// The directory that holds this path; `None` at the top.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let cut = self.0.iter().rposition(|b| *b == b'/')?;
        Some(Self(self.0[..cut].to_vec()))
    }
}

/// Whether some file system opens `.git` under this name: by case (all of them somewhere), by trailing dots, spaces
/// or a stream suffix and the short name `git~1` (NTFS), or by characters that HFS+ ignores.
fn folds_to_git(name: &[u8]) -> bool {
    let visible: Vec<u8> = match std::str::from_utf8(name) {
        Ok(text) => text.chars().filter(|c| !hfs_ignores(*c)).collect::<String>().into_bytes(),
        Err(_) => name.to_vec(),
    };
    let stem = visible.split(|b| *b == b':').next().unwrap_or_default();
    let end = stem.iter().rposition(|b| !matches!(b, b'.' | b' ')).map_or(0, |last| last + 1);
    let stem = &stem[..end];
    stem.eq_ignore_ascii_case(b".git") || stem.eq_ignore_ascii_case(b"git~1")
}

fn hfs_ignores(c: char) -> bool {
    matches!(c,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Whether a character must be shown as something else: it is invisible, looks like a blank that it is not, moves the
/// cursor or turns the direction of text.
#[must_use]
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || hfs_ignores(c)
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180e}'
            | '\u{2800}' | '\u{3164}' | '\u{ffa0}' | '\u{200b}' | '\u{2028}'..='\u{2029}' | '\u{2060}'..='\u{2069}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Writes bytes in the text form of a path, whether or not they are one.
pub(crate) fn write_text_form(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let mut buffer = [0; 4];
            match c {
                '\\' => f.write_str("\\\\")?,
                c if is_unprintable(c) => {
                    for byte in c.encode_utf8(&mut buffer).bytes() {
                        write!(f, "\\x{byte:02x}")?;
                    }
                }
                c => f.write_str(c.encode_utf8(&mut buffer))?,
            }
        }
        for byte in chunk.invalid() {
            write!(f, "\\x{byte:02x}")?;
        }
    }
    Ok(())
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_text_form(&self.0, f)
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for RepoPath {
    type Err = PathError;

    /// Reads the text form, escapes included.
    fn from_str(text: &str) -> Result<Self, PathError> {
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        while let Some((first, tail)) = rest.split_first() {
            rest = match (first, tail) {
                (b'\\', [b'\\', after @ ..]) => {
                    bytes.push(b'\\');
                    after
                }
                (b'\\', [b'x', high, low, after @ ..]) => {
                    let digit = |d: &u8| char::from(*d).to_digit(16).ok_or(PathError::Escape);
                    let value = digit(high)? * 16 + digit(low)?;
                    bytes.push(u8::try_from(value).map_err(|_| PathError::Escape)?);
                    after
                }
                (b'\\', _) => return Err(PathError::Escape),
                (byte, after) => {
                    bytes.push(*byte);
                    after
                }
            };
        }
        Self::from_bytes(&bytes)
    }
}

crate::text_form!(RepoPath);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_inside_and_has_one_spelling() {
        for good in
            ["a", "src/lib.rs", "ok ..name.txt", "...", ".gitignore", ".github/x", "a.git", "git", "gita~1"]
        {
            assert!(RepoPath::from_bytes(good.as_bytes()).is_ok(), "{good}");
        }
        let long = "a/".repeat(64) + "a";
        for (bad, why) in [
            ("", PathError::Empty),
            ("/etc/passwd", PathError::Absolute),
            ("../x", PathError::Parent),
            ("a/../b", PathError::Parent),
            ("a//b", PathError::NotNormal),
            ("./a", PathError::NotNormal),
            ("a/", PathError::NotNormal),
            ("a\0b", PathError::Nul),
            (".git/hooks/pre-commit", PathError::GitDirectory),
            ("sub/.GIT/config", PathError::GitDirectory),
            (".git.", PathError::GitDirectory),
            (".git ", PathError::GitDirectory),
            (".git::$INDEX_ALLOCATION/x", PathError::GitDirectory),
            ("GIT~1/config", PathError::GitDirectory),
            (".g\u{200c}it/config", PathError::GitDirectory),
            (long.as_str(), PathError::TooLong),
        ] {
            assert_eq!(RepoPath::from_bytes(bad.as_bytes()), Err(why), "{bad:?}");
        }
    }

    #[test]
    fn a_printable_path_shows_every_character() {
        for (path, printable) in [
            (&b"a b"[..], true),
            ("é".as_bytes(), true),
            (b"caf\xe9", true),
            (b"a\x1b[0m", false),
            (b"\xe9\x07", false),
        ] {
            assert_eq!(RepoPath::from_bytes(path).unwrap().is_printable(), printable, "{path:?}");
        }
        assert!(!RepoPath::from_bytes("a\u{200b}".as_bytes()).unwrap().is_printable());
    }

    #[test]
    fn text_shows_what_cannot_be_seen() {
        let path = RepoPath::from_bytes("a\u{202e}b\\c\n".as_bytes()).unwrap();
        assert_eq!(path.to_string(), "a\\xe2\\x80\\xaeb\\\\c\\x0a");
        assert_eq!(RepoPath::from_bytes(b"caf\xe9").unwrap().to_string(), "caf\\xe9");
        assert_eq!(RepoPath::from_bytes("café/é.txt".as_bytes()).unwrap().to_string(), "café/é.txt");
        for bad in ["a\\", "a\\n", "a\\x1", "a\\xzz"] {
            assert_eq!(bad.parse::<RepoPath>(), Err(PathError::Escape), "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_text_form_reads_back(bytes in proptest::collection::vec(proptest::num::u8::ANY, 1..40)) {
            if let Ok(path) = RepoPath::from_bytes(&bytes) {
                proptest::prop_assert_eq!(path.to_string().parse::<RepoPath>().unwrap(), path);
            }
        }
    }
}
