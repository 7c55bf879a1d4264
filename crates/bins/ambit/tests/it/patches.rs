//! Patches on directories, without a home or a project.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cases::{ambit, bare, seen, untouched};
use crate::rig::{Answered, FIX, GREET, Project};

const CHECK: [&str; 5] = ["patch", "check", "--base", "base", "fix.patch"];

/// A directory with a base that the patch fits, and the patch.
fn ground() -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::create_dir_all(dir.path().join("base/sub")).unwrap();
    write(&dir, "base/greet.sh", GREET);
    write(&dir, "base/sub/other.txt", "other\n");
    write(&dir, "fix.patch", FIX);
    dir
}

fn write(dir: &TempDir, name: &str, content: impl AsRef<[u8]>) {
    fs::write(dir.path().join(OsStr::from_bytes(name.as_bytes())), content).unwrap();
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// The names in a directory.
fn names(dir: &Path) -> Vec<String> {
    let read = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = read.collect();
    names.sort();
    names
}

#[track_caller]
fn assert_fails(answered: &Answered, exit: i32, code: &str) {
    assert_eq!((answered.code, answered.out.as_str()), (exit, ""), "{answered:?}");
    assert!(answered.err.starts_with(&format!("error[{code}]: ")), "{answered:?}");
}

#[test]
fn the_verdict_is_one_object_with_the_same_members_whatever_it_is() {
    let dir = ground();
    let told = |words: &[&str], exit: i32| -> Value {
        let answered = ambit(dir.path(), words);
        assert_eq!((answered.code, answered.err.as_str()), (exit, ""), "{answered:?}");
        assert_eq!(ambit(dir.path(), &[words, &["--json"]].concat()).out, answered.out);
        serde_json::from_str(&answered.out).unwrap()
    };
    let applied = told(&CHECK, 0);
    assert_eq!(applied["verdict"], "applies");
    assert_eq!(applied["hunks"], json!([{"path": "greet.sh", "hunk": 1, "line": 1, "how": "stated-line"}]));
    assert_eq!(applied["files"][0]["lines"], json!({"added": 1, "removed": 1}));
    write(&dir, "fix.patch", FIX.replace("-echo hello", "-echo hullo"));
    let refused = told(&CHECK, 4);
    let members = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(members(&applied), members(&refused));
    for (member, value) in [
        ("verdict", json!("refused")),
        ("code", json!("PATCH_CONTEXT_MISMATCH")),
        ("path", json!("greet.sh")),
        ("hunk", json!(1)),
        ("line", json!(2)),
        ("expected", json!("echo hullo\n")),
        ("found", json!("echo hello\n")),
        ("canonical", Value::Null),
        ("files", json!([])),
    ] {
        assert_eq!(refused[member], value, "{member}: {refused}");
    }
    write(&dir, "fix.patch", "@@ -1 +1 @@\n-a\n+b\n");
    let unread = told(&CHECK, 4);
    assert_eq!((&unread["patchLine"], members(&unread)), (&json!(1), members(&applied)));
    write(&dir, "fix.patch", FIX);
    write(&dir, "base/greet.sh", GREET.replace("echo hello", "echo \"hello $1\""));
    let again = told(&CHECK, 0);
    assert_eq!((&again["verdict"], members(&again)), (&json!("already-applied"), members(&applied)));
    for member in ["canonical", "files", "hunks"] {
        assert_eq!(again[member], applied[member], "{member}");
    }
}

#[test]
fn what_comes_out_is_whole_or_only_what_changed_and_has_the_digest_that_was_told() {
    let dir = ground();
    let apply = |out: &str, more: &[&str]| {
        let words = ["patch", "apply", "--base", "base", "--out", out, "fix.patch"];
        ambit(dir.path(), &[&words[..], more].concat()).well().json()
    };
    let before = untouched(&dir.path().join("base"));
    let whole = apply("whole", &[]);
    assert_eq!(names(&dir.path().join("whole")), ["greet.sh", "sub"]);
    let digest = ambit(dir.path(), &["tree", "digest", "whole", "--json"]).well().json();
    assert_eq!((&whole["tree"], &digest["files"]), (&digest["tree"], &json!(2)));
    let changed = apply("changed", &["--changed-only"]);
    assert_eq!(
        (&changed["tree"], names(&dir.path().join("changed"))),
        (&Value::Null, vec!["greet.sh".to_owned()])
    );
    assert_eq!(apply("told", &["--changed-only", "--tree"])["tree"], digest["tree"]);
    assert_eq!(ambit(dir.path(), &[&CHECK[..], &["--tree"]].concat()).well().json()["tree"], digest["tree"]);
    // What is applied already comes out again.
    let words = ["patch", "apply", "--base", "whole", "--out"];
    let again = |out: &str, more: &[&str]| {
        ambit(dir.path(), &[&words[..], &[out, "fix.patch"], more].concat()).well().json()
    };
    assert_eq!(again("again", &[])["tree"], digest["tree"]);
    assert_eq!(seen(&dir.path().join("again")), seen(&dir.path().join("whole")));
    again("again-changed", &["--changed-only"]);
    assert_eq!(seen(&dir.path().join("again-changed")), seen(&dir.path().join("changed")));
    write(&dir, "fix.patch", "--- a/sub/other.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-other\n");
    let removed = apply("removed", &["--changed-only"]);
    assert_eq!(
        (&removed["files"][0]["path"], &removed["files"][0]["after"]),
        (&json!("sub/other.txt"), &Value::Null)
    );
    assert!(names(&dir.path().join("removed")).is_empty());
    assert_eq!(untouched(&dir.path().join("base")), before);
}

#[test]
fn only_what_the_patch_touches_is_read() {
    let dir = ground();
    pipe(&dir.path().join("base/sub/pipe"));
    write(&dir, "base/large", "");
    fs::File::options().write(true).open(dir.path().join("base/large")).unwrap().set_len(8 << 30).unwrap();
    ambit(dir.path(), &CHECK).well();
    let apply = ["patch", "apply", "--base", "base", "--out", "out", "fix.patch"];
    ambit(dir.path(), &[&apply[..], &["--changed-only"]].concat()).well();
    fs::remove_dir_all(dir.path().join("out")).unwrap();
    assert_fails(&ambit(dir.path(), &apply), 2, "IMPORT_FILE_TOO_LARGE");
    fs::remove_file(dir.path().join("base/large")).unwrap();
    assert_fails(&ambit(dir.path(), &apply), 2, "IMPORT_SPECIAL_FILE");
    assert_fails(&ambit(dir.path(), &["tree", "digest", "base"]), 2, "IMPORT_SPECIAL_FILE");
    write(&dir, "fix.patch", "--- a/sub/pipe\n+++ b/sub/pipe\n@@ -1 +1 @@\n-a\n+b\n");
    assert_fails(&ambit(dir.path(), &CHECK), 2, "IMPORT_SPECIAL_FILE");
    assert_eq!(names(dir.path()), ["base", "fix.patch"]);
}

#[test]
fn a_file_that_nobody_may_read_matters_only_where_the_patch_touches_it() {
    let dir = ground();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let sub = dir.path().join("base/sub");
    let closed =
        |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let ask = || {
        let mut command = bare(dir.path());
        // Whoever may read everything is tried as somebody else.
        if geteuid().is_root() {
            command.uid(65_534).gid(65_534);
        }
        command.args(CHECK).output()
    };
    let Ok(output) = ask() else {
        println!("skipped: nobody else can start the binary where it lies");
        return;
    };
    Answered::of(output).well();
    closed(&sub, 0o000);
    let untouched = Answered::of(ask().unwrap());
    closed(&sub, 0o755);
    untouched.well();
    closed(&dir.path().join("base/greet.sh"), 0o000);
    assert_fails(&Answered::of(ask().unwrap()), 2, "IMPORT_UNREADABLE");
}

#[test]
fn a_patch_can_come_from_anywhere_and_be_anything() {
    let dir = ground();
    for (what, patch, code) in [
        ("empty", Vec::new(), "PATCH_EMPTY"),
        ("no text", (0..=255).collect(), "PATCH_NUL"),
        ("no patch", b"hello\n".to_vec(), "PATCH_"),
    ] {
        write(&dir, "odd.patch", patch);
        let refused = ambit(dir.path(), &["patch", "check", "--base", "base", "odd.patch"]);
        assert_eq!(refused.code, 4, "{what}: {refused:?}");
        assert!(refused.json()["code"].as_str().unwrap().starts_with(code), "{what}: {refused:?}");
    }
    let large = fs::File::create(dir.path().join("odd.patch")).unwrap();
    large.set_len(100 << 20).unwrap();
    let refused = ambit(dir.path(), &["patch", "check", "--base", "base", "odd.patch"]);
    assert_eq!((refused.code, &refused.json()["code"]), (4, &json!("PATCH_TOO_LARGE")));
    assert!(refused.json()["message"].as_str().unwrap().contains("104857600 bytes"), "{refused:?}");
    assert_fails(
        &ambit(dir.path(), &["patch", "check", "--base", "base", "base"]),
        2,
        "USAGE_FILE_UNREADABLE",
    );
    pipe(&dir.path().join("pipe"));
    let mut reading = bare(dir.path());
    let reading =
        reading.args(["patch", "check", "--base", "base", "pipe"]).stdout(Stdio::piped()).spawn().unwrap();
    write(&dir, "pipe", FIX);
    assert_eq!(reading.wait_with_output().unwrap().status.code(), Some(0));
    let mut given = bare(dir.path());
    let given =
        given.args(["patch", "check", "--base", "base", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut given = given.spawn().unwrap();
    given.stdin.take().unwrap().write_all(FIX.as_bytes()).unwrap();
    assert_eq!(given.wait_with_output().unwrap().status.code(), Some(0));
}

#[test]
fn names_that_are_no_text_are_told_in_their_text_form() {
    let dir = ground();
    let name = OsStr::from_bytes(b"caf\xe9");
    fs::write(dir.path().join("base").join(name), "1\n").unwrap();
    let patch = b"--- a/caf\xe9\n+++ b/caf\xe9\n@@ -1 +1 @@\n-1\n+2\n";
    fs::write(dir.path().join(name), patch).unwrap();
    let mut command = bare(dir.path());
    command.args(["patch", "apply", "--base", "base", "--out"]).arg(OsStr::from_bytes(b"out\xff")).arg(name);
    let told = Answered::of(command.output().unwrap()).well().json();
    assert_eq!(told["files"][0]["path"], "caf\\xe9");
    let out = dir.path().join(OsStr::from_bytes(b"out\xff")).join(name);
    assert_eq!(fs::read(out).unwrap(), b"2\n");
}

#[test]
fn nothing_is_written_where_it_must_not_be() {
    let dir = ground();
    let inside = dir.path().join("base/sub");
    symlink("base", dir.path().join("link")).unwrap();
    symlink("nowhere", dir.path().join("dangling")).unwrap();
    fs::create_dir(dir.path().join("empty")).unwrap();
    let before = untouched(dir.path());
    for (base, out, code) in [
        ("base", "base", "EXPORT_EXISTS"),
        ("base", "empty", "EXPORT_EXISTS"),
        ("base", "dangling", "EXPORT_EXISTS"),
        ("base", "fix.patch", "EXPORT_EXISTS"),
        ("base", "base/out", "EXPORT_WITHIN_SOURCE"),
        ("base", "link/sub/out", "EXPORT_WITHIN_SOURCE"),
        ("base", inside.join("../sub/out").to_str().unwrap(), "EXPORT_WITHIN_SOURCE"),
        ("base", "none/out", "EXPORT_NOT_A_DIRECTORY"),
        ("base", "fix.patch/out", "EXPORT_NOT_A_DIRECTORY"),
        ("base", "..", "EXPORT_NOT_A_DIRECTORY"),
        ("link", "out", "IMPORT_NOT_A_DIRECTORY"),
        ("link/", "out", "IMPORT_NOT_A_DIRECTORY"),
        ("fix.patch", "out", "IMPORT_NOT_A_DIRECTORY"),
    ] {
        for more in [&[][..], &["--changed-only"]] {
            let words = ["patch", "apply", "--base", base, "--out", out, "fix.patch"];
            assert_fails(&ambit(dir.path(), &[&words[..], more].concat()), 2, code);
        }
    }
    assert_eq!(untouched(dir.path()), before);
}

#[test]
fn a_disk_that_takes_no_more_leaves_nothing() {
    let dir = ground();
    write(&dir, "base/large", vec![b'x'; 256 << 10]);
    // No file may grow beyond 64 KiB, and whoever tries is told instead of ended.
    let script = "trap '' XFSZ; ulimit -f 128; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_ambit"), "patch", "apply", "--base", "base"]);
    command.args(["--out", "out", "fix.patch"]).current_dir(dir.path());
    assert_fails(&Answered::of(command.output().unwrap()), 1, "EXPORT_UNWRITABLE");
    assert_eq!(names(dir.path()), ["base", "fix.patch"]);
}

#[test]
fn whoever_interrupts_it_finds_nothing() {
    let dir = ground();
    for number in 0..2_000 {
        write(&dir, &format!("base/sub/{number}"), "x");
    }
    let late = Instant::now() + Duration::from_secs(60);
    loop {
        let mut command = bare(dir.path());
        command.args(["patch", "apply", "--base", "base", "--out", "out", "fix.patch"]);
        let mut working = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let begun = || names(dir.path()).iter().any(|name| name.starts_with(".ambit-export-"));
        while !begun() && working.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let pid = Pid::from_raw(i32::try_from(working.id()).unwrap()).unwrap();
        let _ = kill_process(pid, Signal::INT);
        let ended = working.wait_with_output().unwrap();
        if ended.status.code() == Some(130) {
            assert!(String::from_utf8(ended.stderr).unwrap().starts_with("error[EXPORT_INTERRUPTED]: "));
            assert_eq!(names(dir.path()), ["base", "fix.patch"]);
            return;
        }
        // It was done before the signal came.
        assert_eq!(
            (ended.status.code(), names(dir.path())),
            (Some(0), ["base", "fix.patch", "out"].map(str::to_owned).to_vec())
        );
        fs::remove_dir_all(dir.path().join("out")).unwrap();
        assert!(Instant::now() < late, "it was never interrupted");
    }
}

#[test]
fn the_digest_of_a_directory_is_that_of_the_revision_that_it_would_be() {
    let project = Project::empty();
    project.write("app/.gitignore", "made/\n");
    fs::create_dir_all(project.path("app/made")).unwrap();
    fs::create_dir_all(project.path("app/.git")).unwrap();
    project.write("app/made/file", "made\n");
    let told = ambit(project.dir.path(), &["tree", "digest", "app", "--json"]).well().json();
    assert_eq!((&told["files"], &told["leftOut"]), (&json!(3), &json!({"git": 1, "ignored": 1})));
    let all = ambit(project.dir.path(), &["tree", "digest", "app", "--all", "--json"]).well().json();
    assert_eq!((&all["files"], &all["leftOut"]), (&json!(4), &json!({"git": 1, "ignored": 0})));
    let text = ambit(project.dir.path(), &["tree", "digest", "app"]).well().out;
    assert!(text.starts_with(told["tree"].as_str().unwrap()) && text.lines().count() == 1, "{text}");
    let revision = project.ambit(["revision", "import", "app", "--json"]).well().json();
    assert_eq!(told["tree"], revision["tree"]);
}

/// The example of the page, as it stands there.
#[test]
fn the_example_of_the_page_works() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/patches.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once("## On the command line\n").unwrap();
    let (_, from) = section.split_once("```sh\n").unwrap();
    let (script, rest) = from.split_once("```\n").unwrap();
    let (_, from) = rest.split_once("```text\n").unwrap();
    let (expected, _) = from.split_once("```\n").unwrap();
    let dir = TempDir::new().unwrap();
    let bin = PathBuf::from(env!("CARGO_BIN_EXE_ambit"));
    let path = [bin.parent().unwrap().as_os_str(), OsStr::new(":"), &std::env::var_os("PATH").unwrap()];
    let mut command = Command::new("sh");
    command.args(["-euc", script]).env("PATH", path.iter().copied().collect::<std::ffi::OsString>());
    let ran = Answered::of(command.current_dir(dir.path()).output().unwrap()).well();
    assert_eq!(ran.out, expected);
}
