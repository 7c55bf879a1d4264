use std::fmt;

use crate::limits::NAME_BYTES;

/// The name of a branch without `refs/heads/`, in the rules of `git check-ref-format`. `main` by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchName(String);

/// The name is not one that a branch can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name:?} cannot be the name of a branch; nothing was fetched. Name a branch of the source, such as main"
)]
pub struct BranchNameError {
    /// The name.
    pub name: String,
}

impl BranchNameError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "MIRROR_BRANCH_MALFORMED"
    }
}

impl BranchName {
    /// Validates a name.
    ///
    /// # Errors
    /// [`BranchNameError`] where git would refuse it, or take it for an option.
    pub fn new(name: impl Into<String>) -> Result<Self, BranchNameError> {
        let name = name.into();
        let fits = !name.is_empty()
            && name.len() <= NAME_BYTES
            && name != "@"
            && !name.starts_with('-')
            && !name.contains("..")
            && !name.contains("@{")
            && !name.ends_with('.')
            && !name.chars().any(|c| c.is_control() || " ~^:?*[\\".contains(c))
            && name.split('/').all(is_component);
        if fits { Ok(Self(name)) } else { Err(BranchNameError { name }) }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_component(component: &str) -> bool {
    !component.is_empty() && !component.starts_with('.') && !component.ends_with(".lock")
}

impl Default for BranchName {
    fn default() -> Self {
        Self("main".to_owned())
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_an_option_or_a_second_refspec() {
        for good in ["main", "feature/one", "v1.0-rc", "ünï"] {
            assert!(BranchName::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "-x",
            "--upload-pack=x",
            "a:b",
            "a b",
            "a\nb",
            "../a",
            "a..b",
            "a/",
            "/a",
            "a//b",
            ".a",
            "a.lock",
            "a.",
            "@",
            "a@{1}",
            "a*",
            "a^",
            "a\\b",
        ] {
            assert!(BranchName::new(bad).is_err(), "{bad}");
        }
    }
}
