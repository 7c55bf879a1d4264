//! Credentials stay where no agent and no other user reads them, and what is approved is there.

use std::time::{Duration, Instant};

use crate::approvals::{asking, question};
use crate::rig::{Answered, FIX, GATE, PLAN, Project, patch, transcript};

/// A project with a run that waits for a person and that nobody drives.
fn waiting() -> (Project, String, String) {
    let project = Project::new();
    let mut words = project.start_words("alone", &asking());
    words.push("--no-input".to_owned());
    assert_eq!(project.ambit(&words).code, 6);
    let (proposal, digest) = question(&project, "alone");
    (project, proposal, digest)
}

/// What a command answers that must not wait for anybody.
fn at_once(project: &Project, words: &[&str]) -> Answered {
    use std::process::Stdio;
    let mut child = project
        .command(words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{words:?} waits without end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Answered::of(child.wait_with_output().unwrap())
}

// proves E-H04
// break crates/bins/ambit/src/input_file.rs: `if mode & 0o077 != 0 {` -> `if mode & 0o007 != 0 {`
// break crates/bins/ambit/src/input_file.rs: `if !opened.metadata().map_err(failed)?.is_file() {` -> `if false {`
#[test]
fn a_credential_that_others_can_read_is_refused_and_nothing_is_waited_for() {
    let (project, proposal, digest) = waiting();
    let decide =
        |key: &str| at_once(&project, &["approve", &proposal, "--digest", &digest, "--credential-file", key]);
    for mode in [0o644, 0o640, 0o666, 0o620] {
        project.set_mode("approver.key", mode);
        let refused = decide("approver.key");
        assert!(refused.code == 11 && refused.err.contains("CREDENTIAL_REFUSED"), "{mode:o}: {refused:?}");
        assert!(refused.err.contains("chmod 600"), "{mode:o}: {refused:?}");
    }
    project.set_mode("approver.key", 0o600);
    let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(project.path("pipe")).status();
    assert!(made.unwrap().success());
    for special in ["pipe", "/dev/zero", "/dev/null", "app"] {
        let refused = decide(special);
        assert!(refused.code == 2 || refused.code == 11, "{special}: {refused:?}");
        assert!(refused.err.contains("error["), "{special}: {refused:?}");
        let checked = at_once(&project, &["policy", "check", special]);
        assert!(checked.err.contains("error[USAGE_FILE_UNREADABLE]"), "{special}: {checked:?}");
    }
    assert_eq!(project.show("alone")["approvals"][0]["state"], "pending", "none of it counted");
    decide("approver.key").well();
}

// proves E-H05
// break crates/bins/ambit/src/verbs/approve.rs: `if approve || context.can_ask() {` -> `if context.can_ask() {`
#[test]
fn what_cannot_be_seen_as_it_was_is_not_approved() {
    let (project, proposal, digest) = waiting();
    let view = project.show("alone")["question"]["viewDigest"].as_str().unwrap().replace("sha256:", "");
    let blob = project.home().join("blobs/acme").join(&project.name).join(&view[..2]).join(&view[2..]);
    let whole = std::fs::read(&blob).unwrap();
    let decide = |verdict: &str| {
        project.ambit([verdict, &proposal, "--digest", &digest, "--credential-file", "approver.key"])
    };
    let put = |bytes: &[u8]| {
        std::fs::remove_file(&blob).ok();
        std::fs::write(&blob, bytes).unwrap();
    };
    put(&[b"ambit says that all is well\n", &whole[..]].concat());
    let altered = decide("approve");
    assert!(altered.code == 10 && altered.err.contains("BLOB_CORRUPT"), "{altered:?}");
    std::fs::remove_file(&blob).unwrap();
    let missing = decide("approve");
    assert!(missing.code != 0 && missing.err.contains("error[BLOB_"), "{missing:?}");
    put(&whole);
    assert_eq!(project.show("alone")["approvals"][0]["state"], "pending", "none of it counted");
    let approved = decide("approve").well();
    assert!(approved.out.contains("to be driven on before "), "{}", approved.out);
}

// proves E-H04
// break crates/bins/ambit/src/verbs/approver.rs: `|| above.join(".git").symlink_metadata().is_ok()` -> ``
#[test]
fn a_credential_is_not_made_where_agents_read() {
    let project = Project::new();
    std::fs::create_dir_all(project.path("shop/.git")).unwrap();
    std::fs::create_dir_all(project.path("shop/deep")).unwrap();
    let add = |name: &str, out: &str| {
        project.ambit(["approver", "add", "--name", name, "--out", out, "--credential-file", "approver.key"])
    };
    for inside in ["shop/bob.key", "shop/deep/bob.key", "app/../shop/deep/../bob.key"] {
        let refused = add("bob", inside);
        assert!(refused.code == 2 && refused.err.contains("CREDENTIAL_IN_PROJECT"), "{inside}: {refused:?}");
        assert!(!project.path(inside).exists(), "{inside}");
    }
    add("bob", "bob.key").well();
}

// proves E-H04
// break crates/bins/ambit/src/verbs/unread.rs: `if SealedCredential::read(&text).is_some() || ApproverCredential::read(&text).is_ok() {` -> `if SealedCredential::read(&text).is_some() {`
#[test]
fn a_directory_that_holds_a_credential_is_not_imported() {
    let project = Project::new();
    let key = std::fs::read_to_string(project.path("approver.key")).unwrap();
    project.write("app/notes.txt", &key);
    let agent = transcript(&format!("{PLAN}{}{GATE}", patch(FIX, "")), "finish");
    let refused = project.start("reads", &agent);
    assert!(refused.code == 2 && refused.err.contains("error[IMPORT_HOLDS_CREDENTIAL]"), "{refused:?}");
    assert!(refused.err.contains("notes.txt") && !refused.err.contains(key.trim()), "{refused:?}");
    let imported = project.ambit(["revision", "import", "app"]);
    assert!(imported.code == 2 && imported.err.contains("IMPORT_HOLDS_CREDENTIAL"), "{imported:?}");
    // A text of the same length that is none stays what it is.
    project.write("app/notes.txt", &key.replace("ambit-approver", "ambit_approver"));
    project.ambit(["revision", "import", "app"]).well();
}
