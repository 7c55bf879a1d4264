//! What is refused, each with its own code, and what the refusal says.

use std::collections::BTreeMap;

use ambit_ids::{Digest, limits};
use ambit_revision::{Contents, FileKind, PatchRefusal, Reason, apply, parse};

use crate::source::{Refused, Source, one, patch_a};

const TEXT: &str = "alpha\nbravo\ncharlie\ndelta\n";

#[test]
fn malformed_hunks_are_refused() {
    for (body, code) in [
        ("", "PATCH_NO_HUNKS"),
        ("@@ -1 +1 @@\n", "PATCH_HUNK_EMPTY"),
        ("@@ -1,2 +1,2 @@\n alpha\n bravo\n", "PATCH_NO_EFFECT"),
        ("@@ -1 +1 @@\n-alpha\n+alpha\n", "PATCH_NO_EFFECT"),
        ("@@ -1 +-1 @@\n-alpha\n+x\n", "PATCH_HUNK_HEADER"),
        ("@@ -1,+1 +1 @@\n-alpha\n+x\n", "PATCH_HUNK_HEADER"),
        ("@@ -1 +1 @@x\n-alpha\n+x\n", "PATCH_HUNK_HEADER"),
        ("@@ -9999999999 +1 @@\n-alpha\n+x\n", "PATCH_HUNK_HEADER"),
        ("@@@ -1 -1 +1 @@@\n- alpha\n", "PATCH_UNSUPPORTED_COMBINED"),
        ("@@x\n-alpha\n+x\n", "PATCH_HUNK_HEADER"),
        ("@@\n alpha\n bravo\n", "PATCH_NO_EFFECT"),
        ("@@\n-alpha\n+x", "PATCH_TRUNCATED"),
        ("@@\n+x\n", "PATCH_UNANCHORED_INSERT"),
        ("@@\n-alpha\n+x\n--- c\n+++ d\n@@\n-charlie\n+y\n", "PATCH_HUNK_AMBIGUOUS"),
        ("@@ -1,2 +1,2 @@\n-alpha\n+x\n*bravo\n", "PATCH_BODY_LINE"),
        ("@@ -1 +1 @@\n-alpha\n+x", "PATCH_TRUNCATED"),
        ("@@ -1,4 +1,4 @@\n-alpha\n+x\n brav", "PATCH_TRUNCATED"),
        ("@@ -1,2 +1,2 @@\n-alpha\n\\ No newline at end of file\n+x\n bravo\n", "PATCH_NEWLINE_MARKER"),
        ("@@ -1 +1 @@\n\\ No newline at end of file\n-alpha\n+x\n", "PATCH_NEWLINE_MARKER"),
        ("@@ -1,2 +1,2 @@\n-alpha\n+x\n \n\\ No newline at end of file\n", "PATCH_NEWLINE_MARKER"),
        ("@@ -9,9 +9,9 @@\n-alpha\n+x\n--- c\n+++ d\n@@ -3 +3 @@\n-charlie\n+y\n", "PATCH_HUNK_AMBIGUOUS"),
        ("@@ -9,9 +9,9 @@\n-alpha\n+x\n-- \n2.47.3\n", "PATCH_HUNK_AMBIGUOUS"),
    ] {
        assert_eq!(one(TEXT).code(&patch_a(body)), code, "{body}");
    }
}

#[test]
fn malformed_headers_are_refused() {
    let base = Source::of(&[("a.txt", TEXT), ("b/x", "x\n"), ("run.sh", "x\n")]);
    let hunk = "@@ -1 +1 @@\n-alpha\n+x\n";
    let made = "@@ -0,0 +1 @@\n+x\n";
    for (patch, code) in [
        (String::new(), "PATCH_EMPTY"),
        ("\n\n".into(), "PATCH_EMPTY"),
        ("Sure! Here it is.\n".into(), "PATCH_EMPTY"),
        (format!("Here:\n{}", patch_a(hunk)), "applied"),
        (patch_a(hunk) + "Done.\n", "applied"),
        (format!("From a quick look:\ndiff --git a/a.txt b/a.txt\n{}", patch_a(hunk)), "applied"),
        (format!("diff --git\n{}", patch_a(hunk)), "PATCH_UNSUPPORTED_PROSE"),
        (patch_a(hunk) + "```\n", "PATCH_FENCE"),
        (hunk.to_owned(), "PATCH_HEADER"),
        (format!("+++ b/a.txt\n{hunk}"), "PATCH_HEADER"),
        (format!("--- a/a.txt\n{hunk}"), "PATCH_HEADER"),
        (format!("--- \n+++ \n{hunk}"), "PATCH_HEADER"),
        (format!("--- /dev/null\n+++ /dev/null\n{hunk}"), "PATCH_HEADER"),
        (format!("--- a/a.txt\n+++ b/b.txt\n{hunk}"), "PATCH_PATHS_DIFFER"),
        (format!("diff --git a/b.txt b/b.txt\n{}", patch_a(hunk)), "PATCH_HEADER"),
        ("diff --git a/a.txt b/a.txt\n".into(), "PATCH_NO_HUNKS"),
        (format!("diff --git a/a.txt b/a.txt\n{hunk}"), "PATCH_NO_HUNKS"),
        (format!("diff --git a/n b/n\nnew file mode 100644\n{made}"), "PATCH_HEADER"),
        (format!("diff --git a/a.txt b/a.txt\nnew file mode 100644\n{}", patch_a(hunk)), "PATCH_HEADER"),
        ("diff --git a/a.txt b/a.txt\nold mode 100644\n".into(), "PATCH_HEADER"),
        ("diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100644\n".into(), "PATCH_NO_EFFECT"),
        ("diff --git a/a.txt b/a.txt\nold mode 100644\nold mode 100644\n".into(), "PATCH_HEADER"),
        ("diff --git a/a.txt b/a.txt\nold mode 100755\nnew mode 100644\n".into(), "PATCH_ALREADY_APPLIED"),
        ("diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 104755\n".into(), "PATCH_MODE_SETUID"),
        ("diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 120000\n".into(), "PATCH_LINK_MODE"),
        ("diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 160000\n".into(), "PATCH_SUBMODULE"),
        (format!("diff --git a/a.txt b/a.txt\nindex 1..2 120000\n{}", patch_a(hunk)), "PATCH_LINK_EDIT"),
        (format!("diff --git a/a.txt b/a.txt\nindex 1..2 100755\n{}", patch_a(hunk)), "PATCH_MODE_MISMATCH"),
        (format!("diff --git a/a.txt b/a.txt\nindex x..2\n{}", patch_a(hunk)), "PATCH_HEADER"),
        ("diff --git a/a.txt b/c.txt\ncopy from a.txt\ncopy to c.txt\n".into(), "PATCH_UNSUPPORTED_COPY"),
        ("diff --git a/x b/x\nBinary files a/x and b/x differ\n".into(), "PATCH_BINARY"),
        ("diff --cc a.txt\nindex 1,2..3\n".into(), "PATCH_UNSUPPORTED_COMBINED"),
        (format!("--- /dev/null\n+++ b/new\n{made}"), "PATCH_PREFIX_AMBIGUOUS"),
        (format!("--- /dev/null\n+++ a/new\n{made}"), "PATCH_PREFIX_AMBIGUOUS"),
        (patch_a(hunk) + "--- run.sh\n+++ run.sh\n@@ -1 +1 @@\n-x\n+y\n", "PATCH_PREFIX_AMBIGUOUS"),
        (patch_a(hunk) + &patch_a("@@ -2 +2 @@\n-bravo\n+y\n"), "PATCH_DUPLICATE_PATH"),
        (patch_a(hunk).replace('\n', "\r\n"), "PATCH_LINE_ENDING"),
        (format!("\u{feff}{}", patch_a(hunk)), "PATCH_BYTE_ORDER_MARK"),
        (patch_a("@@ -1 +1 @@\n-alpha\n+x\0\n"), "PATCH_NUL"),
        ("diff --git a/my file b/my file\nnew file mode 100644\n".into(), "applied"),
        ("diff --git my file my file\nnew file mode 100644\n".into(), "PATCH_HEADER_AMBIGUOUS"),
    ] {
        assert_eq!(base.code(&patch), code, "{patch}");
    }
}

#[test]
fn a_patch_that_does_not_fit_the_tree_is_refused() {
    let mut base =
        Source::of(&[("a.txt", TEXT), ("d/x", "1\n"), ("bin", "a\0\nb\n"), ("twice", "x\n.\nx\n")]);
    let link = |target: &str| ambit_revision::TreeFile::of(FileKind::Link, target.as_bytes());
    let links = BTreeMap::from([
        ("l".parse().unwrap(), Some(link("a.txt"))),
        ("up".parse().unwrap(), Some(link(".."))),
    ]);
    base.tree = base.tree.with(&links).unwrap();
    let none = "\\ No newline at end of file\n";
    let modify = |path: &str, body: &str| format!("--- a/{path}\n+++ b/{path}\n{body}");
    let create = |path: &str| {
        format!(
            "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
        )
    };
    let delete =
        |path: &str, body: &str| format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ /dev/null\n{body}");
    for (patch, code) in [
        (modify("a.txt", "@@ -1,2 +1,2 @@\n alpha \n-bravo\n+x\n"), "PATCH_CONTEXT_MISMATCH"),
        (modify("a.txt", "@@ -1,2 +1,2 @@\n alpha\n-Bravo\n+x\n"), "PATCH_CONTEXT_MISMATCH"),
        (modify("a.txt", "@@ -1 +1,2 @@\n alpha\r\n+x\n"), "PATCH_CONTEXT_LINE_ENDING"),
        (modify("a.txt", "@@ -9 +9,2 @@\n-alpha\r\n+x\n bravo\r\n"), "PATCH_CONTEXT_LINE_ENDING"),
        (modify("a.txt", "@@ -9 +9,2 @@\n-alpha\r\n+x\n brava\r\n"), "PATCH_CONTEXT_MISMATCH"),
        (modify("a.txt", "@@ -2,0 +3 @@\n+x\n"), "PATCH_UNANCHORED_INSERT"),
        (
            modify("a.txt", "@@ -1,2 +1,2 @@\n alpha\n-bravo\n+x\n@@ -2,2 +2,2 @@\n bravo\n-charlie\n+y\n"),
            "PATCH_HUNK_OVERLAP",
        ),
        (modify("a.txt", &format!("@@ -4 +4 @@\n-delta\n{none}+x\n")), "PATCH_FINAL_NEWLINE"),
        (modify("a.txt", &format!("@@ -1 +1 @@\n-alpha\n{none}+x\n{none}")), "PATCH_FINAL_NEWLINE"),
        (modify("twice", "@@ -2 +2 @@\n-x\n+y\n"), "PATCH_AMBIGUOUS_PLACE"),
        (modify("none", "@@ -1 +1 @@\n-x\n+y\n"), "PATCH_FILE_MISSING"),
        (modify("d", "@@ -1 +1 @@\n-x\n+y\n"), "PATCH_PATH_CONFLICT"),
        (modify("a.txt/x", "@@ -1 +1 @@\n-x\n+y\n"), "PATCH_FILE_MISSING"),
        (modify("bin", "@@ -2 +2 @@\n-b\n+y\n"), "PATCH_BINARY"),
        (modify("l", "@@ -1 +1 @@\n-alpha\n+x\n"), "PATCH_LINK_THROUGH"),
        (modify("l", "@@ -1 +1 @@\n-a.txt\n+../x\n"), "PATCH_LINK_RETARGET"),
        (create("up/x"), "PATCH_LINK_THROUGH"),
        (create("l"), "PATCH_LINK_REPLACE"),
        (delete("l", &format!("@@ -1 +0,0 @@\n-a.txt\n{none}")), "PATCH_LINK_DELETE"),
        (create("a.txt"), "PATCH_FILE_EXISTS"),
        (create("a.txt/x"), "PATCH_PATH_CONFLICT"),
        (create("d"), "PATCH_PATH_CONFLICT"),
        (create("A.TXT"), "PATCH_CASE_COLLISION"),
        (create("D/y"), "PATCH_CASE_COLLISION"),
        (create("n/x") + &create("N/y"), "PATCH_CASE_COLLISION"),
        (delete("a.txt", "@@ -1,2 +0,0 @@\n-alpha\n-bravo\n"), "PATCH_DELETE_PARTIAL"),
        (delete("none", "@@ -1 +0,0 @@\n-alpha\n"), "PATCH_FILE_MISSING"),
        (delete("a.txt", "@@ -1,2 +1 @@\n-alpha\n bravo\n"), "PATCH_DELETE_FORM"),
        (create("n").replace("+x", "+x\n alpha"), "PATCH_CREATE_FORM"),
        (create("e\u{301}") + &create("f"), "applied"),
    ] {
        assert_eq!(base.code(&patch), code, "{patch}");
    }
}

#[test]
fn one_bad_file_refuses_all_of_them() {
    let base = Source::of(&[("a.txt", TEXT)]);
    let good = "@@ -1 +1 @@\n-alpha\n+x\n";
    let bad = "--- a/none\n+++ b/none\n@@ -1 +1 @@\n-q\n+Q\n";
    assert_eq!(base.code(&patch_a(good)), "applied");
    assert_eq!(base.code(&(patch_a(good) + bad)), "PATCH_FILE_MISSING");
    assert_eq!(base.code(&(patch_a(&format!("{good}@@ -90 +90 @@\n-zulu\n+y\n")))), "PATCH_CONTEXT_MISMATCH");
}

#[test]
fn a_mismatch_says_where_it_parts_and_shows_it_safely() {
    let base = one("one\ntwo\nthree\nfour \x1b[31m\nfive\n");
    let patch = patch_a("@@ -9,3 +9,3 @@\n three\n-four\n+FOUR\n five\n");
    let Err(Refused::Apply(PatchRefusal::At { path, reason: Reason::ContextMismatch(mismatch) })) =
        base.apply(patch.as_bytes())
    else {
        panic!("not a mismatch")
    };
    assert_eq!((path.to_string().as_str(), mismatch.hunk, mismatch.line), ("a.txt", 1, 4));
    assert_eq!(mismatch.expected.as_ref().unwrap().text(), "four\n");
    assert_eq!(mismatch.found.as_ref().unwrap().text(), "four \x1b[31m\n");
    assert_eq!(mismatch.candidates, [3]);
    let text = base.apply(patch.as_bytes()).map(|_| ()).map_err(|refused| match refused {
        Refused::Apply(refusal) => refusal.to_string(),
        Refused::Parse(error) => error.to_string(),
    });
    assert_eq!(
        text.unwrap_err(),
        "a.txt: it does not have the lines of hunk 1, which part from it at line 4: there the hunk has \"four\\n\", the \
         file has \"four \\u{1b}[31m\\n\"; it may be meant for line 3. Nothing was changed"
    );
}

#[test]
fn limits_are_exact() {
    let file = |n: usize| format!("diff --git a/f{n} b/f{n}\nnew file mode 100644\n");
    let files = |count: usize| (0..count).map(file).collect::<String>();
    assert_eq!(one("").code(&files(limits::PATCH_FILES)), "applied");
    assert_eq!(one("").code(&files(limits::PATCH_FILES + 1)), "PATCH_TOO_MANY_FILES");

    let text: String = (0..=limits::PATCH_HUNKS).map(|n| format!("{n}\n")).collect();
    let hunks = |count: usize| {
        patch_a(&(0..count).map(|n| format!("@@ -{0} +{0} @@\n-{n}\n+x\n", n + 1)).collect::<String>())
    };
    assert_eq!(one(&text).code(&hunks(limits::PATCH_HUNKS)), "applied");
    assert_eq!(one(&text).code(&hunks(limits::PATCH_HUNKS + 1)), "PATCH_TOO_MANY_HUNKS");

    let sized = |bytes: usize| {
        let start = patch_a("@@ -1 +1 @@\n-a\n+");
        let fill = "x".repeat(bytes - start.len() - 1);
        format!("{start}{fill}\n")
    };
    assert_eq!(one("a\n").code(&sized(limits::PATCH_BYTES)), "applied");
    assert_eq!(one("a\n").code(&sized(limits::PATCH_BYTES + 1)), "PATCH_TOO_LARGE");
}

#[test]
fn a_content_that_was_not_handed_over_is_not_guessed() {
    let base = one("a\n");
    let patch = parse(patch_a("@@ -1 +1 @@\n-a\n+b\n").as_bytes()).unwrap();
    let digest = base.tree.digest();
    assert!(apply(&base.tree, &digest, &patch, &base.contents).is_ok());
    let refusal = apply(&base.tree, &digest, &patch, &Contents::new()).unwrap_err();
    assert_eq!(refusal.code(), "PATCH_CONTENT_MISSING");
    assert_eq!(ambit_revision::reads(&base.tree, &patch)[0].content, Digest::of(b"a\n"));
}
