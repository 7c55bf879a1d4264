//! Every published attack of the collection: tried here as a patch, or tried by a test of the part that it is about.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::cases::{ambit, cases, link, untouched};

/// Where and how an attack is tried.
enum Tried {
    /// As a patch on a base with these links, which is refused with a code that starts like this.
    Patch { links: &'static [(&'static str, &'static str)], patch: &'static str, code: &'static str },
    /// By this test, in this file.
    By(&'static str, &'static str),
    /// Not at all, for it is about a program that is never started: its name stands nowhere in the code.
    Never(&'static str),
}

use Tried::{By, Never, Patch};

const IMPORTING: &str = "crates/adapters/images/src/import/tests.rs";
const GIT: &str = "crates/adapters/source-directory/tests/it/git.rs";
/// A runtime that has the defect is named, by doctor and in every manifest.
const ADVISORIES: &str = "crates/mechanisms/advisories/src/tests.rs";
const HOSTILE: &str = "crates/adapters/sandbox-linux/tests/it/hostile.rs";
const READING: &str = "crates/control-plane/broker/tests/it/reading.rs";
const PATHS: &str = "every_path_of_the_collection_is_answered_as_it_says_and_none_tells_of_what_lies_outside";

/// An edit of the file at a path.
macro_rules! edit {
    ($path:literal) => {
        concat!("--- a/", $path, "\n+++ b/", $path, "\n@@ -1 +1 @@\n-inside\n+pwned\n")
    };
}

/// A new file at a path.
macro_rules! create {
    ($path:literal) => {
        concat!("--- /dev/null\n+++ b/", $path, "\n@@ -0,0 +1 @@\n+pwned\n")
    };
}

const fn patch(patch: &'static str, code: &'static str) -> Tried {
    Patch { links: &[], patch, code }
}

const ATTACKS: &[(&str, Tried)] = &[
    ("CVE-2018-1000156", patch("--- a/a.txt\n+++ b/a.txt\n1337a\n1,112d\n!touch pwned\n.\nw\nq\n", "PATCH_")),
    ("CVE-2019-13638", patch("Index: a.txt; touch pwned\n1d\n!touch pwned\n.\nw\n", "PATCH_")),
    ("CVE-2019-13636", Patch { links: &[("l", "a.txt")], patch: edit!("l"), code: "PATCH_LINK" }),
    (
        "CVE-2015-1196",
        patch(
            concat!(
                "diff --git a/d b/d\nnew file mode 120000\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+..\n",
                "\\ No newline at end of file\n",
                "diff --git a/d/x.txt b/d/x.txt\nnew file mode 100644\n--- /dev/null\n+++ b/d/x.txt\n@@ -0,0 +1 @@\n+pwned\n"
            ),
            "PATCH_LINK",
        ),
    ),
    ("CVE-2010-4651", patch(create!("../x.txt"), "PATH_PARENT")),
    (
        "CVE-2023-23946",
        Patch {
            links: &[("l", "..")],
            patch: concat!(
                "diff --git a/l b/m\nsimilarity index 100%\nrename from l\nrename to m\n",
                "diff --git a/m/x.txt b/m/x.txt\nnew file mode 100644\n--- /dev/null\n+++ b/m/x.txt\n@@ -0,0 +1 @@\n+pwned\n"
            ),
            code: "PATCH_",
        },
    ),
    (
        "CVE-2023-25652",
        Patch {
            links: &[("a.txt.rej", "../x.txt")],
            patch: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-other\n+pwned\n",
            code: "PATCH_CONTEXT_MISMATCH",
        },
    ),
    ("CVE-2014-9390", patch(create!(".g\u{200c}it/hooks/post-checkout"), "PATH_GIT_DIRECTORY")),
    (
        "CVE-2019-1387",
        patch(
            "diff --git a/m b/m\nnew file mode 160000\nindex 0000000..1111111\n--- /dev/null\n+++ b/m\n@@ -0,0 +1 @@\n+Subproject commit 1111111111111111111111111111111111111111\n",
            "PATCH_SUBMODULE",
        ),
    ),
    (
        "CVE-2025-48384",
        patch(
            "diff --git \"a/m\\r\" \"b/m\\r\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/m\\r\"\n@@ -0,0 +1 @@\n+x\n",
            "PATCH_PATH_UNPRINTABLE",
        ),
    ),
    ("CVE-2026-71556", Patch { links: &[("d", "..")], patch: create!("d/x.txt"), code: "PATCH_LINK" }),
    ("GHSA-r5fq-947m-xm57", patch(edit!("sub/../../x.txt"), "PATH_PARENT")),
    ("CVE-2021-37701", patch(create!("d\\..\\x.txt"), "PATCH_PATH_BACKSLASH")),
    ("CVE-2007-4559", By(IMPORTING, "entries_that_no_image_can_hold_are_refused_by_name")),
    ("CVE-2025-4517", By(IMPORTING, "a_layer_changes_what_lies_below_and_never_through_a_link")),
    ("CVE-2021-32803", By(IMPORTING, "a_layer_changes_what_lies_below_and_never_through_a_link")),
    ("CVE-2024-32002", By(GIT, "nothing_in_a_repository_gets_itself_executed")),
    ("CVE-2022-24765", By(GIT, "nothing_in_a_repository_gets_itself_executed")),
    ("CVE-2022-39253", By(GIT, "git_s_own_directory_is_not_opened_whatever_it_is")),
    (
        "CVE-2018-15664",
        By(
            "crates/adapters/source-directory/tests/it/changing.rs",
            "nothing_from_outside_arrives_where_a_link_takes_the_place_of_a_directory",
        ),
    ),
    ("CVE-2025-53109", By(READING, PATHS)),
    ("CVE-2025-53110", By(READING, PATHS)),
    ("CVE-2025-54794", By(READING, PATHS)),
    ("CVE-2024-21626", By(HOSTILE, "hostile_commands_are_contained")),
    ("CVE-2022-0492", By(HOSTILE, "hostile_commands_are_contained")),
    ("CVE-2022-0847", By("crates/adapters/sandbox-linux/src/machine.rs", "a_release_is_read_as_numbers")),
    ("CVE-2019-5736", By(ADVISORIES, "runtimes_are_held_against_candidates_too")),
    ("CVE-2021-30465", By(ADVISORIES, "runtimes_are_held_against_candidates_too")),
    ("CVE-2025-31133", By(ADVISORIES, "runtimes_are_held_against_candidates_too")),
    ("CVE-2025-52565", By(ADVISORIES, "runtimes_are_held_against_candidates_too")),
    ("CVE-2025-52881", By(ADVISORIES, "runtimes_are_held_against_candidates_too")),
    ("CVE-2024-0132", Never("nvidia-container-runtime")),
    ("CVE-2026-87766", Never("bwrap")),
    ("CVE-2019-14271", Never("docker")),
    ("CVE-2019-11246", Never("kubectl")),
    (
        "CVE-2025-54795",
        By(
            "crates/bins/ambit/tests/it/hostile_agents.rs",
            "whatever_an_agent_says_the_run_ends_for_the_right_reason_and_without_an_effect",
        ),
    ),
    (
        "CVE-2025-61260",
        By(
            "crates/bins/ambit/tests/it/own_repository.rs",
            "documents_that_others_wrote_are_neither_used_nor_overwritten",
        ),
    ),
];

/// A base with one file and these links, and files around it that the patches would like to reach.
fn ground(links: &[(&str, &str)], patch: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    let base = dir.path().join("work/base");
    fs::create_dir_all(base.join("sub")).unwrap();
    fs::write(base.join("a.txt"), "inside\n").unwrap();
    for (name, target) in links {
        link(&base, name, target);
    }
    for outside in ["x.txt", "work/x.txt"] {
        fs::write(dir.path().join(outside), "inside\n").unwrap();
    }
    fs::write(dir.path().join("change.patch"), patch).unwrap();
    dir
}

fn try_patch(id: &str, links: &[(&str, &str)], patch: &str, code: &str) {
    let dir = ground(links, patch);
    let before = untouched(dir.path());
    for more in [&[][..], &["--changed-only"]] {
        let words = ["patch", "apply", "--base", "work/base", "--out", "work/out", "change.patch"];
        let refused = ambit(dir.path(), &[&words[..], more].concat());
        assert_eq!(refused.code, 4, "{id}: {refused:?}");
        let told = refused.json();
        assert!(told["code"].as_str().unwrap().starts_with(code), "{id}: {told}");
    }
    assert_eq!(untouched(dir.path()), before, "{id}");
}

/// Whether a file of the product's own code has this text.
fn stands_in_code(dir: &Path, text: &str) -> bool {
    fs::read_dir(dir).unwrap().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return !path.ends_with("tests") && stands_in_code(&path, text);
        }
        path.extension().is_some_and(|is| is == "rs") && fs::read_to_string(&path).unwrap().contains(text)
    })
}

#[test]
fn every_published_attack_is_tried_by_some_test() {
    let Some(file) = cases("paths/cve.jsonl") else { return };
    let lines = fs::read_to_string(file).unwrap();
    let known: BTreeSet<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned())
        .collect();
    let tried: BTreeMap<&str, &Tried> = ATTACKS.iter().map(|(id, tried)| (*id, tried)).collect();
    assert_eq!(
        known.iter().map(String::as_str).collect::<Vec<_>>(),
        tried.keys().copied().collect::<Vec<_>>()
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    // The same ground takes a patch that leads nowhere else, so that the refusals are not for another reason.
    let plain = ground(&[("l", "a.txt"), ("d", "..")], edit!("a.txt"));
    ambit(plain.path(), &["patch", "check", "--base", "work/base", "change.patch"]).well();
    assert!(stands_in_code(&root.join("crates"), "\"python3\""), "a program that is started is found");
    for (id, tried) in tried {
        match tried {
            Patch { links, patch, code } => try_patch(id, links, patch, code),
            By(file, test) => {
                let text = fs::read_to_string(root.join(file)).unwrap_or_default();
                assert!(text.contains(&format!("fn {test}()")), "{id}: there is no {test} in {file}");
            }
            Never(program) => {
                let quoted = format!("\"{program}\"");
                assert!(!stands_in_code(&root.join("crates"), &quoted), "{id}: {program} is named");
            }
        }
    }
}
