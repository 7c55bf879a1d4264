use std::fmt;
use std::str::FromStr;

use ambit_ids::{Digest, text_form};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of an object of git: 40 lower-case hexadecimal digits, or 64 where the repository has SHA-256.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitObject(String);

/// A text is no name of an object of git.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an object of git is named by 40 or 64 lower-case hexadecimal digits")]
pub struct GitObjectError;

impl fmt::Display for GitObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for GitObject {
    type Err = GitObjectError;

    fn from_str(text: &str) -> Result<Self, GitObjectError> {
        let digits = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if digits && matches!(text.len(), 40 | 64) { Ok(Self(text.to_owned())) } else { Err(GitObjectError) }
    }
}

text_form!(GitObject);

/// What identifies something immutable. There is always a SHA-256, and git's own names stand beside it and never alone:
/// most of them are SHA-1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DigestSet {
    /// Of the exact bytes; of a source tree, its digest as records hold it.
    #[serde(serialize_with = "to_hex", deserialize_with = "from_hex")]
    pub sha256: Digest,
    /// The tree of git with the same content.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub git_tree: Option<GitObject>,
    /// The commit of git that it was taken from, or went to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub git_commit: Option<GitObject>,
}

impl DigestSet {
    /// A content of this digest.
    #[must_use]
    pub const fn of(sha256: Digest) -> Self {
        Self { sha256, git_tree: None, git_commit: None }
    }

    /// Whether both name the same: the digest is one, and no name of git that both have differs.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let agrees = |own: &Option<GitObject>, others: &Option<GitObject>| {
            own.as_ref().zip(others.as_ref()).is_none_or(|(own, other)| own == other)
        };
        self.sha256 == other.sha256
            && agrees(&self.git_tree, &other.git_tree)
            && agrees(&self.git_commit, &other.git_commit)
    }
}

impl From<Digest> for DigestSet {
    fn from(sha256: Digest) -> Self {
        Self::of(sha256)
    }
}

fn to_hex<S: Serializer>(digest: &Digest, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&digest.to_hex())
}

fn from_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
    let hex = String::deserialize(deserializer)?;
    format!("sha256:{hex}").parse().map_err(serde::de::Error::custom)
}
