use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

use crate::{RepoPath, limits};

/// A pattern of project paths: `*` and `?` within one component, `**` across components, `[...]` and `{a,b}`.
///
/// Letters match in their own case only. A pattern is matched against the whole path.
#[derive(Clone)]
pub struct PathPattern {
    text: String,
    matcher: GlobMatcher,
}

/// Why a text is not a pattern of project paths.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It could match nothing in a project.
    #[error("a path pattern is relative to the project and has no empty, `.` or `..` component")]
    NotRelative,
    /// Longer than any path that it could match. A pattern is compiled, and an unbounded one could not be.
    #[error("a path pattern has at most {} bytes", limits::PATH_BYTES)]
    TooLong,
    /// Its syntax is wrong.
    #[error("the path pattern is malformed: {0}")]
    Syntax(String),
}

impl PathPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`PatternError`] where the syntax is wrong or the pattern could match nothing.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        if text.len() > limits::PATH_BYTES {
            return Err(PatternError::TooLong);
        }
        if text.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(PatternError::NotRelative);
        }
        let glob = GlobBuilder::new(text)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| PatternError::Syntax(error.kind().to_string()))?;
        Ok(Self { text: text.to_owned(), matcher: glob.compile_matcher() })
    }

    /// The pattern that matches this path alone; `None` where the path is no text, which a pattern is.
    #[must_use]
    pub fn of(path: &RepoPath) -> Option<Self> {
        let text = std::str::from_utf8(path.as_bytes()).ok()?;
        let escaped: String = text
            .chars()
            .flat_map(|c| [Some('\\').filter(|_| "*?[]{}\\,!".contains(c)), Some(c)].into_iter().flatten())
            .collect();
        Self::new(&escaped).ok()
    }

    /// Whether the pattern matches the whole path.
    #[must_use]
    pub fn matches(&self, path: &RepoPath) -> bool {
        self.matcher.is_match(OsStr::from_bytes(path.as_bytes()))
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl PartialEq for PathPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PathPattern {}

impl fmt::Debug for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for PathPattern {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for PathPattern {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// Several patterns; a path belongs to the set where any of them matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PathSet(pub Vec<PathPattern>);

impl PathSet {
    /// Whether any pattern matches the path.
    #[must_use]
    pub fn contains(&self, path: &RepoPath) -> bool {
        self.0.iter().any(|pattern| pattern.matches(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        PathPattern::new(pattern).unwrap().matches(&path.parse().unwrap())
    }

    #[test]
    fn a_star_stays_within_its_component() {
        assert!(matches("src/*.rs", "src/lib.rs"));
        assert!(!matches("src/*.rs", "src/a/lib.rs"));
        assert!(matches("src/**", "src/a/b/lib.rs"));
        assert!(matches("**/test_*.py", "test_a.py"));
        assert!(matches("**/test_*.py", "a/b/test_a.py"));
        assert!(!matches("src/**", "srcs/a"));
        assert!(!matches("src/lib.rs", "SRC/lib.rs"));
    }

    #[test]
    fn a_path_is_a_pattern_of_itself_alone() {
        for path in ["a/b.py", "a*", "[x]/{a,b}!?", "caf\u{e9}"] {
            let path: RepoPath = path.parse().unwrap();
            let pattern = PathPattern::of(&path).unwrap();
            assert!(pattern.matches(&path), "{pattern}");
        }
        assert!(!PathPattern::of(&"a*".parse().unwrap()).unwrap().matches(&"ab".parse().unwrap()));
        assert_eq!(PathPattern::of(&RepoPath::from_bytes(b"\xff").unwrap()), None);
    }

    #[test]
    fn a_pattern_that_could_match_nothing_is_refused() {
        for bad in ["", "/src/**", "src/", "../x", "a/../b", "a//b", "a/[b"] {
            assert!(PathPattern::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_pattern_too_large_to_compile_is_refused_and_not_compiled() {
        assert_eq!(PathPattern::new(&"a*".repeat(500_000)), Err(PatternError::TooLong));
        assert!(PathPattern::new(&"a*".repeat(512)).is_ok());
    }
}
