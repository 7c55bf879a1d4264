//! Hostile commands from outside, run with real tools in containers of each runtime.
//!
//! They need a shell and Python, so the image is the host's `/usr`, taken for a whole root, in a mount namespace of this
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
use crate::support::{QUICKEST, adapter, image_digest, is_left_out, is_there, volumes};

/// The image, in the copy of this program that has its own mount namespace.
const IMAGE: &str = "AMBIT_TEST_IMAGE";
/// The runtime that the copy tries.
const RUNTIME: &str = "AMBIT_TEST_RUNTIME";

/// An image is one file system, so `/usr` becomes the root itself, and a link in it stands for `/usr`. What no case needs is
/// whited out (overlayfs): each of them that looks for something looks through all that there is.
const MOUNT: &str = r#"mkdir -p "$0/image" "$0/over/etc" "$0/over/lib" && cp -a /etc/alternatives "$0/over/etc/" && \
    ln -s . "$0/over/usr" && cd "$0/over" && for name in share include local src games; do mknod $name c 0 0; done && \
    for path in /usr/lib/*/; do name=${path#/usr/}; case $name in
        lib/*-linux-gnu*/ | lib/python3*/ | lib/openssh/ | lib/dbus-1.0/ | lib/polkit-1/ | lib/git-core/) ;;
        *) mknod ${name%/} c 0 0 ;;
    esac; done && \
    cd .. && mount -t overlay overlay -o ro,lowerdir=over:/usr image && cd / && exec "$@""#;

/// What these containers are known not to hold, each with the runtime.
const EXCEPTIONS: [(&str, Exception); 10] = [
    of_runsc("nnp", "its kernel does not list NoNewPrivs"),
    of_runsc("caps", "its kernel does not list CapAmb, and no capability in what it lists"),
    of_runsc("mounts", "its kernel lists no nosuid on a mount"),
    of_runsc("devs", "its kernel has devices of its own beside those that it is given"),
    of_runsc(
        "signal-parent",
        "its kernel does not shield the first process: the command is left without an account",
    ),
    of_runsc("oom-adj", "its kernel keeps the score to itself, and that of the host stays"),
    of_runsc("art-fifo", "its kernel keeps named pipes to itself, so the output is absent and not refused"),
    of_runsc(
        "own-environments",
        "its kernel shows the variables of the first process: one that the runtime adds",
    ),
    of_runsc("nice-rt", "its kernel knows no real-time priority, and says so in words of its own"),
    of_runsc("immutable", "its kernel knows no file attributes, and says so in words of its own"),
];

/// What they are known not to hold beside that where an ordinary user makes them.
const OF_ORDINARY_USERS: [(&str, Exception); 8] = [
    of_ordinary_users("runc", "uid", ROOT_BY_NUMBER),
    of_ordinary_users("runc", "suid", ROOT_BY_NUMBER),
    of_ordinary_users("runc", "tmp-exec-suid", ROOT_BY_NUMBER),
    of_ordinary_users("runc", "mount", TRIED_BY_TOOLS),
    of_ordinary_users("runsc", "uid", ROOT_BY_NUMBER),
    of_ordinary_users("runsc", "suid", ROOT_BY_NUMBER),
    of_ordinary_users("runsc", "tmp-exec-suid", ROOT_BY_NUMBER),
    of_ordinary_users("runsc", "mount", TRIED_BY_TOOLS),
];

const ROOT_BY_NUMBER: &str =
    "it lets an ordinary user have no number but that of root, without any right of root";
const TRIED_BY_TOOLS: &str = "tools try what they leave to root, are refused, and say so in other words";

const fn of_ordinary_users(
    runtime: &'static str,
    probe: &'static str,
    reason: &'static str,
) -> (&'static str, Exception) {
    (runtime, Exception { probe, reason })
}

const fn of_runsc(probe: &'static str, reason: &'static str) -> (&'static str, Exception) {
    ("runsc", Exception { probe, reason })
}

/// Runs every case in a copy of this program that `becoming` turns into somebody.
fn run(runtime: &str, becoming: &[&str]) {
    if is_absent()
        || runtime != QUICKEST && is_left_out(runtime, "the hostile commands")
        || !is_there(runtime)
    {
        return;
    }
    if !Path::new("/usr/bin/python3").exists() {
        println!("skipped: NO_IMAGE there is no Python in /usr");
        return;
    }
    let (directory, program) = for_anyone();
    plant(&directory.path().join("planted"));
    let words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", MOUNT].map(OsString::from);
    let words = words.into_iter().chain([directory.path().into()]).chain(becoming.iter().map(OsString::from));
    let test = ["hostile::every_case", "--exact", "--ignored", "--nocapture"].map(OsString::from);
    let words: Vec<OsString> = words.chain([program.into()]).chain(test).collect();
    let mut command = planted(&directory.path().join("planted"), &words);
    // Where another user can read them.
    let readable = directory.path().join("cases");
    std::fs::create_dir_all(readable.join("hostile")).unwrap();
    std::fs::copy(cases(), readable.join("hostile/probes.jsonl")).unwrap();
    command.env("AMBIT_CASES", readable);
    command.env(IMAGE, directory.path().join("image")).env(RUNTIME, runtime);
    let output = command.env("TMPDIR", directory.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    print!("{said}");
}

// proves E-J02 E-J12 E-J13
// break crates/adapters/sandbox-oci/src/bundle.rs: `user: User { uid: user, gid: group },` -> `user: User { uid: 0, gid: 0 },`
#[test]
fn hostile_commands_are_contained_by_crun() {
    run("crun", &[]);
}

#[test]
fn hostile_commands_are_contained_by_runc() {
    run("runc", &[]);
}

#[test]
fn hostile_commands_are_contained_by_runsc() {
    run("runsc", &[]);
}

/// Runs every case as an ordinary user.
fn run_as_nobody(runtime: &str) {
    if !is_root() {
        println!("skipped: NOT_ROOT only root can make an image of this machine and become another user");
        return;
    }
    let id = NOBODY.to_string();
    run(runtime, &["setpriv", "--reuid", &id, "--regid", &id, "--clear-groups"]);
}

// proves E-J02 E-J12 E-J13
// break crates/adapters/sandbox-oci/src/bundle.rs: `let of_users = (rootless && !kind.has_own_kernel()).then_some("user");` -> `let of_users = None::<&str>;`
#[test]
fn hostile_commands_of_an_ordinary_user_are_contained_by_crun() {
    run_as_nobody("crun");
}

#[test]
fn hostile_commands_of_an_ordinary_user_are_contained_by_runc() {
    run_as_nobody("runc");
}

#[test]
fn hostile_commands_of_an_ordinary_user_are_contained_by_runsc() {
    run_as_nobody("runsc");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "only with an image of real tools and planted secrets: the tests above start it so"]
async fn every_case() {
    let image = PathBuf::from(std::env::var_os(IMAGE).unwrap());
    let runtime = std::env::var(RUNTIME).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    let port = Arc::new(adapter(&runtime, state.clone(), image));
    let bench = Bench::new(port, image_digest(), volumes(), Bytes::from_static(PROBER));
    let plants = Plants::around_this_process();
    let group = format!("ambit-{}-", std::process::id());
    let of_this_user = if is_root() { &[][..] } else { &OF_ORDINARY_USERS };
    let of_it = EXCEPTIONS.iter().chain(of_this_user).filter(|(of, _)| *of == runtime);
    let exceptions: Vec<Exception> = of_it.map(|(_, exception)| *exception).collect();
    let ground = Ground {
        bench,
        plants,
        state: &state,
        trees: None,
        group: &group,
        processes_are_seen: runtime != "runsc",
        exceptions: &exceptions,
    };
    every_probe(ground).await;
}
