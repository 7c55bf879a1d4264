//! The suite once more, as a user without any privilege; and on a machine that lacks what a container then needs.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use ambit_ports::sandbox::{Enforcer, SandboxError};
use tempfile::TempDir;

use crate::support::{QUICKEST, bench, is_left_out, is_there};

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

/// Whether this is such a copy, or such a user anyway.
fn is_again() -> bool {
    if std::env::var_os(AGAIN).is_none() && !is_root() {
        println!("skipped: NOT_ROOT the tests of this run were an ordinary user's already");
    }
    std::env::var_os(AGAIN).is_some() || !is_root()
}

/// Runs tests of this program as a user without any privilege, and answers what they said; `None` where they need not or
/// cannot. A runtime that root can use must be one that this user can use.
fn as_nobody(runtime: &str, tests: &[&str]) -> Option<String> {
    if is_again() || !is_there(runtime) {
        return None;
    }
    let (directory, program) = for_anyone();
    let output = Command::new(program)
        .args(tests)
        .args(["--test-threads", "2", "--show-output"])
        .env(AGAIN, "1")
        .env("TMPDIR", directory.path())
        .current_dir(directory.path())
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains("RUNTIME_ABSENT"), "{said}");
    Some(said)
}

/// Runs one test of this program, which is run in no other way, as a user without any privilege.
pub(crate) fn holds_as_nobody(test: &str) {
    if let Some(said) = as_nobody(QUICKEST, &[test, "--exact", "--ignored"]) {
        assert!(said.contains("1 passed"), "{said}");
    }
}

// proves E-I01 E-J02
// break crates/adapters/sandbox-linux/guest/src/roles/rootless.rs: `put(c"/proc/self/setgroups", format_args!("deny"))?;` -> `put(c"/proc/self/setgroups", format_args!("allow"))?;`
#[test]
fn the_suite_holds_under_crun_for_an_ordinary_user() {
    if let Some(said) = as_nobody(QUICKEST, &["suite::crun"]) {
        assert!(said.contains("test suite::crun::files_give_no_power ... ok"), "{said}");
    }
}

/// The checks that a slower runtime runs every time.
const EVERY_TIME: [&str; 4] =
    ["an_abort_ends_the_command", "destroy_leaves_nothing", "a_command_has_no_power", "there_is_no_way_out"];

/// Runs the whole suite, or a few checks of it, of a slower runtime.
fn holds_under(runtime: &str) {
    let suite = format!("suite::{runtime}");
    if is_again() || !is_left_out(runtime, "the suite of an ordinary user") {
        as_nobody(runtime, &[&suite]);
        return;
    }
    let checks = EVERY_TIME.map(|check| format!("{suite}::{check}"));
    as_nobody(runtime, &checks.each_ref().map(String::as_str));
}

#[test]
fn the_suite_holds_under_runc_for_an_ordinary_user() {
    holds_under("runc");
}

#[test]
fn the_suite_holds_under_runsc_for_an_ordinary_user() {
    holds_under("runsc");
}

/// The user namespace of the copy forbids further ones, as a machine can.
const FORBID: &str = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"";

/// Runs a test of this program, whose name is unique, where a script has changed something for it.
fn where_changed(script: &str, test: &str) {
    if std::env::var_os(AGAIN).is_some() || !is_there(QUICKEST) {
        return;
    }
    let (directory, program) = for_anyone();
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "sh", "-c", script]).arg(program);
    unshare.args([test, "--exact", "--ignored"]);
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

// proves E-I05
// break crates/adapters/sandbox-oci/src/unprivileged.rs: `let is_forbidden = switch(Path::new("/proc/sys/user").join(&name_of_switch)) == Some(0);` -> `let is_forbidden = false;`
#[test]
fn a_machine_without_user_namespaces_is_refused() {
    where_changed(FORBID, "ordinary_user::nothing_runs_without_a_container");
}

#[tokio::test]
#[ignore = "only where user namespaces are forbidden: a_machine_without_user_namespaces_is_refused starts it there"]
async fn nothing_runs_without_a_container() {
    let (bench, directory) = bench(QUICKEST);
    for outcome in [
        bench.port.allocate(bench.spec("unavailable")).await.map(drop),
        bench.port.inspect_capabilities().await.map(drop),
    ] {
        let Err(SandboxError::Unavailable(missing)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(missing[0].feature, "user namespaces");
        assert!(missing[0].mend.contains("user.max_user_namespaces"), "{missing:?}");
    }
    let state = directory.path().join("state");
    for place in ["leases", "trials"] {
        let left = std::fs::read_dir(state.join(place)).unwrap().count();
        assert_eq!(left, 0, "what was not made left something in {place}");
    }
}

// proves E-I05 E-I09
// break crates/adapters/sandbox-oci/src/missing.rs: `let mut lacks = if ordinary {` -> `let mut lacks = if false {`
#[test]
fn what_an_ordinary_user_cannot_bound_is_said() {
    holds_as_nobody("ordinary_user::the_manifest_says_what_no_group_bounds");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "only as an ordinary user: what_an_ordinary_user_cannot_bound_is_said starts it so"]
async fn the_manifest_says_what_no_group_bounds() {
    if !is_there(QUICKEST) {
        return;
    }
    let (bench, _directory) = bench(QUICKEST);
    let manifest = bench.port.inspect_capabilities().await.unwrap();
    let limits = manifest.limits;
    assert_eq!([limits.memory, limits.processes, limits.cpu], [Enforcer::RlimitPerProcess; 3]);
    let lacks: Vec<&str> = manifest.lacks.iter().map(|lack| lack.feature.as_str()).collect();
    for of in ["memory", "processes", "processor time"] {
        let feature = format!("a control group for {of}");
        assert!(lacks.contains(&feature.as_str()), "{lacks:?}");
    }
    assert!(!lacks.contains(&"a user namespace"), "{lacks:?}");
    let failed: Vec<_> = manifest.evidence_probes.iter().filter(|probe| !probe.passed).collect();
    assert!(failed.is_empty(), "{failed:?}");
}
