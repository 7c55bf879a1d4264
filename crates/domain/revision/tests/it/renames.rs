//! Files that get another name.

use std::collections::BTreeMap;

use ambit_ids::{ByteCount, limits};
use ambit_revision::{FileKind, TreeFile};

use crate::source::Source;

fn rename(from: &str, to: &str) -> String {
    format!("diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n")
}

/// A rename with a hunk that turns the line `old` into `new`.
fn rename_and_edit(from: &str, to: &str, old: &str, new: &str) -> String {
    rename(from, to) + &format!("--- a/{from}\n+++ b/{to}\n@@ -1 +1 @@\n-{old}\n+{new}\n")
}

fn create(path: &str) -> String {
    format!(
        "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+made\n"
    )
}

fn delete(path: &str, line: &str) -> String {
    format!(
        "diff --git a/{path} b/{path}\ndeleted file mode 100644\n--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-{line}\n"
    )
}

fn base() -> Source {
    let mut base = Source::of(&[("a", "A\n"), ("b", "B\n"), ("c", "C\n"), ("d/x", "X\n"), ("d/y", "Y\n")]);
    let run = TreeFile::of(FileKind::Executable, b"R\n");
    base.contents.insert(b"R\n".to_vec());
    base.tree = base.tree.with(&BTreeMap::from([("run".parse().unwrap(), Some(run))])).unwrap();
    base
}

/// The tree after the patch as `path=text`, and the same again by its canonical form.
fn outcome(patch: &str) -> String {
    let base = base();
    let applied = base.apply(patch.as_bytes()).unwrap_or_else(|refused| panic!("{refused:?}\n{patch}"));
    let again = base.apply(&applied.canonical.text).unwrap();
    assert_eq!(again.tree.digest(), applied.tree.digest(), "{patch}");
    assert_eq!(again.canonical.digest, applied.canonical.digest, "{patch}");
    let listing = base.after(&applied).listing();
    let told = listing.iter().map(|(path, (kind, bytes))| {
        let mark = if *kind == FileKind::Executable { "*" } else { "" };
        format!("{path}{mark}={}", String::from_utf8_lossy(bytes).trim_end())
    });
    told.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_file_gets_another_name_and_nothing_else_changes() {
    for (patch, expected) in [
        (rename("a", "n"), "b=B c=C d/x=X d/y=Y n=A run*=R"),
        (rename("run", "bin/run"), "a=A b=B bin/run*=R c=C d/x=X d/y=Y"),
        (rename("a", "d/z"), "b=B c=C d/x=X d/y=Y d/z=A run*=R"),
        (rename("a", "A"), "A=A b=B c=C d/x=X d/y=Y run*=R"),
        (rename("a", "a/b"), "a/b=A b=B c=C d/x=X d/y=Y run*=R"),
        (rename("d/x", "D/x") + &rename("d/y", "D/y"), "D/x=X D/y=Y a=A b=B c=C run*=R"),
        (rename_and_edit("a", "n", "A", "AA"), "b=B c=C d/x=X d/y=Y n=AA run*=R"),
    ] {
        assert_eq!(outcome(&patch), expected, "{patch}");
    }
}

#[test]
fn a_mode_is_kept_unless_the_patch_states_another() {
    let head = "diff --git a/run b/go\n";
    let lines = "rename from run\nrename to go\n";
    let modes = "old mode 100755\nnew mode 100644\n";
    let rest = "a=A b=B c=C d/x=X d/y=Y";
    assert_eq!(outcome(&format!("{head}{modes}{lines}")), rest.to_owned() + " go=R");
    assert_eq!(outcome(&format!("{head}{lines}{modes}")), rest.to_owned() + " go=R");
    let hunk = "--- a/run\n+++ b/go\n@@ -1 +1 @@\n-R\n+S\n";
    assert_eq!(outcome(&format!("{head}{lines}index 1..2 100755\n{hunk}")), rest.to_owned() + " go*=S");
    let wrong = format!("{head}{lines}index 1..2 100644\n{hunk}");
    assert_eq!(base().code(&wrong), "PATCH_MODE_MISMATCH");
}

#[test]
fn all_renames_are_one_step() {
    let rest = "d/x=X d/y=Y run*=R";
    for (patch, expected) in [
        (rename("a", "b") + &rename("b", "a"), "a=B b=A c=C"),
        (rename("a", "b") + &rename("b", "c") + &rename("c", "a"), "a=C b=A c=B"),
        (rename("a", "b") + &rename("b", "n"), "b=A c=C d/x=X d/y=Y n=B run*=R"),
        (rename("b", "n") + &rename("a", "b"), "b=A c=C d/x=X d/y=Y n=B run*=R"),
        (rename_and_edit("a", "b", "A", "A2") + &rename_and_edit("b", "a", "B", "B2"), "a=B2 b=A2 c=C"),
        (create("a") + &rename("a", "b2"), "a=made b=B b2=A c=C"),
        (delete("b", "B") + &rename("a", "b"), "b=A c=C"),
        (delete("b", "B") + &create("b"), "a=A b=made c=C"),
    ] {
        let expected =
            if expected.contains("d/x") { expected.to_owned() } else { format!("{expected} {rest}") };
        assert_eq!(outcome(&patch), expected, "{patch}");
    }
}

#[test]
fn names_of_a_rename_are_read_with_every_prefix_and_quoting() {
    for (header, expected) in [
        ("diff --git a/a b/new name\nrename from a\nrename to new name\n", "new name=A"),
        ("diff --git a new\nrename from a\nrename to new\n", "new=A"),
        ("diff --git i/a w/new\nrename from a\nrename to new\n", "new=A"),
        ("diff --git a/a \"b/\\303\\251\"\nrename from a\nrename to \"\\303\\251\"\n", "é=A"),
        ("diff --git \"a/a\" b/e\nrename from \"a\"\nrename to e\n", "e=A"),
    ] {
        assert!(outcome(header).contains(expected), "{header}: {}", outcome(header));
    }
}

#[test]
fn renames_that_cannot_be_are_refused_each_for_its_own_reason() {
    let mut base = base();
    let link = TreeFile::of(FileKind::Link, b"d");
    let large =
        TreeFile { size: ByteCount::new(limits::PATCH_WHOLE_BYTES + 1), ..TreeFile::of(FileKind::File, b"") };
    let pixels = TreeFile::of(FileKind::File, b"\0\n");
    base.contents.insert(b"\0\n".to_vec());
    let more =
        [("l", link), ("large", large), ("pixels", pixels), ("same", TreeFile::of(FileKind::File, b"A\n"))];
    let more = more.map(|(path, file)| (path.parse().unwrap(), Some(file)));
    base.tree = base.tree.with(&BTreeMap::from(more)).unwrap();
    let header = |lines: &str| format!("diff --git a/a b/n\n{lines}");
    for (patch, code) in [
        (rename("a", "b"), "PATCH_RENAME_EXISTS"),
        (rename_and_edit("a", "b", "A", "B"), "PATCH_RENAME_EXISTS"),
        (rename("none", "n"), "PATCH_FILE_MISSING"),
        (rename("d", "n"), "PATCH_PATH_CONFLICT"),
        (rename("a", "d"), "PATCH_PATH_CONFLICT"),
        (rename("a", "b/n"), "PATCH_PATH_CONFLICT"),
        (rename("l", "n"), "PATCH_LINK_RENAME"),
        (rename("a", "l"), "PATCH_LINK_REPLACE"),
        (rename("a", "l/n"), "PATCH_LINK_THROUGH"),
        (rename("l/x", "n"), "PATCH_LINK_THROUGH"),
        (rename("a", "B"), "PATCH_CASE_COLLISION"),
        (rename("a", "D/a"), "PATCH_CASE_COLLISION"),
        (rename("d/x", "D/x"), "PATCH_CASE_COLLISION"),
        (rename("pixels", "n"), "PATCH_BINARY"),
        (rename("large", "n"), "PATCH_WHOLE_TOO_LARGE"),
        (delete("same", "A") + &rename("a", "same"), "PATCH_NO_EFFECT"),
        (rename_and_edit("a", "n", "Z", "A"), "PATCH_CONTEXT_MISMATCH"),
        (rename("a", "n") + &rename("b", "n"), "PATCH_DUPLICATE_PATH"),
        (rename("a", "n") + &create("n"), "PATCH_DUPLICATE_PATH"),
        (rename("a", "b") + &delete("b", "B"), "PATCH_DUPLICATE_PATH"),
        (create("b") + &delete("b", "B"), "PATCH_DUPLICATE_PATH"),
        (rename("a", "n") + &rename("a", "m"), "PATCH_DUPLICATE_SOURCE"),
        (rename("a", "n") + &delete("a", "A"), "PATCH_DUPLICATE_SOURCE"),
        (
            rename("a", "n") + "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-A\n+Z\n",
            "PATCH_DUPLICATE_SOURCE",
        ),
        (rename("a", "../n"), "PATH_PARENT"),
        (rename("../a", "n"), "PATH_PARENT"),
        (rename("a", ".git/n"), "PATH_GIT_DIRECTORY"),
        (rename("a", "nul.txt"), "PATCH_PATH_RESERVED"),
        (rename("a", "a"), "PATCH_HEADER"),
        (header("rename from a\n"), "PATCH_HEADER"),
        (header("rename to n\n"), "PATCH_HEADER"),
        (header("rename from a\nrename from a\nrename to n\n"), "PATCH_HEADER"),
        (header("rename from b\nrename to n\n"), "PATCH_HEADER"),
        (header("rename from a\nrename to b/n\n"), "PATCH_HEADER"),
        (header("rename from a\nrename to n\nnew file mode 100644\n"), "PATCH_HEADER"),
        (header("rename from a\nrename to n\nold mode 100644\n"), "PATCH_HEADER"),
        (header("rename from a\nrename to n\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-A\n+Z\n"), "PATCH_HEADER"),
        (header("rename from a\nrename to n\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-A\n"), "PATCH_HEADER"),
        (header("rename from a\nrename to n\n--- a/a\n+++ b/n\n"), "PATCH_NO_HUNKS"),
        (header("copy from a\ncopy to n\n"), "PATCH_UNSUPPORTED_COPY"),
        (header(""), "PATCH_PATHS_DIFFER"),
        (rename("a", "n") + &rename("d/x", "d/z"), "applied"),
    ] {
        assert_eq!(base.code(&patch), code, "{patch}");
    }
}
