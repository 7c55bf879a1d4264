//! The whole suite once more, as a user without any privilege; and on a machine that lacks what a sandbox needs.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use ambit_ports::sandbox::SandboxError;
use tempfile::TempDir;

use crate::support::bench;

pub(crate) const NOBODY: u32 = 65534;
/// Set for the copy of this program that runs as another user.
const AGAIN: &str = "AMBIT_TEST_AGAIN";

/// This program where any user can execute it, and a directory in which any user can work.
pub(crate) fn for_anyone() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("it");
    // By another process: what a thread beside this one has open for writing in its new child cannot be executed.
    assert!(
        Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap().success()
    );
    for (path, mode) in [(directory.path(), 0o1777), (&program, 0o755)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    (directory, program)
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Runs tests of this program as a user without any privilege, and answers what they said; `None` where this is such a
/// copy, or such a user anyway.
fn as_nobody(tests: &[&str]) -> Option<String> {
    if std::env::var_os(AGAIN).is_some() {
        return None;
    }
    if !is_root() {
        println!("skipped: NOT_ROOT the tests of this run were an ordinary user's already");
        return None;
    }
    let (directory, program) = for_anyone();
    let output = Command::new(program)
        .args(tests)
        .args(["--test-threads", "2"])
        .env(AGAIN, "1")
        .env("TMPDIR", directory.path())
        .current_dir(directory.path())
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    Some(said)
}

pub(crate) fn holds_as_nobody(test: &str) {
    if let Some(said) = as_nobody(&[test, "--exact"]) {
        assert!(said.contains(&format!("test {test} ... ok")), "{said}");
    }
}

// proves E-I01 E-J02
// break crates/adapters/sandbox-linux/guest/src/roles/spawner.rs: `put("setgroups", Text::format(format_args!("deny"))?)?;` -> `let _ = "deny";`
#[test]
fn the_suite_holds_for_an_ordinary_user() {
    if let Some(said) = as_nobody(&["suite::"]) {
        assert!(said.contains("test suite::memory ... ok"), "{said}");
    }
}

// proves E-J06 E-J14
// break crates/adapters/sandbox-linux/guest/src/roles/memory.rs: `Ok(held_bytes) => held_bytes > self.limit_bytes,` -> `Ok(_) => false,`
#[test]
fn what_processes_hold_together_is_bounded_without_a_group() {
    holds_as_nobody("memory::what_processes_hold_together_is_bounded");
}

// proves E-J06 E-J14
// break crates/adapters/sandbox-linux/guest/src/roles/memory.rs: `match self.shareable_bytes.checked_sub(size) {` -> `match self.shareable_bytes.checked_sub(0) {`
#[test]
fn what_no_process_holds_is_bounded_without_a_group() {
    holds_as_nobody("memory::what_no_process_holds_is_bounded");
}

// proves E-J06
// break crates/mechanisms/system-calls/src/policy.rs: `(nr::__NR_memfd_create, ABSENT),` -> `(nr::__NR_memfd_create, Rule::Allow),`
#[test]
fn what_cannot_be_counted_is_absent_without_a_group() {
    holds_as_nobody("memory::what_cannot_be_counted_is_absent_where_no_group_bounds_it");
}

/// The user namespace of the copy forbids further ones, as a machine can.
const FORBID: &str = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"";

// proves E-I05
// break crates/adapters/sandbox-linux/src/missing.rs: `Step::Namespaces | Step::UserMap => Some(namespaces::forbidden().unwrap_or_else(user_namespaces)),` -> `Step::Namespaces | Step::UserMap => None,`
#[test]
fn a_machine_without_user_namespaces_is_refused() {
    if std::env::var_os(AGAIN).is_some() {
        return;
    }
    let (directory, program) = for_anyone();
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "sh", "-c", FORBID]).arg(program);
    unshare.args(["ordinary_user::nothing_runs_without_a_sandbox", "--exact", "--ignored"]);
    unshare.env(AGAIN, "1").env("TMPDIR", directory.path()).current_dir(directory.path());
    if is_root() {
        unshare.uid(NOBODY).gid(NOBODY);
    }
    let Ok(output) = unshare.output() else {
        println!("skipped: NO_UNSHARE unshare(1) is not installed");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

#[tokio::test]
#[ignore = "only where user namespaces are forbidden: a_machine_without_user_namespaces_is_refused starts it there"]
async fn nothing_runs_without_a_sandbox() {
    let (bench, directory) = bench();
    for outcome in [
        bench.port.allocate(bench.spec("unavailable")).await.map(drop),
        bench.port.inspect_capabilities().await.map(drop),
    ] {
        let Err(SandboxError::Unavailable(missing)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(missing[0].feature, "user namespaces");
        assert!(missing[0].mend.contains("user.max_user_namespaces"), "{missing:?}");
    }
    let left = std::fs::read_dir(directory.path().join("state/leases")).unwrap().count();
    assert_eq!(left, 0, "what was not made left something");
}
