use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ambit_ids::{ByteCount, RepoPath};
use serde::{Deserialize, Serialize};

use crate::tree::{FileKind, TreeFile};

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

/// A file that is the same under another path: with exactly the same content, and a file or a link as before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rename {
    /// The path before.
    pub from: RepoPath,
    /// The path after.
    pub to: RepoPath,
}

impl LineCounts {
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self { added: self.added + other.added, removed: self.removed + other.removed }
    }
}

impl Comparison {
    /// The files that are the same under another path, sorted by the path after. Each file is part of one rename at
    /// most. Of several that could have become it, one of the same name in another directory goes first, then the first
    /// by path. What holds nothing is no rename: every other empty file would be one as well.
    ///
    /// The canonical diff and [`Totals`] tell such a file as one that is gone and one that is there.
    #[must_use]
    pub fn renames(&self) -> Vec<Rename> {
        let key = |file: &TreeFile| (file.content, file.kind == FileKind::Link);
        let gone = || {
            let gone = self.files.iter().filter(|file| file.after.is_none());
            gone.filter_map(|file| Some((&file.path, key(file.before.as_ref()?))))
        };
        let made: Vec<(&RepoPath, _)> = self
            .files
            .iter()
            .filter_map(|file| Some((&file.path, file.after.filter(|_| file.before.is_none())?)))
            .filter(|(_, after)| after.size != ByteCount::ZERO)
            .map(|(path, after)| (path, key(&after)))
            .collect();
        let mut renames: BTreeMap<&RepoPath, &RepoPath> = BTreeMap::new();
        let mut taken: BTreeSet<&RepoPath> = BTreeSet::new();
        for named in [name, |_: &RepoPath| -> &[u8] { b"" }] {
            let mut candidates: BTreeMap<_, VecDeque<&RepoPath>> = BTreeMap::new();
            for (from, key) in gone().filter(|(from, _)| !taken.contains(from)) {
                candidates.entry((key, named(from))).or_default().push_back(from);
            }
            for (to, key) in &made {
                if renames.contains_key(to) {
                    continue;
                }
                if let Some(from) = candidates.get_mut(&(*key, named(to))).and_then(VecDeque::pop_front) {
                    renames.insert(to, from);
                    taken.insert(from);
                }
            }
        }
        renames.into_iter().map(|(to, from)| Rename { from: from.clone(), to: to.clone() }).collect()
    }

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

/// The last component.
fn name(path: &RepoPath) -> &[u8] {
    path.as_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(content: &str) -> Option<TreeFile> {
        Some(TreeFile::of(FileKind::File, content.as_bytes()))
    }

    fn renames(files: &[(&str, Option<TreeFile>, Option<TreeFile>)]) -> Vec<(String, String)> {
        let files = files.iter().map(|(path, before, after)| FileComparison {
            path: path.parse().unwrap(),
            before: *before,
            after: *after,
            lines: None,
        });
        let told = Comparison::of(files.collect()).renames();
        told.iter().map(|rename| (rename.from.to_string(), rename.to.to_string())).collect()
    }

    fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
        of.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect()
    }

    #[test]
    fn the_same_content_elsewhere_is_a_rename() {
        let told = renames(&[("a", file("x"), None), ("b", file("y"), file("x")), ("c", None, file("x"))]);
        assert_eq!(told, pairs(&[("a", "c")]), "a file that was there before did not come from elsewhere");
        assert_eq!(renames(&[("a", file("x"), None), ("c", None, file("x "))]), []);
        let executable = Some(TreeFile::of(FileKind::Executable, b"x"));
        assert_eq!(renames(&[("a", file("x"), None), ("c", None, executable)]), pairs(&[("a", "c")]));
        let link = Some(TreeFile::of(FileKind::Link, b"x"));
        assert_eq!(renames(&[("a", file("x"), None), ("c", None, link)]), [], "a link is no file elsewhere");
        assert_eq!(renames(&[("a", file(""), None), ("c", None, file(""))]), [], "nothing is in both");
    }

    #[test]
    fn each_file_is_part_of_one_rename_and_the_same_name_goes_first() {
        let told = renames(&[
            ("a/one", file("x"), None),
            ("a/two", file("x"), None),
            ("b/three", None, file("x")),
            ("b/two", None, file("x")),
            ("b/zero", None, file("x")),
        ]);
        assert_eq!(told, pairs(&[("a/one", "b/three"), ("a/two", "b/two")]));
    }
}
