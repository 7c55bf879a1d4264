//! Headers are judged before any content, each fault under a code of its own.

use std::collections::BTreeMap;

use ambit_ids::limits;
use ambit_revision::{FileKind, TreeFile};

use crate::source::Source;

/// Names in headers, as C quotes them, and the code under which each is refused.
const NAMES: &[(&str, &str)] = &[
    ("src/new.txt", "applied"),
    ("caf\\303\\251", "applied"),
    (".gitignore", "applied"),
    (".gitmodules", "applied"),
    (".gitattributes", "applied"),
    ("git~2", "applied"),
    ("console/com10", "applied"),
    ("/etc/passwd", "PATH_ABSOLUTE"),
    ("../x", "PATH_PARENT"),
    ("a/../../x", "PATH_PARENT"),
    ("a/./x", "PATH_NOT_NORMAL"),
    ("a//x", "PATH_NOT_NORMAL"),
    ("a/", "PATH_NOT_NORMAL"),
    ("a\\000b", "PATH_NUL"),
    ("a\\001b", "PATCH_PATH_UNPRINTABLE"),
    ("a\\tb", "PATCH_PATH_UNPRINTABLE"),
    ("a\\nb", "PATCH_PATH_UNPRINTABLE"),
    ("a\\177b", "PATCH_PATH_UNPRINTABLE"),
    ("a\\342\\200\\256b", "PATCH_PATH_UNPRINTABLE"),
    (".git/config", "PATH_GIT_DIRECTORY"),
    ("a/.GIT/config", "PATH_GIT_DIRECTORY"),
    (".git./config", "PATH_GIT_DIRECTORY"),
    (".git ./config", "PATH_GIT_DIRECTORY"),
    (".git::$INDEX_ALLOCATION/config", "PATH_GIT_DIRECTORY"),
    (".git:x/config", "PATH_GIT_DIRECTORY"),
    ("GIT~1/config", "PATH_GIT_DIRECTORY"),
    ("git~1./config", "PATH_GIT_DIRECTORY"),
    (".g\\342\\200\\214it/config", "PATH_GIT_DIRECTORY"),
    (".gi\\357\\273\\277T", "PATH_GIT_DIRECTORY"),
    ("C:/x", "PATCH_PATH_DRIVE"),
    ("c:x", "PATCH_PATH_DRIVE"),
    ("a\\\\b", "PATCH_PATH_BACKSLASH"),
    ("..\\\\x", "PATCH_PATH_BACKSLASH"),
    ("\\\\\\\\host\\\\share\\\\x", "PATCH_PATH_SHARE"),
    ("//host/share/x", "PATCH_PATH_SHARE"),
    ("a/NUL", "PATCH_PATH_RESERVED"),
    ("aux.c", "PATCH_PATH_RESERVED"),
    ("com\\302\\271.txt", "PATCH_PATH_RESERVED"),
    ("CONIN$", "PATCH_PATH_RESERVED"),
    ("lpt9:x", "PATCH_PATH_RESERVED"),
    ("a./b", "PATCH_PATH_TRAILING"),
    ("a ", "PATCH_PATH_TRAILING"),
    ("SRC/x", "PATCH_CASE_COLLISION"),
    ("Kept", "PATCH_CASE_COLLISION"),
    ("e\\314\\201", "PATCH_CASE_COLLISION"),
    ("link/x", "PATCH_LINK_THROUGH"),
    ("kept/x", "PATCH_PATH_CONFLICT"),
    ("src", "PATCH_PATH_CONFLICT"),
];

fn base() -> Source {
    let mut base = Source::of(&[("kept", "k\n"), ("src/old", "o\n"), ("\u{c9}", "e\n")]);
    let link = TreeFile::of(FileKind::Link, b"src");
    base.tree = base.tree.with(&BTreeMap::from([("link".parse().unwrap(), Some(link))])).unwrap();
    base
}

#[test]
fn every_name_is_judged_alike_whatever_the_patch_does_with_it() {
    let base = base();
    for (name, code) in NAMES {
        // What follows is no hunk, so that the header is refused before it or not at all.
        let made = format!("diff --git \"a/{name}\" \"b/{name}\"\nnew file mode 100644\n");
        assert_eq!(base.code(&made), *code, "{made}");
        let renamed = format!("diff --git a/kept \"b/{name}\"\nrename from kept\nrename to \"{name}\"\n");
        // What a rename leaves is free: for the same name in other letters, and for a directory.
        let is_left = ["Kept", "kept/x"].contains(name);
        assert_eq!(base.code(&renamed), if is_left { "applied" } else { *code }, "{renamed}");
        if code.starts_with("PATH_") || code.starts_with("PATCH_PATH_") && !code.ends_with("CONFLICT") {
            let changed = format!("--- \"a/{name}\"\n+++ \"b/{name}\"\n@@ nothing\n*\n");
            assert_eq!(base.code(&changed), *code, "{changed}");
            let left = format!("diff --git \"a/{name}\" b/n\nrename from \"{name}\"\nrename to n\n");
            assert_eq!(base.code(&left), *code, "{left}");
        }
    }
}

#[test]
fn every_kind_of_change_is_judged_before_its_content() {
    let base = base();
    let git = |lines: &str| format!("diff --git a/kept b/kept\n{lines}");
    let hunk = "--- a/kept\n+++ b/kept\n@@ -1 +1 @@\n-k\n+x\n";
    let bad = "--- a/kept\n+++ b/kept\n@@ -1 +1 @@\n-other\n+x\n";
    let other = |path: &str, body: &str| format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n{body}");
    for (patch, code) in [
        (git(hunk), "applied"),
        (git(&format!("old mode 100644\nnew mode 100755\n{hunk}")), "applied"),
        (git("old mode 100644\nnew mode 104755\n*"), "PATCH_MODE_SETUID"),
        (git("old mode 100644\nnew mode 106755\n*"), "PATCH_MODE_SETUID"),
        (git("old mode 100644\nnew mode 102755\n*"), "PATCH_MODE_SETGID"),
        (git("old mode 100644\nnew mode 101755\n*"), "PATCH_MODE_STICKY"),
        (git("old mode 100644\nnew mode 100777\n*"), "PATCH_MODE_PERMISSIONS"),
        (git("new file mode 100600\n*"), "PATCH_MODE_PERMISSIONS"),
        (git("new file mode 040000\n*"), "PATCH_MODE_KIND"),
        (git("new file mode 060644\n*"), "PATCH_MODE_KIND"),
        (git("new file mode 644\n*"), "PATCH_MODE_MALFORMED"),
        (git("new file mode 100649\n*"), "PATCH_MODE_MALFORMED"),
        (git("new file mode 120000\n*"), "PATCH_LINK_CREATE"),
        (git("deleted file mode 120000\n*"), "PATCH_LINK_DELETE"),
        (git("old mode 100644\nnew mode 120000\n*"), "PATCH_LINK_MODE"),
        (git("old mode 120000\nnew mode 100644\n*"), "PATCH_LINK_MODE"),
        (git("index 1..2 120000\n*"), "PATCH_LINK_EDIT"),
        (git("new file mode 160000\n*"), "PATCH_SUBMODULE"),
        (git("deleted file mode 160000\n*"), "PATCH_SUBMODULE"),
        (git("index 1..2 160000\n*"), "PATCH_SUBMODULE"),
        (git("copy from kept\ncopy to n\n*"), "PATCH_UNSUPPORTED_COPY"),
        (git("index 1..2 100644\nGIT binary patch\n*"), "PATCH_BINARY"),
        (git("Binary files a/kept and b/kept differ\n*"), "PATCH_BINARY"),
        (other("link", "-src\n+../..\n"), "PATCH_LINK_RETARGET"),
        (other("link", "-src\n\\ No newline at end of file\n+x\n"), "PATCH_LINK_RETARGET"),
        (other("link", "-o\n+x\n"), "PATCH_LINK_THROUGH"),
        (other("link/old", "-o\n+x\n"), "PATCH_LINK_THROUGH"),
        (
            "--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-src\n--- a/kept\n+++ b/kept\n".to_owned()
                + &bad[22..],
            "PATCH_LINK_DELETE",
        ),
        (bad.to_owned() + &other("link/old", "-o\n+x\n"), "PATCH_LINK_THROUGH"),
        (bad.to_owned() + "diff --git a/SRC/x b/SRC/x\nnew file mode 100644\n", "PATCH_CASE_COLLISION"),
        (bad.to_owned() + "diff --git a/kept/x b/kept/x\nnew file mode 100644\n", "PATCH_PATH_CONFLICT"),
        (bad.to_owned(), "PATCH_CONTEXT_MISMATCH"),
    ] {
        assert_eq!(base.code(&patch), code, "{patch}");
    }
}

#[test]
fn long_and_deep_paths_are_refused() {
    let made = |path: &str| format!("diff --git a/{path} b/{path}\nnew file mode 100644\n");
    let deep = |components: usize| vec!["d"; components].join("/");
    let long = |bytes: usize| "n".repeat(bytes);
    for (path, code) in [
        (deep(limits::PATH_COMPONENTS), "applied"),
        (deep(limits::PATH_COMPONENTS + 1), "PATH_TOO_LONG"),
        (long(limits::PATH_COMPONENT_BYTES), "applied"),
        (long(limits::PATH_COMPONENT_BYTES + 1), "PATH_TOO_LONG"),
    ] {
        assert_eq!(base().code(&made(&path)), code, "{} bytes", path.len());
    }
}
