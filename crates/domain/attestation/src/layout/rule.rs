use std::fmt;
use std::str::FromStr;

use ambit_ids::vocabulary;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::wording::Name;

/// The longest pattern.
const PATTERN_BYTES: usize = 1024;

/// Names of artifacts, with `*` for any characters and `?` for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

/// A text is no pattern that all implementations read alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a pattern has 1 to {PATTERN_BYTES} bytes, without classes, backslashes and control characters")]
pub struct PatternError;

impl Pattern {
    /// Whatever there is.
    #[must_use]
    pub fn all() -> Self {
        Self("*".to_owned())
    }

    /// The pattern of exactly this name.
    ///
    /// # Errors
    /// [`PatternError`] where the name holds what a pattern reads as more than itself.
    pub fn exactly(name: &Name) -> Result<Self, PatternError> {
        if name.as_str().contains(['*', '?']) { Err(PatternError) } else { name.as_str().parse() }
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let odd = |c: char| c.is_control() || matches!(c, '[' | ']' | '{' | '}' | '\\' | '!');
        let fits = (1..=PATTERN_BYTES).contains(&text.len()) && !text.contains(odd);
        if fits { Ok(Self(text.to_owned())) } else { Err(PatternError) }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

vocabulary!(
    /// Which artifacts of a step.
    ArtifactKind {
        /// What it took.
        Materials = "MATERIALS",
        /// What it made.
        Products = "PRODUCTS",
    }
);

/// What a step may take or make. Rules are applied in order, each to what none before it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// These.
    Allow(Pattern),
    /// Not these: one that is left is a failure.
    Disallow(Pattern),
    /// This one must be among what is left.
    Require(Name),
    /// These, if they are byte for byte what that step has.
    Match {
        /// Which.
        pattern: Pattern,
        /// What of that step.
        with: ArtifactKind,
        /// That step.
        from: Name,
    },
}

impl Rule {
    /// What ends a list.
    #[must_use]
    pub fn disallow_all() -> Self {
        Self::Disallow(Pattern::all())
    }

    pub(super) const fn matched_step(&self) -> Option<&Name> {
        match self {
            Self::Match { from, .. } => Some(from),
            Self::Allow(_) | Self::Disallow(_) | Self::Require(_) => None,
        }
    }

    fn words(&self) -> Vec<String> {
        match self {
            Self::Allow(pattern) => vec!["ALLOW".to_owned(), pattern.to_string()],
            Self::Disallow(pattern) => vec!["DISALLOW".to_owned(), pattern.to_string()],
            Self::Require(name) => vec!["REQUIRE".to_owned(), name.to_string()],
            Self::Match { pattern, with, from } => vec![
                "MATCH".to_owned(),
                pattern.to_string(),
                "WITH".to_owned(),
                with.to_string(),
                "FROM".to_owned(),
                from.to_string(),
            ],
        }
    }

    /// Words in the one spelling that is written. Others are read by in-toto, and some mean more: a rule of a kind that is not
    /// among these is refused.
    fn of_words(words: &[&str]) -> Option<Self> {
        match words {
            ["ALLOW", pattern] => pattern.parse().ok().map(Self::Allow),
            ["DISALLOW", pattern] => pattern.parse().ok().map(Self::Disallow),
            ["REQUIRE", name] => Name::new(*name).ok().map(Self::Require),
            ["MATCH", pattern, "WITH", with, "FROM", from] => Some(Self::Match {
                pattern: pattern.parse().ok()?,
                with: with.parse().ok()?,
                from: Name::new(*from).ok()?,
            }),
            _ => None,
        }
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.words().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = Vec::<String>::deserialize(deserializer)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Self::of_words(&words)
            .ok_or_else(|| serde::de::Error::custom(format_args!("{words:?} is no rule that is read")))
    }
}
