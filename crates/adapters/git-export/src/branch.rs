use std::fmt;
use std::str::FromStr;

use ambit_ids::RevisionId;

use crate::limits;

/// The name of a branch, without `refs/heads/`: one that `git check-ref-format --branch` takes, and means as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchName(String);

/// Why a text names no branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BranchError {
    /// Nothing, or past [`limits::BRANCH_BYTES`].
    #[error("the name of a branch has between 1 and {} bytes", limits::BRANCH_BYTES)]
    Length,
    /// A character that git uses for something else.
    #[error("the name of a branch has no space, no control character, and none of `~ ^ : ? * [ \\`")]
    Character,
    /// A component that git reserves.
    #[error(
        "no part of the name of a branch is empty, starts with `.` or ends with `.lock`, and the whole does not end with \
         `.` or start with `-`"
    )]
    Component,
    /// A word that git reads as something else.
    #[error("the name of a branch is not `@` or `HEAD`, and has no `..` and no `@{{`")]
    Word,
}

impl BranchName {
    /// The branch that a revision has where none is named: `ambit/rev-N`.
    #[must_use]
    pub fn of_revision(revision: RevisionId) -> Self {
        Self(format!("ambit/{revision}"))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for BranchName {
    type Err = BranchError;

    fn from_str(text: &str) -> Result<Self, BranchError> {
        if text.is_empty() || text.len() > limits::BRANCH_BYTES {
            return Err(BranchError::Length);
        }
        if text.bytes().any(|b| b <= b' ' || b == 0x7f || b"~^:?*[\\".contains(&b)) {
            return Err(BranchError::Character);
        }
        if text == "@" || text == "HEAD" || text.contains("..") || text.contains("@{") {
            return Err(BranchError::Word);
        }
        let is_reserved = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
        if text.split('/').any(is_reserved) || text.ends_with('.') || text.starts_with('-') {
            return Err(BranchError::Component);
        }
        Ok(Self(text.to_owned()))
    }
}
