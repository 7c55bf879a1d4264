//! A fact of each kind, for questions about rules, which look at kinds alone.

use ambit_ids::{Excerpt, RepoPath};

use crate::{Fact, FactKind, Side, Weakening};

impl FactKind {
    /// A fact of the kind, about nothing in particular. `None` would mean that the kind has no example, which a test excludes.
    #[must_use]
    pub fn example(self) -> Option<Fact> {
        let path: RepoPath = "example".parse().ok()?;
        let example = "an example".to_owned();
        Some(match self {
            Self::ProtectedPathTouched => Fact::ProtectedPathTouched { path },
            Self::AssertionCountFell => Fact::AssertionCountFell { path, before: 2, after: 1 },
            Self::SkipMarkerAdded => Fact::SkipMarkerAdded { path, line: 1, marker: example },
            Self::DependencyAdded => Fact::DependencyAdded { manifest: path, name: "example".to_owned() },
            Self::ScopeLeft => Fact::ScopeLeft { path },
            Self::ForeignProject => Fact::ForeignProject { project: "another".parse().ok()? },
            Self::GateNotGranted => Fact::GateNotGranted { gate: "another".parse().ok()? },
            Self::Unclassified => Fact::Unclassified { why: example },
            weakening => {
                let (was, is) = (Excerpt::default(), Excerpt::default());
                return Weakening { path, line: 1, side: Side::After, was, is }.told_as(weakening);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_an_example_of_its_own_kind() {
        for kind in FactKind::ALL.iter().copied() {
            assert_eq!(kind.example().map(|fact| fact.kind()), Some(kind));
        }
    }
}
