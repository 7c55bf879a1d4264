use serde::{Deserialize, Serialize};

use super::DigestSet;
use crate::wording::{Name, Uri};

/// Something that a statement refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceDescriptor {
    /// What it is called within this statement.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<Name>,
    /// What it is called everywhere.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub uri: Option<Uri>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub digest: Option<DigestSet>,
}

impl ResourceDescriptor {
    /// A content, and what it is called here.
    #[must_use]
    pub fn named(name: Name, digest: impl Into<DigestSet>) -> Self {
        Self { name: Some(name), uri: None, digest: Some(digest.into()) }
    }

    /// A content, and what it is called everywhere.
    #[must_use]
    pub fn at(uri: Uri, digest: impl Into<DigestSet>) -> Self {
        Self { name: None, uri: Some(uri), digest: Some(digest.into()) }
    }

    /// Whether it says at all what it refers to.
    pub(crate) const fn refers(&self) -> bool {
        self.uri.is_some() || self.digest.is_some()
    }
}
