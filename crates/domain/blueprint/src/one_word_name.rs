//! Names of one lower-case word. They are open: a document may say any.

/// Why a text is not a lower-case word.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a lower-case word of 1 to 64 letters, digits and `-` that starts with a letter")]
pub struct ParseWordError;

/// A letter, then letters, digits and `-`, all in lower case, at most 64 of them.
fn is_lower_case_word(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

macro_rules! lower_case_word {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The word.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = ParseWordError;

            fn from_str(text: &str) -> Result<Self, ParseWordError> {
                if is_lower_case_word(text) { Ok(Self(text.to_owned())) } else { Err(ParseWordError) }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

lower_case_word!(
    /// A kind of work that a plan step may declare (`domain`, `api`, `deployment`). Open: a blueprint lists those that
    /// belong to it, and every other one is out of its scope.
    WorkArea
);
lower_case_word!(
    /// A kind of application (`supplier-onboarding`), as archetype probes name it.
    Archetype
);
lower_case_word!(
    /// The name under which a fixture is mounted below `/fixtures`.
    FixtureName
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_one_spelling() {
        for good in ["domain", "a", "a1-b", &"x".repeat(64)] {
            assert!(good.parse::<WorkArea>().is_ok(), "{good}");
        }
        for bad in ["", "Domain", "1a", "-a", "a_b", "a b", "a/b", "é", &"x".repeat(65)] {
            assert!(bad.parse::<WorkArea>().is_err(), "{bad}");
        }
    }
}
