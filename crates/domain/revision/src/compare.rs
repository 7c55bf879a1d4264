use ambit_ids::RepoPath;
use serde::{Deserialize, Serialize};

use crate::tree::TreeFile;

/// The difference of two trees in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Comparison {
    /// Every file that differs, sorted by path.
    pub files: Vec<FileComparison>,
    /// All of them together.
    pub totals: Totals,
}

/// One file that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileComparison {
    /// The path.
    pub path: RepoPath,
    /// What stood there before; `None` where nothing did.
    pub before: Option<TreeFile>,
    /// What stands there after; `None` where nothing does.
    pub after: Option<TreeFile>,
    /// The lines; `None` where either side is binary.
    pub lines: Option<LineCounts>,
}

/// Lines that are there on one side only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LineCounts {
    /// Lines that are there after.
    pub added: usize,
    /// Lines that are there before.
    pub removed: usize,
}

/// All files of a comparison together. Each file counts once under added, removed or modified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Totals {
    /// Files that are there only after.
    pub files_added: usize,
    /// Files that are there only before.
    pub files_removed: usize,
    /// Files that are there on both sides.
    pub files_modified: usize,
    /// Files among those of which the mode differs.
    pub modes_changed: usize,
    /// Files of which no lines are counted.
    pub files_binary: usize,
    /// The lines of all other files.
    pub lines: LineCounts,
}

impl LineCounts {
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self { added: self.added + other.added, removed: self.removed + other.removed }
    }
}

impl Comparison {
    pub(crate) fn of(files: Vec<FileComparison>) -> Self {
        let mut totals = Totals::default();
        for file in &files {
            match (file.before, file.after) {
                (None, _) => totals.files_added += 1,
                (Some(_), None) => totals.files_removed += 1,
                (Some(before), Some(after)) => {
                    totals.files_modified += 1;
                    totals.modes_changed += usize::from(before.kind != after.kind);
                }
            }
            match file.lines {
                None => totals.files_binary += 1,
                Some(lines) => totals.lines = totals.lines.plus(lines),
            }
        }
        Self { files, totals }
    }
}
