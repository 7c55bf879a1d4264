use std::collections::BTreeMap;

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

/// How two revisions of a project are related by what they were made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// They are one revision.
    Same,
    /// The other was made from the one, by way of the revisions between them, the oldest first.
    Ancestor {
        /// Empty for a parent.
        between: Vec<RevisionId>,
    },
    /// The one was made from the other, by way of the revisions between them, the oldest first.
    Descendant {
        /// Empty for a child.
        between: Vec<RevisionId>,
    },
    /// Neither was made from the other, and both from this one, by way of others or at once.
    Related {
        /// The newest revision that both were made from.
        common: RevisionId,
        /// Whether it is the parent of both.
        siblings: bool,
    },
    /// No revision led to both.
    Unrelated,
}

impl Relation {
    /// How `one` stands to `other`, by the parents of the revisions of their project. A revision that is not among the
    /// keys has none, and a parent that does not come before its child is none.
    #[must_use]
    pub fn of(one: RevisionId, other: RevisionId, parents: &BTreeMap<RevisionId, RevisionId>) -> Self {
        let lineage = |of: RevisionId| -> Vec<RevisionId> {
            let parent = |id: &RevisionId| parents.get(id).copied().filter(|parent| parent < id);
            std::iter::successors(Some(of), parent).collect()
        };
        let between = |line: &[RevisionId], end: usize| line[1..end].iter().rev().copied().collect();
        let (ones, others) = (lineage(one), lineage(other));
        if one == other {
            return Self::Same;
        }
        if let Some(at) = others.iter().position(|id| *id == one) {
            return Self::Ancestor { between: between(&others, at) };
        }
        if let Some(at) = ones.iter().position(|id| *id == other) {
            return Self::Descendant { between: between(&ones, at) };
        }
        let shared = |id: &&RevisionId| others.contains(id);
        let Some(common) = ones.iter().find(shared).copied() else { return Self::Unrelated };
        let siblings = ones.get(1) == Some(&common) && others.get(1) == Some(&common);
        Self::Related { common, siblings }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> RevisionId {
        RevisionId::new(number)
    }

    /// 0 <- 1 <- 2 <- 4, 1 <- 3, and 5 <- 6 apart.
    fn relation(one: u32, other: u32) -> Relation {
        let parents = [(1, 0), (2, 1), (4, 2), (3, 1), (6, 5)].map(|(child, parent)| (id(child), id(parent)));
        Relation::of(id(one), id(other), &parents.into())
    }

    #[test]
    fn every_relation_has_its_name_in_both_orders() {
        for (one, other, told, reversed) in [
            (1, 1, Relation::Same, Relation::Same),
            (1, 2, Relation::Ancestor { between: vec![] }, Relation::Descendant { between: vec![] }),
            (
                0,
                4,
                Relation::Ancestor { between: vec![id(1), id(2)] },
                Relation::Descendant { between: vec![id(1), id(2)] },
            ),
            (
                2,
                3,
                Relation::Related { common: id(1), siblings: true },
                Relation::Related { common: id(1), siblings: true },
            ),
            (
                3,
                4,
                Relation::Related { common: id(1), siblings: false },
                Relation::Related { common: id(1), siblings: false },
            ),
            (4, 6, Relation::Unrelated, Relation::Unrelated),
            (0, 9, Relation::Unrelated, Relation::Unrelated),
        ] {
            assert_eq!(relation(one, other), told, "rev-{one} to rev-{other}");
            assert_eq!(relation(other, one), reversed, "rev-{other} to rev-{one}");
        }
    }

    #[test]
    fn parents_that_lead_round_end() {
        let round = [(1, 2), (2, 1), (3, 3)].map(|(child, parent)| (id(child), id(parent)));
        assert_eq!(Relation::of(id(1), id(3), &round.into()), Relation::Unrelated);
    }
}
