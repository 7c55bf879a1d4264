use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::RepoPath;
use serde::{Deserialize, Serialize};

use crate::Comparison;
use crate::compare::FileComparison;
use crate::tree::{FileKind, TreeFile};

/// A file that differs between two trees, in one word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TouchedFile {
    /// The path after; of a file that is gone, the path before.
    pub path: RepoPath,
    /// What became of it.
    pub touch: Touch,
    /// For a file that was renamed, the path before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<RepoPath>,
    /// What it was; `None` where it is new.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before: Option<TreeFile>,
    /// What it is; `None` where it is gone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<TreeFile>,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Touch {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// Its content differs, or it is a link where it was a file.
    Modified,
    /// Its content is the same, and whether it can be executed differs.
    ModeChanged,
    /// Its content is the same under another path.
    Renamed,
}

impl Touch {
    /// Every word, in the order of declaration.
    pub const ALL: [Self; 5] = [Self::Added, Self::Deleted, Self::Modified, Self::ModeChanged, Self::Renamed];

    /// The word as documents spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Deleted => "deleted",
            Self::Modified => "modified",
            Self::ModeChanged => "mode-changed",
            Self::Renamed => "renamed",
        }
    }
}

impl Comparison {
    /// Every file that differs, once, sorted by path. It follows from the two trees alone, so that work which is committed
    /// is told as work which is not.
    #[must_use]
    pub fn touched(&self) -> Vec<TouchedFile> {
        let renames = self.renames();
        let origins: BTreeMap<&RepoPath, &RepoPath> =
            renames.iter().map(|rename| (&rename.to, &rename.from)).collect();
        let gone: BTreeSet<&RepoPath> = origins.values().copied().collect();
        let moved: BTreeMap<&RepoPath, Option<TreeFile>> = self
            .files
            .iter()
            .filter(|file| gone.contains(&file.path))
            .map(|file| (&file.path, file.before))
            .collect();
        let mut touched = Vec::new();
        for file in self.files.iter().filter(|file| !gone.contains(&file.path)) {
            let from = origins.get(&file.path).copied();
            touched.push(TouchedFile {
                path: file.path.clone(),
                touch: if from.is_some() { Touch::Renamed } else { touch(file) },
                from: from.cloned(),
                before: from.map_or(file.before, |from| moved.get(from).copied().flatten()),
                after: file.after,
            });
        }
        touched
    }
}

fn touch(file: &FileComparison) -> Touch {
    match (file.before, file.after) {
        (None, _) => Touch::Added,
        (Some(_), None) => Touch::Deleted,
        (Some(before), Some(after)) if before.content == after.content && !is_other(before, after) => {
            Touch::ModeChanged
        }
        (Some(_), Some(_)) => Touch::Modified,
    }
}

/// Whether one is a link and the other is none.
fn is_other(before: TreeFile, after: TreeFile) -> bool {
    (before.kind == FileKind::Link) != (after.kind == FileKind::Link)
}
