use std::collections::BTreeMap;

use ambit_ids::RepoPath;

use super::refusal::{PatchRefusal, Reason};
use crate::tree::{Change, EntryName, Tree};

/// The names that fold to one, by what they fold to.
type FoldedNames = BTreeMap<Vec<u8>, Vec<Vec<u8>>>;

/// Refuses paths that are new and differ only by case from another of the same tree. What a repository already has stays.
pub(super) fn check(after: &Tree, changes: &[Change]) -> Result<(), PatchRefusal> {
    let created = || changes.iter().filter(|change| change.before.is_none()).map(|change| &change.path);
    let mut folded: BTreeMap<Option<RepoPath>, FoldedNames> = BTreeMap::new();
    for path in created() {
        for (directory, name) in levels(path) {
            let names = folded.entry(directory.clone()).or_insert_with(|| {
                fold_names(after.names(directory.as_ref()).into_iter().map(EntryName::as_bytes))
            });
            let same = names.get(&fold(name)).map_or(&[][..], Vec::as_slice);
            if let Some(other) = same.iter().find(|other| other.as_slice() != name) {
                let other = match &directory {
                    Some(directory) => directory.join(other),
                    None => RepoPath::from_bytes(other),
                };
                let reason = Reason::CaseCollision(other.unwrap_or_else(|_| path.clone()));
                return Err(PatchRefusal::At { path: path.clone(), reason });
            }
        }
    }
    Ok(())
}

/// Each directory above a path with the component of the path within it, from the path up.
fn levels(path: &RepoPath) -> impl Iterator<Item = (Option<RepoPath>, &[u8])> {
    let above =
        std::iter::successors(Some(path.parent()), |directory| directory.as_ref().map(RepoPath::parent));
    above.zip(path.components().rev())
}

fn fold_names<'a>(names: impl Iterator<Item = &'a [u8]>) -> FoldedNames {
    let mut folded = FoldedNames::new();
    for name in names {
        let same = folded.entry(fold(name)).or_default();
        if same.iter().all(|other| other != name) {
            same.push(name.to_vec());
        }
    }
    folded
}

/// A name with its case folded more widely than any file system does: a false collision is refused, a missed one lost.
pub(super) fn fold(name: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(name) {
        Ok(text) if text.is_ascii() => name.to_ascii_lowercase(),
        Ok(text) => {
            let upper = text.chars().flat_map(char::to_uppercase);
            upper.flat_map(char::to_lowercase).collect::<String>().into_bytes()
        }
        Err(_) => name.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{FileKind, TreeFile};

    fn tree(paths: &[&str]) -> Tree {
        let file = TreeFile::of(FileKind::File, b"x");
        Tree::from_files(paths.iter().map(|path| (path.parse().unwrap(), file))).unwrap()
    }

    fn collides(before: &[&str], after: &[&str]) -> bool {
        let (before, after) = (tree(before), tree(after));
        check(&after, &before.diff(&after)).is_err()
    }

    #[test]
    fn a_new_path_must_differ_by_more_than_case() {
        assert!(!collides(&["readme"], &["readme", "license"]));
        assert!(collides(&["readme"], &["readme", "README"]));
        assert!(collides(&[], &["a/x", "A/y"]));
        assert!(collides(&["src/x"], &["src/x", "SRC/y"]));
        assert!(!collides(&["Readme"], &["README"]));
        assert!(!collides(&["Src/x"], &["src/x"]));
        assert!(collides(&["Src/x", "Src/y"], &["src/x", "Src/y"]));
        assert!(collides(&["stra\u{df}e"], &["stra\u{df}e", "STRASSE"]));
        assert!(collides(&["k"], &["k", "\u{212a}"]));
    }

    #[test]
    fn what_the_tree_already_has_may_stay_and_change() {
        let (before, file) = (tree(&["a", "A", "d/x", "D/x"]), TreeFile::of(FileKind::File, b"y"));
        let change =
            |path: &str| before.with(&BTreeMap::from([(path.parse().unwrap(), Some(file))])).unwrap();
        for (path, admitted) in [("a", true), ("d/x", true), ("e", true), ("d/y", false)] {
            let after = change(path);
            assert_eq!(check(&after, &before.diff(&after)).is_ok(), admitted, "{path}");
        }
    }
}
