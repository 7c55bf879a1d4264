//! The forms beside the unified diff, and what stands around any form: the exact change, or a code.

use ambit_revision::{Operation, PatchWarning, parse};

use crate::source::{Source, one, patch_a};

const TEXT: &str = "alpha\nbravo\ncharlie\ndelta\n";
const EDIT: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-alpha\n+ALPHA\n bravo\n";
const BLOCK: &str = "<<<<<<< SEARCH\nalpha\nbravo\n=======\nALPHA\nbravo\n>>>>>>> REPLACE\n";

/// What comes of a patch of one file with this text: the text, the code, or the other files by their names.
fn outcome(text: &str, patch: &str) -> String {
    let base = one(text);
    match base.apply(patch.as_bytes()) {
        Err(refused) => refused.code().to_owned(),
        Ok(applied) => {
            let listing = base.after(&applied).listing();
            let files = listing.iter().map(|(name, (_, bytes))| {
                let text = String::from_utf8_lossy(bytes);
                if name == "a.txt" { text.into_owned() } else { format!("{name}: {text}") }
            });
            files.collect()
        }
    }
}

#[track_caller]
fn check(text: &str, rows: &[(&str, &str)]) {
    for (patch, expected) in rows {
        assert_eq!(outcome(text, patch), *expected, "{patch}");
    }
}

fn edited() -> String {
    TEXT.replace("alpha", "ALPHA")
}

#[test]
fn a_fence_is_no_part_of_the_patch() {
    let edited = edited();
    for (open, close) in [
        ("```diff\n", "```\n"),
        ("```\n", "```\n"),
        ("```diff\n", "```"),
        ("~~~\n", "~~~\n"),
        ("~~~~ patch\n", "~~~~~\n"),
        ("````markdown\n", "````\n"),
        ("Here is it:\n\n```diff\n", "```\n\n- that was it\n+ and that\n"),
        ("1. First\n```diff\n\n", "\n```\nDone.\n"),
    ] {
        assert_eq!(outcome(TEXT, &format!("{open}{EDIT}{close}")), edited, "{open}");
        assert_eq!(outcome(TEXT, &format!("{open}a.txt\n{BLOCK}{close}")), edited, "{open}");
    }
    let indented: String =
        format!("```diff\n{EDIT}```\n").lines().map(|line| format!("  {line}\n")).collect();
    check(
        TEXT,
        &[
            (&indented, &edited),
            (&format!("1. Do this:\n{indented}\n2. Done.\n"), &edited),
            (&format!("  ```diff\n{EDIT}  ```\n"), "PATCH_FENCE"),
            (&format!("```diff\n{EDIT}"), "PATCH_FENCE"),
            (&format!("{EDIT}```\n"), "PATCH_FENCE"),
            (&format!("```diff\n{EDIT}~~~\n"), "PATCH_FENCE"),
            (&format!("````diff\n```diff\n{EDIT}```\n````\n"), "PATCH_FENCE"),
            (&format!("```diff\r\n{EDIT}```\n"), "PATCH_LINE_ENDING"),
            (&format!("```diff\n{EDIT}```\r\n"), "PATCH_LINE_ENDING"),
            (&format!("{EDIT}\nb.txt\n```\nwhole\n```\n"), "PATCH_UNSUPPORTED_LISTING"),
            (&format!("{EDIT}\nNow test it:\n\n```sh\ncargo test\n```\n"), &edited),
            ("```diff\n```\n", "PATCH_EMPTY"),
            (
                &format!(
                    "```\nFrom 12 Mon Sep\nSubject: x\n\ndiff --git a/a.txt b/a.txt\n{EDIT}-- \n2.47\n```\n"
                ),
                &edited,
            ),
            (&format!("```diff\n{}```\n", EDIT.replace("-1,2 +1,2", "-1,9 +1,9")), &edited),
            (&format!("```diff\n{}```\n", EDIT.replace("-1,2 +1,2", "-1 +1")), &edited),
            (
                &format!("```diff\n{EDIT}```\n```diff\n{}```\n", "@@ -4 +4 @@\n-delta\n+DELTA\n"),
                "PATCH_HEADER",
            ),
        ],
    );
}

#[test]
fn two_fences_hold_two_files() {
    let base = Source::of(&[("a.txt", TEXT), ("b.txt", TEXT)]);
    let other = EDIT.replace("a.txt", "b.txt");
    let both = format!("First:\n```diff\n{EDIT}```\nSecond:\n```diff\n{other}```\n");
    let applied = base.apply(both.as_bytes()).unwrap();
    assert_eq!(base.after(&applied).text("a.txt"), edited());
    assert_eq!(base.after(&applied).text("b.txt"), edited());
    let warnings =
        [PatchWarning::Fence { line: 2 }, PatchWarning::Prose { line: 1 }, PatchWarning::Fence { line: 11 }];
    assert_eq!(applied.warnings[..3], warnings);
    assert_eq!(base.code(&format!("```diff\n{EDIT}```\n```diff\n{EDIT}```\n")), "PATCH_DUPLICATE_PATH");
}

#[test]
fn a_fence_that_is_content_stays_content() {
    let page = "# Title\n\n```\nold\n```\nend\n";
    let hunk = "--- a/a.txt\n+++ b/a.txt\n@@ -2,4 +2,5 @@\n \n ```\n-old\n+new\n+```\n ```\n";
    let after = "# Title\n\n```\nnew\n```\n```\nend\n";
    for counts in ["@@ -2,4 +2,5 @@", "@@ -2,9 +2,9 @@"] {
        let patch = hunk.replace("@@ -2,4 +2,5 @@", counts);
        check(page, &[(&patch, after), (&format!("```diff\n{patch}```\n"), after)]);
    }
    let block =
        "a.txt\n```\n<<<<<<< SEARCH\n```\nold\n```\n=======\n```\nnew\n```\n```\n>>>>>>> REPLACE\n```\n";
    check(page, &[(block, after), (&block[..block.len() - 4], "PATCH_FENCE")]);
}

#[test]
fn prose_stands_around_files_where_their_ends_are_beyond_doubt() {
    let edited = edited();
    let wrong = EDIT.replace("-1,2 +1,2", "-1,7 +1,7");
    check(
        TEXT,
        &[
            (&format!("Here is the change:\n\n{EDIT}"), &edited),
            (&format!("- a list\n+ of items\n{EDIT}"), &edited),
            (&format!("{EDIT}Done.\n"), &edited),
            (&format!("{EDIT}\nDone.\n\n- one\n- two\n"), &edited),
            (&format!("{EDIT}\n1. one\n2. two\n"), &edited),
            (&format!("{EDIT}\n- one\n"), "PATCH_HUNK_AMBIGUOUS"),
            (&format!("{EDIT}\n+ one\n"), "PATCH_HUNK_AMBIGUOUS"),
            (&format!("{EDIT}Done.\n- one\n"), "PATCH_HUNK_AMBIGUOUS"),
            (&format!("{EDIT}Done.\n+charlie\n"), "PATCH_HUNK_AMBIGUOUS"),
            (&format!("{wrong}\nDone.\n"), &edited),
            (&format!("{wrong}Done.\n"), "PATCH_BODY_LINE"),
            (&format!("{wrong}\nDone.\n\n- one\n"), "PATCH_HUNK_AMBIGUOUS"),
            (&format!("{wrong}\n- one\n"), "PATCH_HUNK_AMBIGUOUS"),
            (&format!("{wrong}\nThen:\n```sh\nx\n```\n+ one\n"), "PATCH_HUNK_AMBIGUOUS"),
            (&format!("```\n{wrong}```\nThen:\n+ one\n"), "PATCH_HUNK_AMBIGUOUS"),
            (&format!("```\n{wrong}```\n\nThen:\n+ one\n"), &edited),
            (&format!("{EDIT}Note:\n@@ -4 +4 @@\n-delta\n+DELTA\n"), "PATCH_HEADER"),
            (&format!("For example:\n\n    --- a/x\n    +++ b/x\n\n{EDIT}"), "PATCH_UNSUPPORTED_PROSE"),
            (&format!("> @@ -1 +1 @@\n{EDIT}"), "PATCH_UNSUPPORTED_PROSE"),
            (&format!("{EDIT}\nBinary files a/x and b/x differ\n"), "PATCH_UNSUPPORTED_PROSE"),
            (&format!("{EDIT}\n------- SEARCH\nx\n=======\ny\n+++++++ REPLACE\n"), "PATCH_BODY_LINE"),
            (
                &format!("a.txt\n------- SEARCH\nx\n=======\ny\n+++++++ REPLACE\n{EDIT}"),
                "PATCH_UNSUPPORTED_PROSE",
            ),
            (&format!("{EDIT}\n*** Update File: x\n"), "PATCH_BEGIN_PATCH"),
            (&format!("{EDIT}\n<<<<<<< HEAD\n"), "PATCH_SEARCH_REPLACE"),
            (&format!("1,2c1\n< x\n---\n> y\n{EDIT}"), "PATCH_UNSUPPORTED_PROSE"),
            (&format!("Here:\r\n{EDIT}"), "PATCH_LINE_ENDING"),
            ("Sure! Here is the change.\n", "PATCH_EMPTY"),
            (&format!("\u{feff}Here:\n{EDIT}"), "PATCH_BYTE_ORDER_MARK"),
        ],
    );
    let warned = parse(format!("\nHere:\nand there\n{EDIT}\nDone.\n").as_bytes()).unwrap();
    assert_eq!(warned.warnings(), [PatchWarning::Prose { line: 2 }, PatchWarning::Prose { line: 11 }]);
    assert!(parse(EDIT.as_bytes()).unwrap().warnings().is_empty());
}

fn begun(body: &str) -> String {
    format!("*** Begin Patch\n{body}*** End Patch\n")
}

fn update(body: &str) -> String {
    begun(&format!("*** Update File: a.txt\n{body}"))
}

#[test]
fn a_begin_patch_block_makes_removes_moves_and_changes_files() {
    let edited = edited();
    let after_end = format!("{TEXT}echo\n");
    for (patch, expected) in [
        (update("@@\n-alpha\n+ALPHA\n bravo\n"), edited.as_str()),
        (update("-alpha\n+ALPHA\n bravo\n"), &edited),
        (update("\n@@\n-alpha\n+ALPHA\n\n"), &edited),
        (update("@@\n-alpha\n+ALPHA\n").trim_end().to_owned(), &edited),
        (format!("apply_patch <<'EOF'\n{}EOF\n", update("@@\n-alpha\n+ALPHA\n")), &edited),
        (update("@@\n delta\n+echo\n*** End of File\n"), &after_end),
        (update("@@\n-alpha\n+ALPHA\n@@\n-delta\n"), "ALPHA\nbravo\ncharlie\n"),
        (begun("*** Add File: b\n+one\n+\n++two\n\n*** Delete File: a.txt\n"), "b: one\n\n+two\n"),
        (begun("*** Add File: b\n*** Delete File: a.txt\n"), "b: "),
        (begun("*** Update File: a.txt\n*** Move to: d/b\n@@\n-alpha\n"), "d/b: bravo\ncharlie\ndelta\n"),
        (begun("*** Update File: a.txt\n*** Move to: d/b\n"), "d/b: alpha\nbravo\ncharlie\ndelta\n"),
        (update("@@\n bravo\n*** End of File\n"), "PATCH_NO_EFFECT"),
        (update("@@\n-bravo\n*** End of File\n"), "PATCH_CONTEXT_MISMATCH"),
        (update("@@\n-delta\n*** End of File \n"), "alpha\nbravo\ncharlie\n"),
        (update("@@\n-delta\n*** End of Filet\n"), "PATCH_BEGIN_PATCH"),
        (update("@@\n+echo\n"), "PATCH_UNANCHORED_INSERT"),
        (update("@@ delta\n+echo\n"), "PATCH_UNANCHORED_INSERT"),
        (update("@@\n-alpha\n+ALPHA\nbravo\n"), "PATCH_BEGIN_PATCH"),
        (update("@@\n-delta\n\\ No newline at end of file\n"), "PATCH_BEGIN_PATCH"),
        (update("@@ -1,2 +1,2 @@\n-alpha\n+ALPHA\n bravo\n"), "PATCH_BEGIN_PATCH"),
        (update("@@alpha\n-bravo\n"), "PATCH_BEGIN_PATCH"),
        (update("@@\n"), "PATCH_HUNK_EMPTY"),
        (update(""), "PATCH_NO_HUNKS"),
        (update("@@\n-alpha\r\n+ALPHA\r\n"), "PATCH_CONTEXT_LINE_ENDING"),
        (update("@@\r\n-alpha\n+ALPHA\n"), "PATCH_LINE_ENDING"),
        (update("@@\n-alpha\n").replace("*** End Patch\n", ""), "PATCH_BEGIN_PATCH"),
        (update("@@\n-alpha\n").replace("*** Begin Patch\n", ""), "PATCH_BEGIN_PATCH"),
        (begun(""), "PATCH_EMPTY"),
        (begun("Some words\n"), "PATCH_BEGIN_PATCH"),
        (begun("*** Rename File: a.txt\n"), "PATCH_BEGIN_PATCH"),
        (begun(EDIT), "PATCH_BEGIN_PATCH"),
        (begun("*** Add File: b\none\n"), "PATCH_BEGIN_PATCH"),
        (begun("*** Add File: b\n+one\n\n+two\n"), "PATCH_BEGIN_PATCH"),
        (begun("*** Add File: a.txt\n+one\n"), "PATCH_FILE_EXISTS"),
        (begun("*** Delete File: b\n"), "PATCH_FILE_MISSING"),
        (begun("*** Delete File: /etc/passwd\n"), "PATH_ABSOLUTE"),
        (begun("*** Delete File: a.txt \n"), "PATCH_PATH_TRAILING"),
        (begun("*** Delete File: a.txt\n*** Delete File: a.txt\n"), "PATCH_DUPLICATE_SOURCE"),
        (begun("*** Update File: a.txt\n*** Move to: b\n*** Delete File: a.txt\n"), "PATCH_DUPLICATE_SOURCE"),
        (begun("*** Add File: a.txt\n+new\n*** Delete File: a.txt\n"), "PATCH_DUPLICATE_PATH"),
        (
            begun("*** Update File: a.txt\n*** Move to: b\n*** Update File: b\n*** Move to: c\n"),
            "PATCH_DUPLICATE_PATH",
        ),
        (begun("*** Delete File: a.txt\n*** Add File: a.txt\n+new\n"), "new\n"),
    ] {
        assert_eq!(outcome(TEXT, &patch), expected, "{patch}");
    }
    let removed = parse(begun("*** Delete File: x\n").as_bytes()).unwrap();
    assert_eq!(*removed.files()[0].operation(), Operation::Delete { stated: None, whole: true });
}

#[test]
fn the_lines_of_a_heading_narrow_the_place_of_a_hunk() {
    let text = "class A:\n  def f():\n    x\n  def g():\n    x\nclass B:\n  def f():\n    x\n";
    let last = text.replace("class B:\n  def f():\n    x\n", "class B:\n  def f():\n    y\n");
    for (heading, expected) in [
        ("@@ class B:\n", last.as_str()),
        ("@@   class B:  \n", &last),
        ("@@ class B:\n@@ def f():\n", &last),
        ("@@ class B:\n@@\n", &last),
        ("@@ class B:\n@@   def f():\n   def f():\n", &last),
        ("@@\n", "PATCH_AMBIGUOUS_PLACE"),
        ("@@ class A:\n", "PATCH_AMBIGUOUS_PLACE"),
        ("@@ def g():\n", "PATCH_AMBIGUOUS_PLACE"),
        ("@@ class B\n", "PATCH_ANCHOR_MISSING"),
        ("@@ class B:\n@@ class A:\n", "PATCH_ANCHOR_MISSING"),
        ("@@ class B:\n@@ def f():\n@@ x\n", "PATCH_CONTEXT_MISMATCH"),
    ] {
        assert_eq!(outcome(text, &update(&format!("{heading}-    x\n+    y\n"))), expected, "{heading}");
    }
    let base = one(text);
    let applied = base.apply(update("@@ class B:\n-    x\n+    y\n").as_bytes()).unwrap();
    assert_eq!(applied.matches[0].line, 8);
    let again = base.after(&applied).code(&update("@@ class B:\n-    x\n+    y\n"));
    assert_eq!(again, "PATCH_ALREADY_APPLIED");
}

#[test]
fn a_search_and_replace_block_is_found_at_the_only_place_of_its_lines() {
    let edited = edited();
    let other = "<<<<<<< SEARCH\ndelta\n=======\n>>>>>>> REPLACE\n";
    let block = |search: &str, replace: &str| {
        format!("a.txt\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n")
    };
    let created = block("", "one\n").replace("a.txt", "b.txt");
    for (patch, expected) in [
        (format!("a.txt\n{BLOCK}"), edited.as_str()),
        (format!("`a.txt`\n{}", BLOCK.trim_end()), &edited),
        (format!("## a.txt\n\n```text\n{BLOCK}```\n"), &edited),
        (format!("I change this:\n\na.txt\n```\n{BLOCK}```\nDone.\n"), &edited),
        (format!("```\na.txt\n{BLOCK}```\n"), &edited),
        (format!("a.txt\n{BLOCK}").replace("SEARCH", "ORIGINAL").replace("REPLACE", "UPDATED"), &edited),
        (format!("a.txt\n{BLOCK}\n{other}"), "ALPHA\nbravo\ncharlie\n"),
        (format!("a.txt\n```\n{BLOCK}```\n\n```\n{other}```\n"), "ALPHA\nbravo\ncharlie\n"),
        (format!("a.txt\n{other}{BLOCK}"), "ALPHA\nbravo\ncharlie\n"),
        (format!("a.txt\n{BLOCK}a.txt\n{other}"), "ALPHA\nbravo\ncharlie\n"),
        (created.clone(), "alpha\nbravo\ncharlie\ndelta\nb.txt: one\n"),
        (created.replace("b.txt", "a.txt"), "PATCH_FILE_EXISTS"),
        (created.clone() + &created, "PATCH_DUPLICATE_PATH"),
        (BLOCK.to_owned(), "PATCH_SEARCH_REPLACE"),
        (format!("Here is the change:\n{BLOCK}"), "PATCH_SEARCH_REPLACE"),
        (format!("a.txt:\n{BLOCK}"), "PATCH_SEARCH_REPLACE"),
        (format!("a.txt\n{BLOCK}And also:\n{other}"), "PATCH_SEARCH_REPLACE"),
        (format!("../a.txt\n{BLOCK}"), "PATH_PARENT"),
        (format!("a.txt\n{}", BLOCK.replace(">>>>>>> REPLACE\n", "")), "PATCH_SEARCH_REPLACE"),
        (format!("a.txt\n{}", BLOCK.replace("=======\n", "")), "PATCH_MARKER_AMBIGUOUS"),
        (format!("a.txt\n{}", BLOCK.replace("REPLACE", "UPDATED")), "PATCH_MARKER_AMBIGUOUS"),
        (format!("a.txt\n{}", BLOCK.replace("=======\n", "=======\r\n")), "PATCH_LINE_ENDING"),
        (format!("a.txt\n{BLOCK}").replace('\n', "\r\n"), "PATCH_LINE_ENDING"),
        (block("alpha\n", "x\n=======\ny\n"), "PATCH_MARKER_AMBIGUOUS"),
        (block("alpha\n", "<<<<<<< HEAD\n"), "PATCH_MARKER_AMBIGUOUS"),
        (block("<<<<<<< SEARCH\nalpha\n", "x\n"), "PATCH_MARKER_AMBIGUOUS"),
        (block("alpha\n", "alpha\n======\n"), "alpha\n======\nbravo\ncharlie\ndelta\n"),
        (block("alpha\n", "alpha\n"), "PATCH_NO_EFFECT"),
        (block("", ""), "PATCH_NO_EFFECT"),
        (block("\n", "x\n"), "PATCH_SEARCH_REPLACE"),
        (block("alph\n", "x\n"), "PATCH_CONTEXT_MISMATCH"),
        (block("alpha\r\n", "x\n"), "PATCH_CONTEXT_LINE_ENDING"),
        (block("alpha\n", "x\r\n"), "x\r\nbravo\ncharlie\ndelta\n"),
    ] {
        assert_eq!(outcome(TEXT, &patch), expected, "{patch}");
    }
    assert_eq!(outcome("x\nx\n", &block("x\n", "y\n")), "PATCH_AMBIGUOUS_PLACE");
    assert_eq!(outcome("x", &block("x\n", "y\n")), "PATCH_FINAL_NEWLINE");
}

#[test]
fn a_block_shows_as_context_what_both_its_parts_have() {
    let patch = parse(format!("a.txt\n{BLOCK}").as_bytes()).unwrap();
    let lines: Vec<String> = patch.files()[0].hunks()[0]
        .lines()
        .map(|(kind, line)| format!("{kind:?} {}", String::from_utf8_lossy(line)))
        .collect();
    assert_eq!(lines, ["Removed alpha\n", "Added ALPHA\n", "Context bravo\n"]);
    assert_eq!(patch.files()[0].hunks()[0].stated(), None);
    assert!(patch.warnings().is_empty());
}

#[test]
fn forms_stand_side_by_side_where_each_is_whole() {
    let base = Source::of(&[("a.txt", TEXT), ("b.txt", TEXT), ("c.txt", TEXT)]);
    let begin = update("@@\n-alpha\n+ALPHA\n").replace("a.txt", "b.txt");
    let all = format!("{EDIT}\n{begin}\nc.txt\n{BLOCK}");
    let after = base.after(&base.apply(all.as_bytes()).unwrap());
    for name in ["a.txt", "b.txt", "c.txt"] {
        assert_eq!(after.text(name), edited(), "{name}");
    }
    for (patch, code) in [
        (format!("{EDIT}a.txt\n{BLOCK}"), "PATCH_DUPLICATE_PATH"),
        (format!("{begin}b.txt\n{BLOCK}"), "PATCH_DUPLICATE_PATH"),
        (format!("{EDIT}{}", begin.replace("*** End Patch\n", "")), "PATCH_BEGIN_PATCH"),
        (format!("{all}d.txt\n<<<<<<< SEARCH\nx\n"), "PATCH_SEARCH_REPLACE"),
        (format!("{EDIT}{BLOCK}"), "PATCH_SEARCH_REPLACE"),
        (patch_a("@@ -1,9 +1,9 @@\n-alpha\n+ALPHA\n") + &begin, "applied"),
    ] {
        assert_eq!(base.code(&patch), code, "{patch}");
    }
}
