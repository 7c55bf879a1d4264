//! What is promised of revisions, row by row.

use std::collections::BTreeMap;

use ambit_ids::{Content, Digest, RevisionId};
use ambit_revision::{Contents, FileKind, Revision, TreeFile, apply, diff, parse};

use crate::source::{Source, one, patch_a};

// proves E-C05
// break crates/domain/revision/src/apply/mod.rs: `if base.digest() != *expected_base {` -> `if false {`
#[test]
fn a_patch_applies_only_to_the_tree_that_it_was_made_for() {
    let base = one("a\nb\n");
    let expected = base.tree.digest();
    let patch = parse(patch_a("@@ -1 +1,2 @@\n a\n+a\n").as_bytes()).unwrap();
    let first = apply(&base.tree, &expected, &patch, &base.contents).unwrap();
    let now = base.after(&first);
    let second = apply(&now.tree, &expected, &patch, &now.contents).unwrap_err();
    assert_eq!(second.code(), "PATCH_BASE_MOVED");
    assert!(
        apply(&now.tree, &now.tree.digest(), &patch, &now.contents).is_ok(),
        "it would have fitted again"
    );
}

// proves E-E03
// break crates/domain/revision/src/apply/mod.rs: `let changes = changes(base, edits);` -> `let changes: Vec<Change> = Vec::new();`
#[test]
fn an_applied_patch_tells_its_files_with_their_digests_before_and_after() {
    let base = Source::of(&[("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n")]);
    let patch = patch_a("@@ -1 +1 @@\n-a\n+x\n")
        + "--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n--- /dev/null\n+++ b/d/new\n@@ -0,0 +1 @@\n+n\n";
    let applied = base.apply(patch.as_bytes()).unwrap();
    let told: Vec<_> = applied
        .changes
        .iter()
        .map(|change| {
            (change.path.to_string(), change.before.map(|f| f.content), change.after.map(|f| f.content))
        })
        .collect();
    let digest = |text: &str| Some(Digest::of(text.as_bytes()));
    assert_eq!(
        told,
        [
            ("a.txt".to_owned(), digest("a\n"), digest("x\n")),
            ("b.txt".to_owned(), digest("b\n"), None),
            ("d/new".to_owned(), None, digest("n\n")),
        ]
    );
    assert_eq!(applied.source, Digest::of(patch.as_bytes()));
    assert_eq!(applied.canonical.digest, Digest::of(&applied.canonical.text));
    let blobs: Vec<&[u8]> = applied.blobs.iter().map(|(_, bytes)| bytes).collect();
    assert_eq!(blobs.len(), 2);
    assert!(blobs.contains(&&b"x\n"[..]) && blobs.contains(&&b"n\n"[..]));
}

// proves E-E08
// break crates/domain/revision/src/apply/headers.rs: `Place::Beyond(above) if above.kind == FileKind::Link => Err(Reason::LinkThrough),` -> `Place::Beyond(above) if above.kind == FileKind::Link => Err(Reason::Missing),`
#[test]
fn no_patch_goes_through_a_link_of_the_tree() {
    let mut base = Source::of(&[("real/x", "x\n")]);
    let link = |target: &str| Some(TreeFile::of(FileKind::Link, target.as_bytes()));
    let links =
        ["../outside", "real", "nowhere"].map(|to| (format!("l{}", to.len()).parse().unwrap(), link(to)));
    base.tree = base.tree.with(&BTreeMap::from(links)).unwrap();
    for name in ["l10", "l4", "l7"] {
        for (path, body) in [
            (format!("{name}/x"), "@@ -1 +1 @@\n-x\n+y\n"),
            (name.to_owned(), "@@ -1 +1 @@\n-x\n+y\n"),
            (format!("{name}/a/b"), "@@ -1 +1 @@\n-x\n+y\n"),
        ] {
            assert_eq!(
                base.code(&format!("--- a/{path}\n+++ b/{path}\n{body}")),
                "PATCH_LINK_THROUGH",
                "{path}"
            );
        }
    }
    assert_eq!(base.code("--- a/real/x\n+++ b/real/x\n@@ -1 +1 @@\n-x\n+y\n"), "applied");
}

// proves E-E09
// break crates/domain/revision/src/tree/edit.rs: `let becomes = edit_name(here.map(|(_, node)| node), edits)?;` -> `let becomes = here.map(|(_, node)| node).cloned();`
#[test]
fn the_base_of_a_patch_stays_as_it_was() {
    let base = Source::of(&[("a.txt", "a\n"), ("d/b", "b\n"), ("d/c", "c\n")]);
    let (digest, listing) = (base.tree.digest(), base.listing());
    let patch = patch_a("@@ -1 +1 @@\n-a\n+x\n") + "--- a/d/b\n+++ b/d/b\n@@ -1 +1 @@\n-b\n+y\n";
    let applied = base.apply(patch.as_bytes()).unwrap();
    assert_ne!(applied.tree.digest(), digest);
    assert_eq!((base.tree.digest(), base.listing()), (digest, listing));
}

// proves E-G01
// break crates/domain/revision/src/lineage.rs: `if id <= self.id {` -> `if false {`
#[test]
fn a_revision_has_a_place_a_tree_and_a_parent() {
    let [zero, one, two] = ["0", "1", "2"].map(|text| Digest::of(text.as_bytes()));
    let first = Revision::first(zero);
    let second = first.child(RevisionId::new(1), one).unwrap();
    let third = second.child(RevisionId::new(2), two).unwrap();
    assert_eq!([first.parent, second.parent, third.parent], [None, Some(first.id), Some(second.id)]);
    let beside = first.child(RevisionId::new(3), two).unwrap();
    assert_eq!((beside.parent, beside.tree), (Some(RevisionId::FIRST), two));
    for id in [0, 1, 2] {
        assert_eq!(third.child(RevisionId::new(id), one).unwrap_err().code(), "REVISION_ORDER");
    }
}

// proves E-G03
// break crates/domain/revision/src/diff/lines.rs: `counts.removed += op.old_range().len();` -> `counts.removed += 0;`
#[test]
fn two_revisions_compare_in_numbers_and_lines() {
    let before = Source::of(&[("a.txt", "1\n2\n3\n"), ("gone", "x\ny\n"), ("run", "r\n"), ("same", "s\n")]);
    let mut after =
        Source::of(&[("a.txt", "1\nII\n3\n4\n"), ("made", "m\n"), ("run", "r\n"), ("same", "s\n")]);
    let run = TreeFile::of(FileKind::Executable, b"r\n");
    let pixels = TreeFile::of(FileKind::File, b"\0\0");
    let more =
        BTreeMap::from([("run".parse().unwrap(), Some(run)), ("pixels".parse().unwrap(), Some(pixels))]);
    after.tree = after.tree.with(&more).unwrap();
    let mut contents = before.contents.clone();
    contents.include(&after.contents);
    contents.insert(b"\0\0".to_vec());
    let difference = diff(&before.tree, &after.tree, &|digest| contents.get(digest)).unwrap();
    let totals = difference.comparison.totals;
    assert_eq!((totals.files_added, totals.files_removed, totals.files_modified), (2, 1, 2));
    assert_eq!((totals.modes_changed, totals.files_binary), (1, 1));
    assert_eq!((totals.lines.added, totals.lines.removed), (3, 3));
    let expected = format!(
        "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n 1\n-2\n+II\n 3\n+4\n\
         diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n\
         diff --git a/made b/made\nnew file mode 100644\n--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+m\n\
         diff --git a/pixels b/pixels\nnew file mode 100644\nindex {}..{}\nBinary files /dev/null and b/pixels differ\n\
         diff --git a/run b/run\nold mode 100644\nnew mode 100755\n",
        "0".repeat(64),
        Digest::of(b"\0\0").to_hex(),
    );
    assert_eq!(String::from_utf8(difference.text).unwrap(), expected);
    let missing = diff(&before.tree, &after.tree, &|digest| before.contents.get(digest)).unwrap_err();
    assert_eq!(missing.code(), "DIFF_CONTENT_MISSING");
}

// proves E-G06
// break crates/domain/revision/src/apply/splice.rs: `copied = end;` -> `copied = end + 1;`
#[test]
fn the_recorded_patches_lead_from_the_first_tree_to_the_last() {
    let base = Source::of(&[("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"), ("run", "r\n")]);
    let proposals = [
        patch_a("@@ -1 +1 @@\n-1\n+one\n@@ -9 +9 @@\n-9\n+nine\n"),
        "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n".to_owned(),
        "--- /dev/null\n+++ b/new/deep\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n".to_owned(),
        patch_a("@@ -7,3 +7,2 @@\n 7\n-8\n nine\n"),
        "--- a/new/deep\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n".to_owned(),
    ];
    let (mut now, mut record) = (base.clone(), Vec::new());
    for proposal in &proposals {
        let applied = now.apply(proposal.as_bytes()).unwrap();
        now = now.after(&applied);
        record.push((applied.canonical.text, now.tree.digest()));
    }
    let mut replayed = base;
    for (patch, digest) in record {
        replayed = replayed.after(&replayed.apply(&patch).unwrap());
        assert_eq!(replayed.tree.digest(), digest);
    }
    assert_eq!(replayed.tree.digest(), now.tree.digest());
}

// proves D5
// break crates/domain/revision/src/diff/lines.rs: `if !line.ends_with(b"\n") {` -> `if false {`
#[test]
fn a_canonical_patch_keeps_ends_of_files_modes_and_binaries() {
    let base = one("a\n");
    let mut contents = Contents::new();
    let files: [(&str, FileKind, &[u8]); 5] = [
        ("a.txt", FileKind::File, b"a\nb"),
        ("new.txt", FileKind::File, b"new\n"),
        ("blank", FileKind::File, b"\n\n"),
        ("empty", FileKind::File, b""),
        ("run", FileKind::Executable, b"#!/bin/sh"),
    ];
    let changes: BTreeMap<_, _> = files
        .iter()
        .map(|(path, kind, bytes)| (path.parse().unwrap(), Some(TreeFile::of(*kind, bytes))))
        .collect();
    contents.extend(files.iter().map(|(_, _, bytes)| Content::of(bytes.to_vec())));
    contents.include(&base.contents);
    let after = base.tree.with(&changes).unwrap();
    let exported = diff(&base.tree, &after, &|digest| contents.get(digest)).unwrap();
    assert_eq!(base.apply(&exported.text).unwrap().tree.digest(), after.digest());

    let pixels = TreeFile::of(FileKind::File, b"\x89PNG\0");
    contents.insert(b"\x89PNG\0".to_vec());
    let with_binary = base.tree.with(&BTreeMap::from([("p.png".parse().unwrap(), Some(pixels))])).unwrap();
    let exported = diff(&base.tree, &with_binary, &|digest| contents.get(digest)).unwrap();
    let text = String::from_utf8(exported.text).unwrap();
    assert!(text.contains(&pixels.content.to_hex()), "{text}");
    assert_eq!(base.code(&text), "PATCH_BINARY");
}
