//! Hostile commands from outside, run with real tools, as root and as an ordinary user.
//!
//! They need a shell and Python, so the image is the host's `/usr`, bound into a directory in a mount namespace of this
//! program's own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ambit_conformance::sandbox::Bench;
use ambit_conformance::sandbox::hostile::{
    Exception, Ground, Plants, cases, every_probe, is_absent, plant, planted,
};
use ambit_sandbox_linux::PROBER;
use bytes::Bytes;

use crate::ordinary_user::{NOBODY, for_anyone, is_root};
use crate::support::{adapter, image_digest, volumes};

/// The image, in the copy of this program that has its own mount namespace.
const IMAGE: &str = "AMBIT_TEST_IMAGE";

const BIND: &str = "mkdir -p \"$0/usr\" \"$0/etc\" && cp -a /etc/alternatives \"$0/etc/\" && mount --bind /usr \"$0/usr\" && \
    ln -sf usr/bin \"$0/bin\" && ln -sf usr/lib \"$0/lib\" && ln -sf usr/lib64 \"$0/lib64\" && ln -sf usr/sbin \"$0/sbin\" && \
    exec \"$@\"";

/// What these sandboxes are known not to hold.
const EXCEPTIONS: [Exception; 0] = [];

/// Runs every case in a copy of this program that `becoming` turns into somebody.
fn run(becoming: &[&str]) {
    if is_absent() {
        return;
    }
    if !is_root() || !Path::new("/usr/bin/python3").exists() {
        println!("skipped: NO_IMAGE only root can bind the tools of this machine into an image");
        return;
    }
    let (directory, program) = for_anyone();
    let image = directory.path().join("image");
    std::fs::create_dir(&image).unwrap();
    plant(&directory.path().join("planted"));
    let words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", BIND].map(OsString::from);
    let words = words.into_iter().chain([image.clone().into()]).chain(becoming.iter().map(OsString::from));
    let test = ["hostile::every_case", "--exact", "--ignored", "--nocapture"].map(OsString::from);
    let words: Vec<OsString> = words.chain([program.into()]).chain(test).collect();
    let mut command = planted(&directory.path().join("planted"), &words);
    // Where another user can read them.
    let readable = directory.path().join("cases");
    std::fs::create_dir_all(readable.join("hostile")).unwrap();
    std::fs::copy(cases(), readable.join("hostile/probes.jsonl")).unwrap();
    let output = command
        .env("AMBIT_CASES", readable)
        .env(IMAGE, image)
        .env("TMPDIR", directory.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    print!("{said}");
}

// proves E-J12 E-J13
// break crates/mechanisms/system-calls/src/policy.rs: `_ if Sign::ALL.iter().any(|sign| sign.calls().contains(&number)) => &Rule::Report,` -> `_ if Sign::ALL.iter().any(|sign| sign.calls().contains(&number)) => &Rule::Allow,`
#[test]
fn hostile_commands_are_contained() {
    run(&[]);
}

// proves E-J12 E-J13
// break crates/mechanisms/system-calls/src/policy.rs: `_ if Sign::ALL.iter().any(|sign| sign.calls().contains(&number)) => &Rule::Report,` -> `_ if Sign::ALL.iter().any(|sign| sign.calls().contains(&number)) => &Rule::Allow,`
#[test]
fn hostile_commands_of_an_ordinary_user_are_contained() {
    let id = NOBODY.to_string();
    run(&["setpriv", "--reuid", &id, "--regid", &id, "--clear-groups"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "only with an image of real tools and planted secrets: the tests above start it so"]
async fn every_case() {
    let image = PathBuf::from(std::env::var_os(IMAGE).unwrap());
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    let port = Arc::new(adapter(state.clone(), image));
    let bench = Bench::new(port, image_digest(), volumes(), Bytes::from_static(PROBER));
    let plants = Plants::around_this_process();
    let group = format!("ambit-{}-", std::process::id());
    let ground = Ground {
        bench,
        plants,
        state: &state,
        trees: Some(&state.join("trees")),
        group: &group,
        processes_are_seen: true,
        exceptions: &EXCEPTIONS,
    };
    every_probe(ground).await;
}
