use std::collections::BTreeMap;

use ambit_ids::RepoPath;
use unicode_normalization::UnicodeNormalization;

use super::refusal::{PatchRefusal, Reason};
use crate::tree::{EntryName, Tree};

/// The names that fold to one, by what they fold to.
type FoldedNames = BTreeMap<Vec<u8>, Vec<Vec<u8>>>;

/// Refuses paths of a tree that are new to it and differ only by case from another. What a repository already has stays.
pub(super) fn check<'p>(
    after: &Tree,
    fresh: impl IntoIterator<Item = &'p RepoPath>,
) -> Result<(), PatchRefusal> {
    let mut folded: BTreeMap<Option<RepoPath>, FoldedNames> = BTreeMap::new();
    for path in fresh {
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

/// A name with its case folded and its characters decomposed, each more widely than any file system does: HFS+ and APFS
/// take composed and decomposed letters for one, NTFS and exFAT upper and lower case. A false collision is refused, a
/// missed one would lose a file.
pub(super) fn fold(name: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(name) {
        Ok(text) if !text.is_ascii() => {
            // The capital sharp s has a lower case and is its own upper case; the small one becomes two letters there.
            let lower = text.nfd().flat_map(char::to_lowercase);
            lower
                .flat_map(char::to_uppercase)
                .flat_map(char::to_lowercase)
                .nfd()
                .collect::<String>()
                .into_bytes()
        }
        Ok(_) | Err(_) => name.to_ascii_lowercase(),
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

    fn is_refused(before: &Tree, after: &Tree) -> bool {
        let changes = before.diff(after);
        let fresh = changes.iter().filter(|change| change.before.is_none()).map(|change| &change.path);
        check(after, fresh).is_err()
    }

    fn collides(before: &[&str], after: &[&str]) -> bool {
        let (before, after) = (tree(before), tree(after));
        is_refused(&before, &after)
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
        assert!(collides(&["\u{df}"], &["\u{df}", "\u{1e9e}"]));
        assert!(collides(&["ss"], &["ss", "\u{1e9e}"]));
        assert!(collides(&["k"], &["k", "\u{212a}"]));
        assert!(collides(&["\u{e9}"], &["\u{e9}", "e\u{301}"]));
        assert!(collides(&["\u{c9}"], &["\u{c9}", "e\u{301}"]));
        assert!(collides(&["\u{1e9b}\u{323}"], &["\u{1e9b}\u{323}", "\u{1e69}"]));
        assert!(!collides(&["e"], &["e", "\u{e9}"]));
    }

    #[test]
    fn what_the_tree_already_has_may_stay_and_change() {
        let (before, file) = (tree(&["a", "A", "d/x", "D/x"]), TreeFile::of(FileKind::File, b"y"));
        let change =
            |path: &str| before.with(&BTreeMap::from([(path.parse().unwrap(), Some(file))])).unwrap();
        for (path, admitted) in [("a", true), ("d/x", true), ("e", true), ("d/y", false)] {
            let after = change(path);
            assert_eq!(!is_refused(&before, &after), admitted, "{path}");
        }
    }
}
