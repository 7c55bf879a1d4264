//! What a patch sees of a source tells the same as the whole tree.

use std::collections::BTreeSet;

use ambit_ids::RepoPath;
use ambit_revision::tree::EntryName;
use ambit_revision::{
    Applied, Effect, Judged, Listing, Outcome, PatchRefusal, PatchSet, Place, Sight, Tree, View, ViewError,
    parse, touched,
};

use crate::source::{Refused, Source, patch_a};

/// The listings of a tree that a patch needs: the root, and each directory on the way to what it touches.
fn listings(tree: &Tree, patch: &PatchSet) -> Vec<Listing> {
    let touched = touched(patch);
    let mut directories = BTreeSet::from([None]);
    for path in &touched {
        let mut above = path.parent();
        while let Some(directory) = above {
            above = directory.parent();
            directories.insert(Some(directory));
        }
    }
    directories.retain(|directory| {
        directory.as_ref().is_none_or(|directory| tree.place(directory) == Place::Directory)
    });
    let sight = |path: &RepoPath| match tree.place(path) {
        Place::File(file) if touched.contains(path) || touched.iter().any(|other| is_below(other, path)) => {
            Sight::Read(*file)
        }
        Place::File(_) => Sight::Unread,
        _ => Sight::Directory,
    };
    let list = |directory: Option<RepoPath>| {
        let entries = tree.names(directory.as_ref()).into_iter().map(|name| {
            let path = match &directory {
                Some(directory) => directory.join(name.as_bytes()),
                None => RepoPath::from_bytes(name.as_bytes()),
            };
            (EntryName::new(name.as_bytes()).unwrap(), sight(&path.unwrap()))
        });
        Listing { entries: entries.collect(), directory: directory.clone() }
    };
    directories.into_iter().map(list).collect()
}

fn is_below(path: &RepoPath, above: &RepoPath) -> bool {
    path.as_bytes().strip_prefix(above.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"))
}

/// What a whole tree and a view must say alike.
type Told = (Vec<u8>, String);

fn whole(applied: &Applied) -> Told {
    let Applied { canonical, changes, matches, blobs, warnings, .. } = applied;
    (canonical.text.clone(), format!("{changes:?}{matches:?}{warnings:?}{blobs:?}"))
}

fn original(effect: &Effect) -> Told {
    let Effect { canonical, changes, matches, warnings, .. } = effect;
    (canonical.text.clone(), format!("{changes:?}{matches:?}{warnings:?}{{}}"))
}

fn seen(outcome: &Outcome) -> Told {
    let Outcome { canonical, changes, matches, blobs, warnings } = outcome;
    (canonical.text.clone(), format!("{changes:?}{matches:?}{warnings:?}{blobs:?}"))
}

/// Whether a view tells of a patch what the whole tree told.
pub(crate) fn agrees(base: &Source, bytes: &[u8], outcome: &Result<Applied, Refused>) -> Result<(), String> {
    let Ok(patch) = parse(bytes) else { return Ok(()) };
    let view = View::new(&patch, listings(&base.tree, &patch)).map_err(|error| error.to_string())?;
    match (outcome, view.apply(&base.contents)) {
        (Ok(applied), Ok(Judged::Applied(outcome))) if whole(applied) == seen(&outcome) => Ok(()),
        (Err(Refused::Apply(PatchRefusal::AlreadyApplied(one))), Ok(Judged::AlreadyApplied(other)))
            if one.as_deref().map(original) == other.as_ref().map(seen) =>
        {
            Ok(())
        }
        (Err(Refused::Apply(one)), Err(other)) if *one == other => Ok(()),
        (one, other) => Err(format!("the view says {other:?} and the tree {one:?}")),
    }
}

#[test]
fn a_view_tells_what_the_whole_tree_tells_where_names_around_a_path_matter() {
    let base = Source::of(&[
        ("README", "r\n"),
        ("a/a.txt", "x\n"),
        ("a.txt", "1\n2\n"),
        ("d/only.txt", "x\n"),
        ("e/one.txt", "x\n"),
        ("e/two.txt", "x\n"),
        ("e/a/deep.txt", "x\n"),
        ("Src/lib.rs", "x\n"),
    ]);
    let git = |path: &str, rest: &str| format!("diff --git a/{path} b/{path}\n{rest}");
    let create = |path: &str| {
        git(path, &format!("new file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"))
    };
    let remove = |path: &str| {
        git(path, &format!("deleted file mode 100644\n--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"))
    };
    for (patch, code) in [
        (create("new/deep/file"), "applied"),
        (create("readme"), "PATCH_CASE_COLLISION"),
        (create("src/new.rs"), "PATCH_CASE_COLLISION"),
        (create("e"), "PATCH_PATH_CONFLICT"),
        (create("README/x"), "PATCH_PATH_CONFLICT"),
        (create("e/a/b"), "applied"),
        (remove("d/only.txt") + &create("d"), "applied"),
        (remove("e/one.txt") + &create("e"), "PATCH_PATH_CONFLICT"),
        (remove("e/two.txt"), "applied"),
        (create("e/one.txt"), "PATCH_ALREADY_APPLIED"),
        ("--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-1\n+3\n".to_owned(), "applied"),
        ("--- a/a.txt\n+++ a/a.txt\n@@ -1 +1 @@\n-1\n+3\n".to_owned(), "PATCH_PREFIX_AMBIGUOUS"),
        ("--- a/a.txt\n+++ a/a.txt\n@@ -1 +1 @@\n-x\n+3\n".to_owned(), "PATCH_PREFIX_AMBIGUOUS"),
        ("--- a/b.txt\n+++ a/b.txt\n@@ -1 +1 @@\n-x\n+3\n".to_owned(), "PATCH_FILE_MISSING"),
        (
            "--- a/a.txt\n+++ a/a.txt\n@@ -1 +1 @@\n-x\n+3\n--- e/one.txt\n+++ e/one.txt\n@@ -1 +1 @@\n-x\n+3\n"
                .to_owned(),
            "applied",
        ),
        (
            "diff --git a/n a/n\nnew file mode 100644\n--- /dev/null\n+++ a/n\n@@ -0,0 +1 @@\n+x\n".to_owned(),
            "applied",
        ),
        (
            "diff --git b/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n".to_owned(),
            "PATCH_PREFIX_AMBIGUOUS",
        ),
        (patch_a("@@ -1 +1 @@\n-1\n+3\n"), "applied"),
        ("--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n".to_owned(), "PATCH_PREFIX_AMBIGUOUS"),
    ] {
        let outcome = base.apply(patch.as_bytes());
        assert_eq!(outcome.as_ref().map_or_else(Refused::code, |_| "applied"), code, "{patch}");
        assert_eq!(agrees(&base, patch.as_bytes(), &outcome), Ok(()), "{patch}");
    }
}

#[test]
fn a_view_without_what_the_patch_touches_is_none() {
    let base = Source::of(&[("src/a/x.txt", "1\n"), ("src/y.txt", "1\n")]);
    let patch =
        parse(b"diff --git a/src/a/x.txt b/src/a/x.txt\n--- a/src/a/x.txt\n+++ b/src/a/x.txt\n@@ -1 +1 @@\n-1\n+2\n")
            .unwrap();
    let all = listings(&base.tree, &patch);
    assert_eq!(all.len(), 3);
    assert!(View::new(&patch, all.clone()).unwrap().apply(&base.contents).is_ok());
    for left_out in 1..all.len() {
        let mut some = all.clone();
        some.remove(left_out);
        assert!(matches!(View::new(&patch, some), Err(ViewError::Unread(_))), "{left_out}");
    }
    let mut unread = all.clone();
    unread[2].entries[0].1 = Sight::Unread;
    assert!(matches!(View::new(&patch, unread), Err(ViewError::Unread(_))));
}
