use std::collections::BTreeMap;

use ambit_ids::RepoPath;
use ambit_revision::{Diff, FileComparison, FileSection, LineCounts, TreeFile};
use serde::Serialize;

/// What became of a file.
#[derive(Clone, Copy)]
pub(super) enum Fate<'a> {
    Added,
    Removed,
    Modified,
    /// It is the same file under another path.
    Renamed {
        from: &'a RepoPath,
    },
}

/// A file that differs, as a person would tell of it: a file that went elsewhere is one and not two.
pub(super) struct FileRow<'a> {
    pub(super) path: &'a RepoPath,
    pub(super) fate: Fate<'a>,
    pub(super) before: Option<TreeFile>,
    pub(super) after: Option<TreeFile>,
    pub(super) lines: Option<LineCounts>,
    /// Where it stands in the patch; `None` for what only has another path, of which the patch tells twice.
    pub(super) section: Option<&'a FileSection>,
}

impl Fate<'_> {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Modified => "modified",
            Self::Renamed { .. } => "renamed",
        }
    }

    /// The letter that git has for it.
    pub(super) const fn letter(self) -> &'static str {
        match self {
            Self::Added => "A",
            Self::Removed => "D",
            Self::Modified => "M",
            Self::Renamed { .. } => "R",
        }
    }
}

impl FileRow<'_> {
    /// Whether it is of another mode: executable or not, or a link.
    pub(super) fn modes(&self) -> Option<[&'static str; 2]> {
        let (before, after) = (self.before?.kind, self.after?.kind);
        (before != after).then(|| [before.git_mode(), after.git_mode()])
    }

    pub(super) const fn is_binary(&self) -> bool {
        self.lines.is_none()
    }

    /// What there is to say beside the path and the lines.
    pub(super) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        match (self.modes(), self.before.or(self.after)) {
            (Some([before, after]), _) => remarks.push(format!("mode {before} -> {after}")),
            (None, Some(file)) if file.kind.git_mode() == "120000" => remarks.push("link".to_owned()),
            _ => {}
        }
        if self.is_binary() {
            let sizes: Vec<String> =
                [self.before, self.after].iter().flatten().map(|file| file.size.to_string()).collect();
            remarks.push(format!("binary, {}", sizes.join(" -> ")));
        }
        remarks
    }
}

/// The files that differ, by path.
pub(super) fn rows(diff: &Diff) -> Vec<FileRow<'_>> {
    let renames = diff.comparison.renames();
    let to: BTreeMap<&RepoPath, &RepoPath> = renames.iter().map(|it| (&it.to, &it.from)).collect();
    let gone: BTreeMap<&RepoPath, &FileComparison> = diff
        .comparison
        .files
        .iter()
        .filter(|file| file.after.is_none())
        .map(|file| (&file.path, file))
        .collect();
    // The other side of each is told where it is now.
    let from: BTreeMap<&RepoPath, &RepoPath> = renames.iter().map(|it| (&it.from, &it.to)).collect();
    let files = diff.comparison.files.iter().zip(&diff.sections);
    files
        .filter(|(file, _)| file.after.is_some() || !from.contains_key(&file.path))
        .map(|(file, section)| {
            let old = to.get(&file.path).and_then(|from| gone.get(from));
            row(file, section, old.copied())
        })
        .collect()
}

fn row<'a>(
    file: &'a FileComparison,
    section: &'a FileSection,
    old: Option<&'a FileComparison>,
) -> FileRow<'a> {
    let FileComparison { path, before, after, lines } = file;
    if let Some(old) = old {
        let fate = Fate::Renamed { from: &old.path };
        let lines = Some(LineCounts::default());
        return FileRow { path, fate, before: old.before, after: *after, lines, section: None };
    }
    let fate = match (before, after) {
        (Some(_), Some(_)) => Fate::Modified,
        (Some(_), None) => Fate::Removed,
        (None, _) => Fate::Added,
    };
    FileRow { path, fate, before: *before, after: *after, lines: *lines, section: Some(section) }
}

/// Files in numbers. Each counts once under added, removed, modified or renamed.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tally {
    pub(super) files: usize,
    pub(super) files_added: usize,
    pub(super) files_removed: usize,
    pub(super) files_modified: usize,
    pub(super) files_renamed: usize,
    pub(super) modes_changed: usize,
    pub(super) files_binary: usize,
    pub(super) lines: LineCounts,
}

impl Tally {
    pub(super) fn of(rows: &[FileRow<'_>]) -> Self {
        let mut tally = Self { files: rows.len(), ..Self::default() };
        for row in rows {
            match row.fate {
                Fate::Added => tally.files_added += 1,
                Fate::Removed => tally.files_removed += 1,
                Fate::Modified => tally.files_modified += 1,
                Fate::Renamed { .. } => tally.files_renamed += 1,
            }
            tally.modes_changed += usize::from(row.modes().is_some());
            tally.files_binary += usize::from(row.is_binary());
            let lines = row.lines.unwrap_or_default();
            tally.lines.added += lines.added;
            tally.lines.removed += lines.removed;
        }
        tally
    }
}
