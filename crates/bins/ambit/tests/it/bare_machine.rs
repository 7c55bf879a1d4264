//! A machine that gives this program less than it needs: every such thing is told as a failure with a code and a mend, and
//! none stops the program halfway.

#![cfg(target_arch = "x86_64")]

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::admitting::{ACCT, CLONE3, EPERM, after, without};
use crate::rig::{Answered, Project};

const NOBODY: u32 = 65534;

/// The program, where any user can execute it and keep a home.
fn for_anyone() -> (TempDir, PathBuf) {
    let place = TempDir::new().unwrap();
    let program = place.path().join("ambit");
    // By another process: what a thread beside this one has open for writing in its new child cannot be executed.
    assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_ambit")).arg(&program).status().unwrap().success());
    for (path, mode) in [(place.path(), 0o1777), (program.as_path(), 0o755)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    (place, program)
}

#[track_caller]
fn assert_told(answered: &Answered, code: &str, mend: &str) {
    assert_eq!((answered.code, answered.out.as_str()), (9, ""), "{answered:?}");
    assert_eq!(answered.code_of_failure(), code, "{answered:?}");
    assert!(answered.err.contains(mend), "{mend}: {answered:?}");
}

#[test]
fn threads_that_are_refused_are_told_with_their_mend() {
    let project = Project::empty();
    let list = |words: &[&str]| {
        let mut command = project.command(words);
        // With a user to become, a process is started without the call that is refused here.
        command.uid(rustix::process::geteuid().as_raw());
        command
    };
    let words = ["run", "list", "--json"];
    without((ACCT, EPERM), list(&words)).well();
    assert_told(&without((CLONE3, EPERM), list(&words)), "RUNTIME_UNAVAILABLE", "let clone3 and clone");
    let export = ["patch", "apply", "none.patch", "--base", "app", "--out", "out", "--json"];
    assert_eq!(without((CLONE3, EPERM), list(&export)).code, 2, "what needs no thread is done without");
}

#[test]
fn processes_that_are_too_many_are_told_with_their_mend() {
    if !rustix::process::geteuid().is_root() || Command::new("prlimit").arg("--version").output().is_err() {
        println!("skipped: ROOT_ABSENT processes_that_are_too_many_are_told_with_their_mend");
        return;
    }
    let (place, program) = for_anyone();
    let limited = |limit: &str, words: &[&str]| {
        let mut command = Command::new("prlimit");
        command.arg(limit).arg(&program).args(words).env_clear().env("AMBIT_HOME", place.path().join("home"));
        command.uid(NOBODY).gid(NOBODY).current_dir(place.path()).stdin(Stdio::null());
        Answered::of(command.output().unwrap())
    };
    limited("--nproc=4096", &["run", "list", "--json"]).well();
    assert_told(&limited("--nproc=1", &["run", "list", "--json"]), "RUNTIME_UNAVAILABLE", "ulimit -u");
    assert_told(&limited("--nofile=6", &["run", "list", "--json"]), "RUNTIME_UNAVAILABLE", "ulimit -n");
}

/// Streams that are closed, a directory that is gone, a variable that is no text: each is somebody's shell.
#[test]
fn odd_surroundings_stop_nothing_halfway() {
    let project = Project::empty();
    let list = project.command(["run", "list", "--json"]);
    let odd = |script: &str| after(&["env"], script, &list).output().unwrap();
    for script in [
        "exec \"$0\" \"$@\" <&-",
        "exec \"$0\" \"$@\" 2>&-",
        "exec \"$0\" \"$@\" <&- 2>&-",
        "mkdir gone; cd gone; rmdir ../gone; exec \"$0\" \"$@\"",
        "umask 0777; \"$0\" sandbox scan >/dev/null; [ $? -lt 14 ] && exec \"$0\" \"$@\"",
        "export HOME=\"$(printf '\\377')\"; exec \"$0\" \"$@\"",
        "unset HOME PATH; exec \"$0\" \"$@\"",
        "export TMPDIR=/nowhere; exec \"$0\" \"$@\"",
    ] {
        let answered = odd(script);
        assert_eq!(answered.status.code(), Some(0), "{script}: {answered:?}");
        assert!(answered.stdout.starts_with(b"{"), "{script}: {answered:?}");
    }
    // Nobody can be told anything, and the exit code says so.
    assert_eq!(odd("exec \"$0\" \"$@\" >/dev/full").status.code(), Some(1));
    let silent = odd("exec \"$0\" \"$@\" <&- >&- 2>&-").status.code();
    assert!(silent.is_some_and(|code| code < 2), "{silent:?}");
}
