//! What a patch does to a test, a check or a guarantee, with its place.

use std::fmt;

use ambit_ids::{Excerpt, RepoPath, vocabulary};

use crate::fact::{Fact, FactKind};

vocabulary!(
    /// The side of a patch that a line belongs to.
    Side {
        /// The file as it was before the patch.
        Before = "before",
        /// The file as it is after the patch.
        After = "after",
    }
);

/// One place where a patch weakens something, and what stood and stands there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Weakening {
    /// The file.
    pub path: RepoPath,
    /// The line, counted from 1; 0 where the whole file is meant.
    pub line: u32,
    /// The side that the line is counted on.
    pub side: Side,
    /// What stood there before. Empty where nothing did.
    #[serde(default, skip_serializing_if = "Excerpt::is_empty")]
    pub was: Excerpt,
    /// What stands there now. Empty where nothing does.
    #[serde(default, skip_serializing_if = "Excerpt::is_empty")]
    pub is: Excerpt,
}

/// A kind of fact that has a place: which one it is, how it is made, and what it says of its file.
struct Told {
    kind: FactKind,
    fact: fn(Weakening) -> Fact,
    says: &'static str,
}

const TOLD: [Told; 24] = [
    Told { kind: FactKind::AssertionRemoved, fact: Fact::AssertionRemoved, says: "removes an assertion" },
    Told { kind: FactKind::AssertionLoosened, fact: Fact::AssertionLoosened, says: "loosens an assertion" },
    Told {
        kind: FactKind::AssertionUnreachable,
        fact: Fact::AssertionUnreachable,
        says: "makes an assertion unreachable",
    },
    Told {
        kind: FactKind::AssertionTautological,
        fact: Fact::AssertionTautological,
        says: "makes an assertion hold always",
    },
    Told {
        kind: FactKind::AssertionSwallowed,
        fact: Fact::AssertionSwallowed,
        says: "swallows the failure of an assertion",
    },
    Told { kind: FactKind::TestRemoved, fact: Fact::TestRemoved, says: "removes a test" },
    Told {
        kind: FactKind::TestUncollected,
        fact: Fact::TestUncollected,
        says: "takes a test out of what the runner finds",
    },
    Told {
        kind: FactKind::TestShadowed,
        fact: Fact::TestShadowed,
        says: "replaces a test by another one of its name",
    },
    Told {
        kind: FactKind::ParameterDropped,
        fact: Fact::ParameterDropped,
        says: "drops a parameter of a test",
    },
    Told {
        kind: FactKind::TestNotAwaited,
        fact: Fact::TestNotAwaited,
        says: "no longer waits for what a test begins",
    },
    Told {
        kind: FactKind::ExpectationChanged,
        fact: Fact::ExpectationChanged,
        says: "changes what a test expects",
    },
    Told {
        kind: FactKind::SnapshotChanged,
        fact: Fact::SnapshotChanged,
        says: "changes a kept result that tests compare with",
    },
    Told {
        kind: FactKind::RunnerChanged,
        fact: Fact::RunnerChanged,
        says: "changes what is run or what counts as a failure",
    },
    Told {
        kind: FactKind::ModuleShadowed,
        fact: Fact::ModuleShadowed,
        says: "puts a file in the place of a module",
    },
    Told { kind: FactKind::TestDetected, fact: Fact::TestDetected, says: "asks whether a test runs it" },
    Told { kind: FactKind::CheckSilenced, fact: Fact::CheckSilenced, says: "silences a check" },
    Told {
        kind: FactKind::DirectiveAdded,
        fact: Fact::DirectiveAdded,
        says: "adds a directive that silences a check at this place",
    },
    Told {
        kind: FactKind::BlanketDirectiveAdded,
        fact: Fact::BlanketDirectiveAdded,
        says: "adds a directive that silences more than one named check at one place",
    },
    Told {
        kind: FactKind::TenancyWidened,
        fact: Fact::TenancyWidened,
        says: "no longer holds rows to one tenant",
    },
    Told {
        kind: FactKind::DependencyMoved,
        fact: Fact::DependencyMoved,
        says: "takes a dependency from another source",
    },
    Told {
        kind: FactKind::DependencyUnpinned,
        fact: Fact::DependencyUnpinned,
        says: "no longer pins a dependency",
    },
    Told {
        kind: FactKind::MigrationDeleted,
        fact: Fact::MigrationDeleted,
        says: "deletes or rewrites a migration",
    },
    Told {
        kind: FactKind::AuthenticationChanged,
        fact: Fact::AuthenticationChanged,
        says: "changes who is let in",
    },
    Told {
        kind: FactKind::GateJudgedByModel,
        fact: Fact::GateJudgedByModel,
        says: "lets a model judge in the place of a check",
    },
];

impl Weakening {
    /// The fact of this kind. `None` for a kind that has other fields.
    #[must_use]
    pub fn told_as(self, kind: FactKind) -> Option<Fact> {
        TOLD.iter().find(|told| told.kind == kind).map(|told| (told.fact)(self))
    }

    /// The kinds of facts that are a weakening at a place.
    pub fn kinds() -> impl Iterator<Item = FactKind> {
        TOLD.iter().map(|told| told.kind)
    }

    /// Writes what a fact of this kind says.
    pub(crate) fn write(&self, kind: FactKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let says = TOLD.iter().find(|told| told.kind == kind).map_or("", |told| told.says);
        let Self { path, line, side, was, is } = self;
        match line {
            0 => write!(f, "{path} {says}")?,
            _ => write!(f, "{path}:{line} ({side}) {says}")?,
        }
        match (was.is_empty(), is.is_empty()) {
            (true, true) => Ok(()),
            (false, true) => write!(f, ": was `{was}`"),
            (true, false) => write!(f, ": is `{is}`"),
            (false, false) => write!(f, ": was `{was}`, is `{is}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_told_as_itself_and_in_its_own_words() {
        let weakening = Weakening {
            path: "tests/test_a.py".parse().unwrap(),
            line: 3,
            side: Side::Before,
            was: Excerpt::of("assert a"),
            is: Excerpt::default(),
        };
        let mut texts: Vec<String> = Weakening::kinds()
            .map(|kind| {
                let fact = weakening.clone().told_as(kind).unwrap();
                assert_eq!(fact.kind(), kind);
                assert_eq!(fact.weakening(), Some(&weakening));
                fact.to_string()
            })
            .collect();
        assert_eq!(texts[0], "tests/test_a.py:3 (before) removes an assertion: was `assert a`");
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), Weakening::kinds().count());
        let others: Vec<FactKind> =
            FactKind::ALL.iter().copied().filter(|kind| weakening.clone().told_as(*kind).is_none()).collect();
        assert_eq!(
            others,
            [
                FactKind::ProtectedPathTouched,
                FactKind::AssertionCountFell,
                FactKind::SkipMarkerAdded,
                FactKind::DependencyAdded,
                FactKind::ScopeLeft,
                FactKind::ForeignProject,
                FactKind::GateNotGranted,
                FactKind::Unclassified,
            ]
        );
    }
}
