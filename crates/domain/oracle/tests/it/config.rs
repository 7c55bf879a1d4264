//! What patches do to configuration, by tables of weakenings and of honest changes beside them.

use ambit_policy::{Fact, FactKind};

use crate::{facts, guard};

/// The kinds that configuration is told by.
pub(crate) const KINDS: [FactKind; 10] = [
    FactKind::RunnerChanged,
    FactKind::CheckSilenced,
    FactKind::DependencyMoved,
    FactKind::DependencyUnpinned,
    FactKind::ModuleShadowed,
    FactKind::SnapshotChanged,
    FactKind::MigrationDeleted,
    FactKind::AuthenticationChanged,
    FactKind::GateJudgedByModel,
    FactKind::Unclassified,
];

/// The facts of configuration about changes.
pub(crate) fn about(changes: &[(&str, Option<&str>, Option<&str>)]) -> Vec<Fact> {
    let mut found = facts(&guard(), changes);
    found.retain(|fact| KINDS.contains(&fact.kind()));
    found
}

/// A weakening: the file, what it was, what it is, the fact, and the line that it is told of.
pub(crate) type Weakened<'a> = (&'a str, &'a str, &'a str, FactKind, u32);

/// Each is told as the one kind of fact, at its line, and a patch the other way round or of nothing is not.
pub(crate) fn assert_told(rows: &[Weakened<'_>]) {
    for (path, before, after, kind, line) in rows {
        let before_side = Some(*before).filter(|text| !text.is_empty());
        let after_side = Some(*after).filter(|text| !text.is_empty());
        let found = about(&[(path, before_side, after_side)]);
        assert!(!found.is_empty(), "nothing is told of {path}:\n{before}\n->\n{after}");
        for fact in &found {
            assert_eq!(fact.kind(), *kind, "{path}: {fact}\n{after}");
        }
        let lines: Vec<u32> =
            found.iter().filter_map(|fact| fact.weakening()).map(|place| place.line).collect();
        assert!(lines.contains(line), "{path}: {lines:?} {found:?}");
        assert_eq!(about(&[(path, after_side, after_side)]), [], "{path}: {after}");
    }
}

/// Nothing is told of any of these.
pub(crate) fn assert_free(rows: &[(&str, &str, &str)]) {
    for (path, before, after) in rows {
        let before_side = Some(*before).filter(|text| !text.is_empty());
        let after_side = Some(*after).filter(|text| !text.is_empty());
        assert_eq!(about(&[(path, before_side, after_side)]), [], "{path}:\n{before}\n->\n{after}");
    }
}
