//! Dependencies that a patch adds.

use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::{PathSet, RepoPath};

use crate::change::{FileChange, Unreadable, text};
use crate::manifest::{Dependency, Ecosystem, Manifest};

/// A dependency that a manifest names after a patch and that it did not name before.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AddedDependency {
    /// Where its packages come from.
    pub ecosystem: Ecosystem,
    /// Its name as the manifest tells it, and its source where that is not the ecosystem's registry. At most 256 bytes.
    pub name: String,
    /// The manifest.
    pub manifest: RepoPath,
}

/// What the manifests among some changes add, and which of them cannot be read.
pub(crate) struct Additions {
    pub(crate) added: BTreeSet<AddedDependency>,
    pub(crate) unreadable: Vec<(RepoPath, Unreadable)>,
}

/// Every dependency that the changes add, approved or not: what a budget for dependencies counts.
///
/// A dependency that one manifest of the changes loses and another of the same ecosystem gains has moved and is none.
/// Another source of the same name (a URL, a git repository, a patched version) is a new dependency. A path within the
/// project is not a dependency. `None` where a manifest cannot be read after the changes.
#[must_use]
pub fn added_dependencies(
    changes: &[FileChange<'_>],
    manifests: &PathSet,
) -> Option<BTreeSet<AddedDependency>> {
    let additions = additions(changes, manifests);
    additions.unreadable.is_empty().then_some(additions.added)
}

pub(crate) fn additions(changes: &[FileChange<'_>], manifests: &PathSet) -> Additions {
    let mut unreadable = Vec::new();
    let mut gained: BTreeSet<(Ecosystem, Dependency, &RepoPath)> = BTreeSet::new();
    let mut lost: BTreeMap<(Ecosystem, Dependency), u32> = BTreeMap::new();
    for change in changes {
        let Some(manifest) = Manifest::of(change.path) else {
            if manifests.contains(change.path) {
                unreadable.push((change.path.clone(), Unreadable::Language));
            }
            continue;
        };
        let (before, after) = match sides(manifest, change) {
            Ok(sides) => sides,
            Err(why) => {
                unreadable.push((change.path.clone(), why));
                continue;
            }
        };
        let ecosystem = manifest.ecosystem();
        let news = after.difference(&before).map(|new| (ecosystem, new.clone(), change.path));
        gained.extend(news);
        for old in before.difference(&after) {
            *lost.entry((ecosystem, old.clone())).or_default() += 1;
        }
    }
    let added = gained.into_iter().filter_map(|(ecosystem, dependency, path)| {
        if let Some(left) = lost.get_mut(&(ecosystem, dependency.clone())).filter(|left| **left > 0) {
            *left -= 1;
            return None;
        }
        Some(AddedDependency { ecosystem, name: dependency.to_string(), manifest: path.clone() })
    });
    Additions { added: added.collect(), unreadable }
}

/// What the manifest names before and after. A side before that cannot be read names nothing, so that everything
/// after it counts as added; a side after that cannot be read is an error.
fn sides(
    manifest: Manifest,
    change: &FileChange<'_>,
) -> Result<(BTreeSet<Dependency>, BTreeSet<Dependency>), Unreadable> {
    let read = |side: Option<&[u8]>| match side {
        None => Ok(BTreeSet::new()),
        Some(_) => manifest.read(change.path, text(side)?),
    };
    if change.before == change.after {
        return Ok((BTreeSet::new(), BTreeSet::new()));
    }
    Ok((read(change.before).unwrap_or_default(), read(change.after)?))
}
