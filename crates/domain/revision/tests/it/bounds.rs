//! Work that grows with the input and not with its square. What is counted is objects and answers, never time: a step
//! that were quadratic would not come to an end here.

use ambit_ids::{RepoPath, limits};
use ambit_revision::{FileKind, Tree, TreeFile};

use crate::source::{one, patch_a};

#[test]
fn one_file_of_many_rebuilds_only_the_directories_above_it() {
    let file = TreeFile::of(FileKind::File, b"x\n");
    let paths = (0..20_000).map(|n| format!("src/m{}/p{}/f{n}.rs", n % 20, n % 400));
    let tree = Tree::from_files(paths.map(|path| (path.parse::<RepoPath>().unwrap(), file))).unwrap();
    let mut base = one("");
    base.contents.insert(b"x\n".to_vec());
    base.tree = tree;
    let patch = "--- a/src/m7/p7/f7.rs\n+++ b/src/m7/p7/f7.rs\n@@ -1 +1,2 @@\n x\n+y\n";
    let applied = base.apply(patch.as_bytes()).unwrap();
    assert_eq!((base.tree.file_count(), base.tree.objects().len()), (20_000, 422));
    assert_eq!(applied.tree.objects_beyond(&base.tree).len(), 4);
    assert_eq!(applied.changes.len(), 1);
}

/// A patch of the largest size with this body, repeated.
fn largest(start: &str, unit: &str) -> String {
    let mut patch = patch_a(start);
    let times = (limits::PATCH_BYTES - patch.len()) / unit.len();
    patch.push_str(&unit.repeat(times));
    patch
}

/// A block that changes `a.txt`.
fn begun(anchors: &str, hunks: &str) -> String {
    format!("*** Begin Patch\n*** Update File: a.txt\n{anchors}{hunks}*** End Patch\n")
}

/// Search and replace blocks for `a.txt`.
fn blocks(search: &str, count: usize) -> String {
    format!("a.txt\n{}", format!("<<<<<<< SEARCH\n{search}=======\nc\n>>>>>>> REPLACE\n").repeat(count))
}

#[test]
fn the_largest_hostile_patches_come_to_an_answer() {
    let same = "a\n".repeat(1 << 19);
    for (patch, code) in [
        (largest("@@ -1,999999999 +1,999999999 @@\n", " a\n"), "PATCH_NO_EFFECT"),
        (largest("@@ -1,999999999 +1,999999999 @@\n", "-a\n"), "applied"),
        (largest("@@ -1,9 +1,9 @@\n-a\n", "\n"), "applied"),
        (largest("@@ -1,9 +1,9 @@\n-a\n", "-- \n\n"), "PATCH_CONTEXT_MISMATCH"),
        (largest("@@ -1,9 +1,9 @@\n-a\n", "--- a\n+++ b\n"), "PATCH_CONTEXT_MISMATCH"),
        (largest("@@ -99999,9 +1,9 @@\n", "+b\n a\n"), "applied"),
        (largest("@@ -999999,9 +1,9 @@\n", "+b\n a\n"), "PATCH_AMBIGUOUS_PLACE"),
        (largest("", "@@ -9 +9 @@\n-b\n+c\n"), "PATCH_TOO_MANY_HUNKS"),
        (largest("@@ -1 +1 @@\n-a\n+b\n", "\n"), "applied"),
        (largest("", "From 1 Mon\n"), "PATCH_NO_HUNKS"),
        ("From 1 Mon\n".repeat(limits::PATCH_BYTES / 11), "PATCH_EMPTY"),
        (largest("@@ -1 +1 @@\n-a\n+b\n", "-- \n1\n\n\n"), "PATCH_BODY_LINE"),
        (largest("@@ -1 +1 @@\n-a\n+b\n\n", "Words.\n"), "applied"),
        (begun(&"@@ a\n".repeat(1 << 17), "-a\n"), "PATCH_AMBIGUOUS_PLACE"),
        (begun("", &"@@ a\n-b\n".repeat(4000)), "PATCH_CONTEXT_MISMATCH"),
        (begun("", &"@@\n-b\n".repeat(1 << 16)), "PATCH_TOO_MANY_HUNKS"),
        ("```\n".repeat(1 << 17), "PATCH_EMPTY"),
        ("  ```\n".repeat(1 << 17), "PATCH_EMPTY"),
        (blocks("b\n", 4000), "PATCH_CONTEXT_MISMATCH"),
        (blocks("b\n", 8000), "PATCH_TOO_MANY_HUNKS"),
        ("diff --git ".to_owned() + &"a ".repeat(limits::PATCH_BYTES / 2 - 8), "PATCH_PATHS_DIFFER"),
    ] {
        assert_eq!(one(&same).code(&patch), code, "{}", &patch[..80]);
    }
}

#[test]
fn hunks_that_are_not_where_they_say_may_cause_only_so_much_searching() {
    let filler = "a line that is longer than the others and fills the file\n".repeat(1 << 16);
    let hunks: String = (0..limits::PATCH_HUNKS).map(|n| format!("@@ -1 +1 @@\n-h{n}\n+x\n")).collect();
    let targets: String = (0..limits::PATCH_HUNKS).map(|n| format!("h{n}\n")).collect();
    let large = one(&(filler.clone() + &targets));
    assert_eq!(large.code(&patch_a(&hunks)), "PATCH_SEARCH_LIMIT");
    assert_eq!(one(&targets).code(&patch_a(&hunks)), "applied");
}

#[test]
fn where_a_line_stands_is_looked_up_in_a_file_of_few_long_lines() {
    let long = "x".repeat(32 << 10) + "\n";
    let large = one(&(long.repeat(250) + "b\nc\n"));
    let hunk = "@@ -251 +251 @@\n-b\n+z\n";
    assert_eq!(large.code(&patch_a(&hunk.repeat(limits::PATCH_HUNKS))), "PATCH_HUNK_OVERLAP");
    assert_eq!(large.code(&patch_a(hunk)), "applied");
}

#[test]
fn the_difference_of_files_with_nothing_in_order_is_bounded() {
    let lines = |seed: u32| -> String {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if state >> 31 == 0 { "a\n" } else { "b\n" }
        };
        (0..40_000).map(|_| next()).collect()
    };
    let (old, new) = (lines(1), lines(2));
    let body: String = old
        .lines()
        .map(|line| format!("-{line}\n"))
        .chain(new.lines().map(|line| format!("+{line}\n")))
        .collect();
    let base = one(&old);
    let applied = base.apply(patch_a(&format!("@@ -1,40000 +1,40000 @@\n{body}")).as_bytes()).unwrap();
    let again = base.apply(&applied.canonical.text).unwrap();
    assert_eq!(again.tree.digest(), applied.tree.digest());
    assert_eq!(base.after(&again).text("a.txt"), new);
}
