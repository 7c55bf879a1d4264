//! What is understood, and to the byte what comes of it.

use ambit_revision::{FileKind, MatchedBy, PatchWarning, parse};

use crate::source::{Source, one, patch_a};

fn lines(range: std::ops::RangeInclusive<usize>) -> String {
    range.map(|n| format!("l{n}\n")).collect()
}

/// The text of `a.txt` after the patch.
fn patched(text: &str, body: &str) -> String {
    let base = one(text);
    let applied = base.apply(patch_a(body).as_bytes()).unwrap();
    base.after(&applied).text("a.txt")
}

#[test]
fn a_hunk_is_taken_where_it_stands_or_at_the_only_other_place() {
    let body = |line: usize| format!("@@ -{line},3 +{line},3 @@\n l4\n-l5\n+new\n l6\n");
    let expected = lines(1..=9).replace("l5", "new");
    for (line, how) in [(4, MatchedBy::StatedLine), (1, MatchedBy::OnlyPlace), (90, MatchedBy::OnlyPlace)] {
        let base = one(&lines(1..=9));
        let applied = base.apply(patch_a(&body(line)).as_bytes()).unwrap();
        assert_eq!(base.after(&applied).text("a.txt"), expected);
        assert_eq!((applied.matches.len(), applied.matches[0].line, applied.matches[0].how), (1, 4, how));
    }
}

#[test]
fn a_repeated_place_is_taken_only_at_the_line_that_is_stated() {
    let twice = "x\nsame\ny\nx\nsame\ny\n";
    let body = |line: usize| format!("@@ -{line},3 +{line},3 @@\n x\n-same\n+new\n y\n");
    assert_eq!(patched(twice, &body(4)), "x\nsame\ny\nx\nnew\ny\n");
    assert_eq!(patched(twice, &body(1)), "x\nnew\ny\nx\nsame\ny\n");
    assert_eq!(one(twice).code(&patch_a(&body(3))), "PATCH_AMBIGUOUS_PLACE");
}

#[test]
fn a_hunk_without_a_place_stands_at_the_only_one() {
    let body = "\n l4\n-l5\n+new\n l6\n";
    let headers = [
        "@@",
        "@@ ... @@",
        "@@ fn main() {",
        "@@ -?,? +?,? @@",
        "@@ -,3 +,3 @@",
        "@@ -4,? +4,? @@",
        "@@ -4 +4",
    ];
    for header in headers {
        let base = one(&lines(1..=9));
        let applied = base.apply(patch_a(&format!("{header}{body}")).as_bytes()).unwrap();
        assert_eq!(base.after(&applied).text("a.txt"), lines(1..=9).replace("l5", "new"), "{header}");
        let how = if header.contains('4') { MatchedBy::StatedLine } else { MatchedBy::OnlyPlace };
        assert_eq!((applied.matches[0].line, applied.matches[0].how), (4, how), "{header}");
    }
    let two = "@@\n-l2\n+II\n@@ ... @@\n-l8\n+VIII\n\n";
    assert_eq!(patched(&lines(1..=9), two), lines(1..=9).replace("l2", "II").replace("l8", "VIII"));
    let unended = "@@\n-l2\n+II\n l3";
    assert_eq!(patched(&lines(1..=9), unended), lines(1..=9).replace("l2", "II"));
    let twice = one("x\nsame\ny\nx\nsame\ny\n");
    assert_eq!(twice.code(&patch_a("@@\n-same\n+new\n y\n")), "PATCH_AMBIGUOUS_PLACE");
    assert_eq!(twice.code(&patch_a("@@\n y\n-x\n+new\n")), "applied");
    assert_eq!(twice.code(&patch_a("@@\n y\n-same\n+new\n")), "PATCH_CONTEXT_MISMATCH");
}

#[test]
fn the_body_counts_and_a_wrong_header_is_a_warning() {
    for header in ["@@ -4,3 +4,3 @@", "@@ -4,2 +4,2 @@", "@@ -4,7 +4,9 @@", "@@ -4 +4 @@", "@@ -4,0 +4,0 @@"]
    {
        let patch = patch_a(&format!("{header}\n l4\n-l5\n+new\n l6\n"));
        let base = one(&lines(1..=9));
        let applied = base.apply(patch.as_bytes()).unwrap();
        assert_eq!(base.after(&applied).text("a.txt"), lines(1..=9).replace("l5", "new"), "{header}");
        let right = header == "@@ -4,3 +4,3 @@";
        assert_eq!(applied.warnings.is_empty(), right, "{header}");
    }
    let patch = parse(patch_a("@@ -4,2 +4,9 @@\n l4\n-l5\n+new\n l6\n").as_bytes()).unwrap();
    let expected = PatchWarning::HunkCounts { line: 3, stated: (2, 9), found: (3, 3) };
    assert_eq!(patch.warnings(), [expected]);
}

#[test]
fn wrong_counts_do_not_swallow_the_next_file() {
    let base = Source::of(&[("a", &lines(1..=5)), ("b", &lines(1..=5))]);
    for counts in [2, 3, 4, 5, 9] {
        let file = |name: &str| {
            format!("--- a/{name}\n+++ b/{name}\n@@ -1,{counts} +1,{counts} @@\n l1\n-l2\n+new\n l3\n")
        };
        let patch = file("a") + &file("b");
        let applied = base.apply(patch.as_bytes()).unwrap();
        assert_eq!(applied.changes.len(), 2, "{counts}");
        assert_eq!(base.after(&applied).text("b"), "l1\nnew\nl3\nl4\nl5\n", "{counts}");
    }
}

#[test]
fn lines_that_look_like_headers_are_content_where_the_counts_say_so() {
    let body = "@@ -1,2 +1,2 @@\n--- old\n+++ new\n select 1;\n";
    assert_eq!(patched("-- old\nselect 1;\n", body), "++ new\nselect 1;\n");
    let signature = "@@ -1,2 +1,1 @@\n keep\n-- \n";
    assert_eq!(patched("keep\n- \n", signature), "keep\n");
    let miscounted = "@@ -1,1 +1,1 @@\n-x\n+y\n-- \n z\n";
    assert_eq!(patched("x\n- \nz\n", miscounted), "y\nz\n");
}

#[test]
fn blank_lines_are_context_between_others_and_nothing_at_the_end() {
    assert_eq!(patched("a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n"), "a\n\nB\n");
    assert_eq!(patched("a\nb\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n\n\n"), "a\nB\nc\n");
    assert_eq!(patched("a\nb\nc\n", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n\n@@ -3,1 +3,1 @@\n-c\n+C\n"), "A\nb\nC\n");
    assert_eq!(patched("a\r\n\r\nb\r\n", "@@ -1,3 +1,3 @@\n a\r\n\r\n-b\r\n+B\r\n"), "a\r\n\r\nB\r\n");
}

#[test]
fn the_end_of_a_file_is_exactly_what_the_patch_says() {
    let none = "\\ No newline at end of file\n";
    assert_eq!(patched("a\nb", &format!("@@ -2 +2 @@\n-b\n{none}+b\n")), "a\nb\n");
    assert_eq!(patched("a\nb\n", &format!("@@ -2 +2 @@\n-b\n+b\n{none}")), "a\nb");
    assert_eq!(patched("a\nb", &format!("@@ -1,2 +1,3 @@\n a\n-b\n{none}+b\n+c\n{none}")), "a\nb\nc");
    assert_eq!(patched("a\nb", &format!("@@ -1,2 +1,2 @@\n-a\n+A\n b\n{none}")), "A\nb");
}

#[test]
fn context_leaves_the_end_of_a_file_as_it_is() {
    let none = "\\ No newline at end of file\n";
    let warned = |text: &str, body: &str| {
        let base = one(text);
        let applied = base.apply(patch_a(body).as_bytes()).unwrap();
        let end = PatchWarning::EndOfFile { path: "a.txt".parse().unwrap(), hunk: 1 };
        assert_eq!(applied.warnings, [end], "{body}");
        base.after(&applied).text("a.txt")
    };
    assert_eq!(warned("a\nb\nc\n", &format!("@@ -1,2 +1,2 @@\n-a\n+A\n b\n{none}")), "A\nb\nc\n");
    assert_eq!(warned("a\nb\nc\n", &format!("@@ -9,2 +9,2 @@\n-a\n+A\n b\n{none}")), "A\nb\nc\n");
    assert_eq!(warned("a\nb\n", &format!("@@ -1,2 +1,2 @@\n-a\n+A\n b\n{none}")), "A\nb\n");
    assert_eq!(warned("a\nb\nc\n", &format!("@@ -1 +1 @@\n-a\n+A\n{none}")), "A\nb\nc\n");
    assert_eq!(warned("a\nb", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n"), "A\nb");
    assert_eq!(warned("a\nb", "@@ -1,2 +1 @@\n-a\n b\n"), "b");
    assert_eq!(one("a\nb").code(&patch_a("@@ -1,2 +1,3 @@\n a\n b\n+c\n")), "PATCH_FINAL_NEWLINE");
    assert_eq!(one("a\nb").code(&patch_a("@@ -1,2 +1,2 @@\n a\n-b\n+c\n")), "PATCH_FINAL_NEWLINE");
}

#[test]
fn hunks_stand_in_any_order() {
    let body = "@@ -7 +7 @@\n-l7\n+VII\n@@ -2 +2 @@\n-l2\n+II\n@@ -3 +3,2 @@\n l3\n+III\n";
    let base = one(&lines(1..=9));
    let applied = base.apply(patch_a(body).as_bytes()).unwrap();
    let expected = lines(1..=9).replace("l2", "II").replace("l3", "l3\nIII").replace("l7", "VII");
    assert_eq!(base.after(&applied).text("a.txt"), expected);
    let path = || "a.txt".parse().unwrap();
    let above = [2, 3].map(|hunk| PatchWarning::HunkOrder { path: path(), hunk });
    assert_eq!(applied.warnings, above);
    assert_eq!(applied.matches.iter().map(|found| found.line).collect::<Vec<_>>(), [7, 2, 3]);
}

#[test]
fn bytes_are_bytes() {
    let base =
        Source::new([("a.txt".parse().unwrap(), FileKind::File, b"caf\xe9\r\nx\ry\n\x1b[0m\n".to_vec())]);
    let patch = b"--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n caf\xe9\r\n-x\ry\n+\xff\xfe\n \x1b[0m\n";
    let applied = base.apply(patch).unwrap();
    assert_eq!(base.after(&applied).listing()["a.txt"].1, b"caf\xe9\r\n\xff\xfe\n\x1b[0m\n");
}

#[test]
fn files_are_made_removed_and_change_their_mode() {
    let base = Source::of(&[("gone", "x\n"), ("empty", ""), ("run.sh", "#!/bin/sh\n"), ("d/only", "1\n")]);
    let patch = "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
        diff --git a/empty b/empty\ndeleted file mode 100644\nindex e69de29..0000000\n\
        diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\nindex 1..2\n--- a/run.sh\n+++ b/run.sh\n\
        @@ -1 +1,2 @@\n #!/bin/sh\n+exit 0\n\
        diff --git a/new/tool b/new/tool\nnew file mode 100755\n--- /dev/null\n+++ b/new/tool\n@@ -0,0 +1 @@\n+t\n\
        diff --git a/new/nothing b/new/nothing\nnew file mode 100644\n\
        diff --git a/d/only b/d/only\n--- a/d/only\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n\
        diff --git a/d b/d\nnew file mode 100644\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+a file now\n";
    let applied = base.apply(patch.as_bytes()).unwrap();
    let listing = base.after(&applied).listing();
    let names: Vec<&str> = listing.keys().map(String::as_str).collect();
    assert_eq!(names, ["d", "new/nothing", "new/tool", "run.sh"]);
    assert_eq!(listing["run.sh"], (FileKind::Executable, b"#!/bin/sh\nexit 0\n".to_vec()));
    assert_eq!(listing["new/tool"].0, FileKind::Executable);
    assert_eq!(listing["d"].1, b"a file now\n");
    assert_eq!(applied.changes.len(), 7);
}

#[test]
fn headers_with_and_without_prefixes_name_the_same_file() {
    let base = Source::of(&[("src/a.txt", "x\n"), ("a/a.txt", "x\n")]);
    let hunk = "@@ -1 +1 @@\n-x\n+y\n";
    for (header, path) in [
        ("--- a/src/a.txt\n+++ b/src/a.txt\n", "src/a.txt"),
        ("--- src/a.txt\n+++ src/a.txt\n", "src/a.txt"),
        ("--- a/a.txt\n+++ a/a.txt\n", "a/a.txt"),
        ("diff --git src/a.txt src/a.txt\n--- src/a.txt\n+++ src/a.txt\n", "src/a.txt"),
        (
            "diff --git a/src/a.txt b/src/a.txt\nindex 1..2 100644\n--- a/src/a.txt\n+++ b/src/a.txt\n",
            "src/a.txt",
        ),
        ("--- \"a/src/\\141.txt\"\n+++ b/src/a.txt\t2026-01-01\n", "src/a.txt"),
        ("Index: elsewhere\n=====\n--- src/a.txt\n+++ src/a.txt\n", "src/a.txt"),
        ("diff -u old/src/a.txt new/src/a.txt\n--- a/src/a.txt\n+++ b/src/a.txt\n", "src/a.txt"),
    ] {
        let applied = base.apply(format!("{header}{hunk}").as_bytes()).unwrap();
        let changed: Vec<String> = applied.changes.iter().map(|change| change.path.to_string()).collect();
        assert_eq!(changed, [path], "{header}");
    }
}

#[test]
fn a_mail_of_format_patch_is_the_patch_within_it() {
    let mail = |body: &str| {
        format!(
            "From 123 Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nSubject: [PATCH] x\n\nSaid a/b.\n---\n a.txt | 2 +-\n\n\
             diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n{body}-- \n2.47.3\n\n"
        )
    };
    let base = one("a\n");
    let applied = base.apply(mail("-a\n+b\n").as_bytes()).unwrap();
    assert_eq!(base.after(&applied).text("a.txt"), "b\n");
    for hidden in [
        "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+evil",
        "  --- a/a.txt\n  +++ b/a.txt\n  @@ -1 +1 @@\n  -a\n  +evil",
        "*** a.txt\n--- a.txt\n***************\n*** 1 ****\n! a\n--- 1 ----\n! evil",
        "Index: a.txt\n1c1\n< a\n---\n> evil",
    ] {
        assert_eq!(
            base.code(&mail("-a\n+b\n").replace("Said a/b.", hidden)),
            "PATCH_UNSUPPORTED_PROSE",
            "{hidden}"
        );
    }
}
