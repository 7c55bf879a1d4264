//! Nothing of the control plane, of another run or of the host is visible inside: secrets are planted in all of them and
//! looked for by their bytes in everything that a command can see.

use std::io::Write as _;
use std::process::Command;

use ambit_conformance::sandbox::{Bench, Staged, confinement};
use ambit_gates::Ending;
use ambit_ids::Digest;
use ambit_ports::sandbox::{BatchFileKind, FileBatch, NamedCommand};
use rustix::fs::MemfdFlags;
use rustix::io::FdFlags;

use crate::ordinary_user::holds_as_nobody;
use crate::support::bench;

const EACCES: i32 = 13;

/// The environment variable that holds a secret.
const PLANTED: &str = "AMBIT_TEST_PLANTED";

/// A text that is nowhere else.
fn secret(of: &str) -> String {
    format!("{of}-{:08x}", std::process::id().wrapping_mul(2_654_435_761))
}

/// How the prober takes a text that must not be in its own memory.
fn masked(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut digits, byte| {
        write!(digits, "{:02x}", byte ^ 0x55).unwrap();
        digits
    })
}

/// Where any of some texts is found by a command with this environment.
async fn found(bench: &Bench, staged: &Staged, environment: &str, texts: &[&str]) -> Vec<String> {
    let masked: Vec<String> = texts.iter().map(|text| masked(text)).collect();
    let words: Vec<&str> = std::iter::once("search").chain(masked.iter().map(String::as_str)).collect();
    let mut command: NamedCommand = bench.command(staged, &words);
    command.environment = vec![("GIVEN".into(), environment.into())];
    let seen = bench.execute(staged, command).await;
    assert_eq!(seen.ending, Ending::Exited { code: 0 }, "{seen:?}");
    let said = String::from_utf8(bench.blob(seen.stdout.artifact).await.to_vec()).unwrap();
    let mut lines: Vec<String> = said.lines().map(str::to_owned).collect();
    assert_eq!(lines.pop(), Some(format!("ok {}", lines.len())), "{said}");
    lines
}

// proves E-J12 E-J13
// break crates/adapters/sandbox-linux/guest/src/roles/proc.rs: `c"proc/sys/kernel/random/boot_id",` -> `c"proc/sys/kernel/random/none",`
#[test]
fn secrets_of_the_control_plane_are_not_inside() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["hidden::search_for_secrets", "--exact", "--ignored", "--skip", "argument-3f1c77ab"])
        .env(PLANTED, "environment-90be21d4")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "only with secrets around it: secrets_of_the_control_plane_are_not_inside plants them"]
async fn search_for_secrets() {
    let (bench, directory) = bench();
    let mut secrets = vec![std::env::var(PLANTED).unwrap(), "argument-3f1c77ab".to_owned()];
    assert!(std::env::args().any(|argument| argument == secrets[1]), "the argument is planted");
    let in_a_file = directory.path().join("file");
    std::fs::write(&in_a_file, secret("file")).unwrap();
    let descriptor = std::fs::File::open(&in_a_file).unwrap();
    let mut nameless =
        std::fs::File::from(rustix::fs::memfd_create(secret("descriptor"), MemfdFlags::empty()).unwrap());
    nameless.write_all(secret("nameless").as_bytes()).unwrap();
    // Without care, both would be handed down to every program that this one starts.
    rustix::io::fcntl_setfd(&descriptor, FdFlags::empty()).unwrap();
    rustix::io::fcntl_setfd(&nameless, FdFlags::empty()).unwrap();
    secrets.extend(["file", "descriptor", "nameless"].map(secret));
    let other = bench.staged("hidden-other").await;
    let files = vec![bench.file("secret", BatchFileKind::File, secret("other").as_bytes()).await];
    let tree = Digest::of(b"a tree of another run");
    bench.port.write_files(&other.lease, FileBatch { tree, files }).await.unwrap();
    secrets.extend([secret("other"), other.lease.lease.as_str().to_owned()]);
    for of_the_host in ["/proc/sys/kernel/random/boot_id", "/proc/cmdline"] {
        let text = std::fs::read_to_string(of_the_host).unwrap_or_default();
        secrets.extend(
            text.trim().get(..text.trim().len().min(36)).filter(|text| text.len() > 8).map(str::to_owned),
        );
    }

    let staged = bench.staged("hidden-mine").await;
    // The search finds what is there: in the environment, in memory, in a file, a name and a link.
    let given = secret("given");
    let at = found(&bench, &staged, &given, &[&given, "content", "sub", "/proc/self/fd"]).await;
    for end in ["/environ", "/mem", "/workspace/sub/file", "/workspace/sub name", "/dev/fd link"] {
        assert!(at.iter().any(|at| at.ends_with(end)), "{end}: {at:?}");
    }
    let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
    assert!(secrets.len() >= 8, "{secrets:?}");
    assert_eq!(found(&bench, &staged, "", &secrets).await, Vec::<String>::new(), "{secrets:?}");
    // The kernel tells where in its file system a mount begins, and nothing else does.
    let state = directory.path().file_name().unwrap().to_str().unwrap();
    let at = found(&bench, &staged, "", &[state]).await;
    assert!(!at.is_empty() && at.iter().all(|at| at.ends_with("/mountinfo")), "{at:?}");
    bench.destroy(&other).await;
    bench.destroy(&staged).await;
}

// proves E-J12
// break crates/adapters/sandbox-linux/src/spawner.rs: `.arg0("sandbox")` -> `.arg0(std::env::current_exe()?)`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_process_cannot_be_looked_into() {
    let (bench, _directory) = bench();
    let staged = bench.staged("hidden-first").await;
    for file in ["environ", "maps", "mem", "auxv", "smaps", "io", "syscall"] {
        bench.refused(&staged, &["path-call", "2", &format!("/proc/1/{file}"), "0"], &[EACCES, 1]).await;
        bench.allowed(&staged, &["path-call", "2", &format!("/proc/self/{file}"), "0"]).await;
    }
    for directory in ["fd", "fdinfo", "cwd", "root", "map_files"] {
        bench.refused(&staged, &["list", &format!("/proc/1/{directory}")], &[EACCES, 1]).await;
    }
    for directory in ["fd", "fdinfo", "cwd", "root"] {
        bench.allowed(&staged, &["list", &format!("/proc/self/{directory}")]).await;
    }
    let seen = bench.probe(&staged, &["read", "/proc/1/cmdline"]).await;
    // It gave back the memory in which the kernel had put its arguments.
    assert_eq!(bench.blob(seen.stdout.artifact).await, "ok 0\n");
    bench.destroy(&staged).await;
}

// proves E-J12
// break crates/adapters/sandbox-linux/guest/src/roles/proc.rs: `unless_absent(mount_bind(empty, *path))?;` -> `let _ = path;`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn proc_tells_nothing_of_the_host() {
    let (bench, _directory) = bench();
    confinement::proc_tells_nothing_of_the_host(&bench).await;
}

#[test]
fn nothing_is_visible_to_an_ordinary_users_sandbox_either() {
    for test in ["the_first_process_cannot_be_looked_into", "secrets_of_the_control_plane_are_not_inside"] {
        holds_as_nobody(&format!("hidden::{test}"));
    }
}
