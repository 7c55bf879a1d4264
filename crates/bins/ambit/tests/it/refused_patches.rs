//! What people and programs are told of patches and of directories that cannot be read.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cases::{ambit, bare};
use crate::rig::{Answered, FIX, GREET, Project, diligent};
use crate::stable::stable;
use crate::terminal::Terminal;

const CHECK: [&str; 5] = ["patch", "check", "--base", "base", "fix.patch"];
const APPLY: [&str; 7] = ["patch", "apply", "--base", "base", "--out", "out", "fix.patch"];

/// A directory with a base and a patch.
fn ground(patch: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::create_dir_all(dir.path().join("base/src")).unwrap();
    fs::write(dir.path().join("base/greet.sh"), GREET).unwrap();
    fs::write(dir.path().join("base/src/a.txt"), "1\n2\n3\n4\n5\n").unwrap();
    fs::write(dir.path().join("fix.patch"), patch).unwrap();
    dir
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// What a patch is answered with by both verbs, which must agree.
#[track_caller]
fn refused(patch: &str) -> Value {
    let dir = ground(patch);
    let [check, apply] = [&CHECK[..], &APPLY].map(|words| ambit(dir.path(), words));
    assert_eq!((check.code, apply.code, &check.out), (4, 4, &apply.out), "{check:?} {apply:?}");
    assert!(!dir.path().join("out").exists());
    check.json()
}

#[test]
fn a_path_that_is_refused_is_named_in_words_and_for_programs() {
    let made = |name: &str| format!("--- /dev/null\n+++ \"b/{name}\"\n@@ -0,0 +1 @@\n+x\n");
    let deep = "d/".repeat(600);
    for (name, code, path) in [
        ("../x", "PATH_PARENT", "../x"),
        ("src/./x", "PATH_NOT_NORMAL", "src/./x"),
        (".GIT/config", "PATH_GIT_DIRECTORY", ".GIT/config"),
        ("a\\000b", "PATH_NUL", "a\\x00b"),
        ("a\\033[2Jb", "PATCH_PATH_UNPRINTABLE", "a\\x1b[2Jb"),
        ("a\\\\b", "PATCH_PATH_BACKSLASH", "a\\\\b"),
        ("C:/x", "PATCH_PATH_DRIVE", "C:/x"),
        ("src/aux.c", "PATCH_PATH_RESERVED", "src/aux.c"),
        ("a ", "PATCH_PATH_TRAILING", "a "),
    ] {
        let told = refused(&made(name));
        assert_eq!((&told["code"], &told["path"]), (&json!(code), &json!(path)), "{told}");
        let message = told["message"].as_str().unwrap();
        assert!(message.starts_with("line 1 of the patch: ") && message.contains(path), "{message}");
    }
    let told = refused(&made(&deep));
    let (path, message) = (told["path"].as_str().unwrap(), told["message"].as_str().unwrap());
    assert_eq!(told["code"], "PATH_TOO_LONG");
    assert!(
        path.contains('…') && path.len() < 300 && message.contains(path) && message.len() < 500,
        "{told}"
    );

    let block = "*** Begin Patch\n*** Delete File: /etc/passwd\n*** End Patch\n";
    assert_eq!(refused(block)["path"], "/etc/passwd");
    let search = "../a.txt\n<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE\n";
    assert_eq!(refused(search)["path"], "../a.txt");
    let twice = refused(&format!("{FIX}{FIX}"));
    assert_eq!(
        (&twice["code"], &twice["path"]),
        (&json!("PATCH_DUPLICATE_PATH"), &json!("greet.sh")),
        "{twice}"
    );
    assert!(twice["message"].as_str().unwrap().contains("greet.sh"), "{twice}");
    let below = refused(&made("greet.sh/x"));
    assert_eq!(
        (&below["code"], &below["path"]),
        (&json!("PATCH_PATH_CONFLICT"), &json!("greet.sh/x")),
        "{below}"
    );
}

#[test]
fn whoever_cannot_read_a_directory_says_what_became_of_the_command() {
    let project = Project::new();
    pipe(&project.path("app/src"));
    project.write("fix.patch", "--- a/src\n+++ b/src\n@@ -1 +1 @@\n-a\n+b\n");
    let run = project.start_words("unread", &diligent("finish"));
    let run: Vec<&str> = run.iter().map(String::as_str).collect();
    let sandbox = ["sandbox", "run", "--image", "tools", "--profile", project.profile, "--workspace", "app"];
    for (words, kept) in [
        (&["revision", "import", "app"][..], "nothing was imported"),
        (&run, "no run was started, and nothing was imported"),
        (&["tree", "digest", "app"], "no digest was made"),
        (&["patch", "check", "--base", "app", "fix.patch"], "the patch was not checked"),
        (
            &["patch", "apply", "--base", "app", "--out", "out", "fix.patch"],
            "the patch was not applied, and nothing was written",
        ),
        (&[&sandbox[..], &["--", "cat"]].concat(), "nothing was run"),
    ] {
        let answered = project.ambit([&["--json"][..], words].concat());
        assert_eq!((answered.code, answered.out.as_str()), (2, ""), "{words:?}: {answered:?}");
        // What was noted before stands above it.
        let error: Value = serde_json::from_str(&answered.err[answered.err.find('{').unwrap()..]).unwrap();
        let error = &error["error"];
        assert_eq!(
            (&error["code"], &error["path"]),
            (&json!("IMPORT_SPECIAL_FILE"), &json!("src")),
            "{words:?}"
        );
        assert!(error["help"].as_str().unwrap().starts_with(kept), "{words:?}: {error}");
        // Whatever else was not done is not told.
        let told = answered.err.matches("import").count();
        assert_eq!(told, kept.matches("import").count(), "{words:?}: {}", answered.err);
    }
    for (words, kept) in [
        (["patch", "check", "--base", "app", "none"].as_slice(), "the patch was not checked; name a file"),
        (
            &["patch", "apply", "--base", "app", "--out", "out", "none"],
            "the patch was not applied, and nothing was written; name a file",
        ),
    ] {
        let answered = project.ambit(words);
        assert!(answered.code == 2 && answered.err.contains(kept), "{answered:?}");
    }
}

#[test]
fn lines_that_part_are_told_as_they_are_and_escaped_where_they_are_shown() {
    let line = "say \"a\\n\"\t'b'";
    let dir = ground(&format!("--- a/q.txt\n+++ b/q.txt\n@@ -1,2 +1,2 @@\n-{line}!\n+x\n end\n"));
    fs::write(dir.path().join("base/q.txt"), format!("{line}\nend\n")).unwrap();
    let told = ambit(dir.path(), &CHECK).json();
    assert_eq!(
        (&told["expected"], &told["found"]),
        (&json!(format!("{line}!\n")), &json!(format!("{line}\n")))
    );
    let shown = "the hunk has \"say \"a\\\\n\"\\t'b'!\\n\", the file has \"say \"a\\\\n\"\\t'b'\\n\"";
    assert!(told["message"].as_str().unwrap().contains(shown), "{told}");
}

/// What both verbs show at a terminal of 80 columns.
fn at_terminal(patch: &str, words: &[&str]) -> Option<Answered> {
    let dir = ground(patch);
    let mut command = bare(dir.path());
    command.args(words);
    let shown = Terminal::PLAIN.shows(dir.path(), &command)?;
    let is_json = words.contains(&"--json");
    assert!(is_json || shown.out.lines().all(|line| line.chars().count() <= 80), "{shown:?}");
    Some(shown)
}

#[test]
fn a_check_says_that_a_patch_applies_and_a_page_says_it_to_a_person() {
    let dir = ground(FIX);
    let checked = ambit(dir.path(), &CHECK).well().json();
    assert_eq!(checked["verdict"], "applies");
    assert!(!dir.path().join("out").exists());
    assert_eq!(ambit(dir.path(), &APPLY).well().json()["verdict"], "applied");

    let moved = "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -9,2 +9,2 @@\n 3\n-4\n+four\n";
    let Some(fits) = at_terminal(&format!("{FIX}{moved}"), &[&CHECK[..], &["--tree"]].concat()) else {
        return;
    };
    insta::assert_snapshot!("patch_check_80", stable(&fits.well().out));
    let applied = at_terminal(FIX, &APPLY).unwrap().well();
    insta::assert_snapshot!("patch_apply_80", stable(&applied.out));
    let wrong = FIX.replace("-echo hello", "-echo hullo");
    let parts = at_terminal(&wrong, &CHECK).unwrap();
    assert_eq!(parts.code, 4, "{parts:?}");
    insta::assert_snapshot!("patch_check_refused_80", stable(&parts.out));
    let path = at_terminal("--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n", &CHECK).unwrap();
    insta::assert_snapshot!("patch_check_path_80", stable(&path.out));
    let tree = at_terminal(FIX, &["tree", "digest", "base"]).unwrap().well();
    insta::assert_snapshot!("tree_digest_80", stable(&tree.out));
    // Whoever asks for JSON gets it at a terminal, too.
    let json = at_terminal(FIX, &[&CHECK[..], &["--json"]].concat()).unwrap().well();
    assert_eq!(json.json()["verdict"], "applies");
}

#[test]
fn a_page_has_colours_where_they_are_wanted() {
    let dir = ground(FIX);
    let mut command = bare(dir.path());
    command.args(CHECK);
    for (kind, no_color, is_coloured) in
        [("xterm-256color", false, true), ("xterm", true, false), ("dumb", false, false)]
    {
        let terminal = Terminal { kind, no_color, ..Terminal::PLAIN };
        let Some(shown) = terminal.shows(dir.path(), &command) else { return };
        assert_eq!(shown.out.contains("\u{1b}[32mapplies\u{1b}[0m"), is_coloured, "{kind}: {shown:?}");
        assert_eq!(shown.out.contains('\u{1b}'), is_coloured, "{kind}: {shown:?}");
    }
}
