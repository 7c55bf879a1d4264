use ambit_ids::{Digest, RevisionId};
use serde::{Deserialize, Serialize};

/// A revision of a project: a tree with its place in the lineage. What a run thinks of it is not told here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Revision {
    /// Its place.
    pub id: RevisionId,
    /// The digest of its tree.
    pub tree: Digest,
    /// The revision that it was made from; `None` for a first import.
    pub parent: Option<RevisionId>,
}

/// A revision cannot be older than the one that it was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{id} cannot be made from {parent}: a revision comes after its parent. No revision was made")]
pub struct LineageError {
    /// The revision that was to be made.
    pub id: RevisionId,
    /// The one that it was to be made from.
    pub parent: RevisionId,
}

impl LineageError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "REVISION_ORDER"
    }
}

impl Revision {
    /// The first revision of a project.
    #[must_use]
    pub const fn first(tree: Digest) -> Self {
        Self { id: RevisionId::FIRST, tree, parent: None }
    }

    /// The revision `id` with `tree`, made from this one. Other revisions may lie between the two.
    ///
    /// # Errors
    /// [`LineageError`] where `id` does not come after this revision.
    pub fn child(&self, id: RevisionId, tree: Digest) -> Result<Self, LineageError> {
        if id <= self.id {
            return Err(LineageError { id, parent: self.id });
        }
        Ok(Self { id, tree, parent: Some(self.id) })
    }
}
