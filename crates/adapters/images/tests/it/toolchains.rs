//! The tools of whole languages, captured and at work in a real sandbox, without a network: as this user, and as one
//! without any privilege, whose sandboxes no control group bounds.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use ambit_conformance::sandbox::{Bench, BenchVolumes, Staged};
use ambit_gates::Ending;
use ambit_ids::{ByteCount, Digest, DurationMs, ExecutionLimits};
use ambit_images::DirectoryImages;
use ambit_ports::sandbox::{BatchFileKind, FileBatch, Lives, SandboxError};
use ambit_runtime_system::{SystemClock, TimeOrderedIds};
use ambit_sandbox_linux::{LinuxSandboxes, PROBER, Settings};
use bytes::Bytes;

use crate::running::tell;
use crate::world::{is_installed, request, wait};

/// Set for the copy of this program that runs as another user: the store, the digest of the image, the name of the
/// toolchain.
const AGAIN: [&str; 3] = ["AMBIT_TEST_STORE", "AMBIT_TEST_IMAGE", "AMBIT_TEST_TOOLCHAIN"];
const NOBODY: u32 = 65534;

const LIMITS: ExecutionLimits = ExecutionLimits {
    memory_bytes: ByteCount::new(1 << 30),
    processes: 128,
    cpu_millis: 2000,
    cpu_time_ms: DurationMs::new(120_000),
    wall_ms: DurationMs::new(120_000),
    disk_bytes: ByteCount::new(512 << 20),
    output_bytes: ByteCount::new(1 << 20),
};

/// What a gate of such a project would be given. Nothing in the image or in the workspace's home can be written.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("HOME", "/home/sandbox"),
    ("GOCACHE", "/tmp/go-build"),
    ("CGO_ENABLED", "0"),
    ("CARGO_HOME", "/tmp/cargo"),
    ("CARGO_TARGET_DIR", "/tmp/target"),
];

/// The tools of a language, a project in it, and commands with what they must say.
struct Toolchain {
    name: &'static str,
    tools: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
    commands: &'static [(&'static [&'static str], &'static str)],
}

const NODE: Toolchain = Toolchain {
    name: "node",
    tools: &["node", "npm", "make"],
    files: &[
        (
            "package.json",
            r#"{"name": "sums", "version": "1.0.0", "scripts": {"test": "node --test", "greet": "echo hello $npm_package_name"}}"#,
        ),
        (
            "sums.test.mjs",
            "import test from 'node:test';\nimport assert from 'node:assert';\nimport { Worker } from 'node:worker_threads';\n\
             test('adds', () => assert.equal(6 * 7, 42));\n\
             test('works beside', async () => {\n  const worker = new Worker('process.exit(0)', { eval: true });\n  \
             assert.equal(await new Promise((done) => worker.on('exit', done)), 0);\n});\n\
             test('speaks', () => assert.equal(new Intl.NumberFormat('de').format(1234.5), '1.234,5'));\n",
        ),
        ("makefile", "all: test\ntest:\n\t@echo made $$((6 * 7))\n\t@node --version\n"),
    ],
    commands: &[
        (&["node", "--test"], "pass 3"),
        (&["npm", "test"], "pass 3"),
        (&["npm", "run", "greet"], "hello sums"),
        (&["make", "-j2"], "made 42"),
    ],
};

const RUST: Toolchain = Toolchain {
    name: "rust",
    tools: &["cargo", "cc", "sh"],
    files: &[
        (
            "Cargo.toml",
            "[package]\nname = \"sums\"\nversion = \"0.1.0\"\nedition = \"2021\"\nbuild = \"build.rs\"\n",
        ),
        ("Cargo.lock", "version = 3\n\n[[package]]\nname = \"sums\"\nversion = \"0.1.0\"\n"),
        (
            "build.rs",
            "fn main() {\n    let out = std::env::var(\"OUT_DIR\").unwrap();\n    let run = |words: &[&str]| \
             assert!(std::process::Command::new(words[0]).args(&words[1..]).status().unwrap().success());\n    \
             run(&[\"cc\", \"-O2\", \"-Wall\", \"-c\", \"six.c\", \"-o\", &format!(\"{out}/six.o\")]);\n    \
             run(&[\"ar\", \"crs\", &format!(\"{out}/libsix.a\"), &format!(\"{out}/six.o\")]);\n    \
             println!(\"cargo:rustc-link-search=native={out}\");\n    println!(\"cargo:rustc-link-lib=static=six\");\n}\n",
        ),
        (
            "six.c",
            "#include <stdio.h>\n#include <sys/stat.h>\n#include <pthread.h>\nint six(void) { return printf(\"in C\\n\") + 1; }\n",
        ),
        (
            "src/lib.rs",
            "extern \"C\" { fn six() -> i32; }\n/// Adds.\n///\n/// ```\n/// assert_eq!(sums::seven(), 7);\n/// ```\n\
             pub fn seven() -> i32 { 7 }\n#[test]\nfn adds() { \
             assert_eq!(std::thread::spawn(|| unsafe { six() } * seven()).join().unwrap(), 42); }\n",
        ),
    ],
    commands: &[
        (&["cargo", "test", "--offline"], "1 passed"),
        (
            &[
                "sh",
                "-c",
                "printf '#include <math.h>\\nint main(int c, char **v) { return (int) cos(c - 1) - 1; }' > /tmp/a.c && \
           cc -O0 -g -o /tmp/a /tmp/a.c -lm -lpthread && /tmp/a && echo linked",
            ],
            "linked",
        ),
    ],
};

const GO: Toolchain = Toolchain {
    name: "go",
    tools: &["go"],
    files: &[
        ("go.mod", "module sums\n\ngo 1.18\n"),
        (
            "sums.go",
            "package sums\n\nimport \"strings\"\n\nfunc Seven() int { return len(strings.TrimSpace(\" options \")) }\n",
        ),
        (
            "sums_test.go",
            "package sums\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestAdds(t *testing.T) {\n\tif 6*Seven() != 42 {\n\t\t\
             t.Fatal(\"no\")\n\t}\n\tif _, err := time.LoadLocation(\"UTC\"); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n",
        ),
    ],
    commands: &[(&["go", "test", "./..."], "ok")],
};

/// Captures the toolchain and lets it work, once for each kind of user; says what is skipped where a tool is absent.
fn captured_it_works(toolchain: &Toolchain, test: &str) {
    if let Some(absent) = toolchain.tools.iter().find(|tool| !is_installed(tool)) {
        println!("skipped: TOOL_ABSENT {test} ({absent})");
        return;
    }
    let store = open_to_anyone();
    let images = DirectoryImages::open(store.path()).unwrap();
    let started = Instant::now();
    let report = wait(images.capture(request("default", toolchain.tools))).unwrap();
    tell(&report, started);
    let image = report.image.digest;
    work(store.path(), image, toolchain);
    if rustix::process::geteuid().is_root() {
        let program = store.path().join("it");
        // By another process: what a thread beside this one has open for writing in its new child cannot be executed.
        assert!(
            Command::new("cp")
                .arg(std::env::current_exe().unwrap())
                .arg(&program)
                .status()
                .unwrap()
                .success()
        );
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let home = open_to_anyone();
        let values = [store.path().to_str().unwrap(), &image.to_string(), toolchain.name].map(str::to_owned);
        let output = Command::new(&program)
            .args(["toolchains::child_that_works_as_anyone", "--exact", "--ignored", "--nocapture"])
            .envs(AGAIN.into_iter().zip(values))
            .env("TMPDIR", home.path())
            .current_dir(home.path())
            .uid(NOBODY)
            .gid(NOBODY)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        println!("{said}");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(said.contains("1 passed"), "{said}");
    }
    let _ = Command::new("chmod").args(["-R", "u+w"]).arg(store.path()).status();
}

fn open_to_anyone() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
    directory
}

/// Not a test of its own: a process without any privilege.
#[test]
#[ignore = "other tests run it, as another user"]
fn child_that_works_as_anyone() {
    let [store, image, name] = AGAIN.map(|name| std::env::var(name).expect("what the other test sets"));
    let toolchain = [NODE, RUST, GO].into_iter().find(|toolchain| toolchain.name == name).unwrap();
    work(&PathBuf::from(store), image.parse().unwrap(), &toolchain);
}

fn work(store: &Path, image: Digest, toolchain: &Toolchain) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(work_in_sandbox(store, image, toolchain));
}

async fn work_in_sandbox(store: &Path, image: Digest, toolchain: &Toolchain) {
    let state = tempfile::tempdir().unwrap();
    let images = DirectoryImages::open(store).unwrap();
    let settings = Settings { root: state.path().join("state"), spare_guests: 0 };
    let ids = TimeOrderedIds::default();
    let images = Arc::new(images);
    let port =
        LinuxSandboxes::new(settings, images.clone(), images, Arc::new(SystemClock), Arc::new(ids)).unwrap();
    let bench = Bench::new(Arc::new(port), image, BenchVolumes::absent(), Bytes::from_static(PROBER));
    let mut spec = bench.spec(&format!("toolchain-{}", toolchain.name));
    spec.limits = LIMITS;
    let started = Instant::now();
    let lease = match bench.port.allocate(spec).await {
        Err(SandboxError::Unavailable(missing)) => {
            println!("skipped: SANDBOX_UNAVAILABLE {} ({missing:?})", toolchain.name);
            return;
        }
        other => other.unwrap(),
    };
    println!("{}: verified and allocated in {} ms", toolchain.name, started.elapsed().as_millis());
    let mut files = Vec::new();
    for (path, content) in toolchain.files {
        files.push(bench.file(path, BatchFileKind::File, content.as_bytes()).await);
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    let tree = Digest::of(toolchain.name.as_bytes());
    bench.port.write_files(&lease, FileBatch { tree, files }).await.unwrap();
    let staged = Staged { lease, tree };
    for (words, expected) in toolchain.commands {
        let mut command = bench.command(&staged, &[]);
        command.argv = words.iter().map(|word| (*word).to_owned()).collect();
        command.environment =
            ENVIRONMENT.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        command.limits = LIMITS;
        let seen = bench.execute(&staged, command).await;
        println!("{words:?} in {} ms, {:?} at most", seen.duration_ms.get(), seen.peak_memory_bytes);
        assert_eq!(seen.ending, Ending::Exited { code: 0 }, "{words:?}: {seen:#?}");
        assert!(seen.breaches.is_empty(), "{words:?}: {seen:#?}");
        let said = format!("{}{}", seen.stdout.head, seen.stdout.tail);
        assert!(said.contains(expected), "{words:?}: {seen:#?}");
    }
    let receipt = bench.port.destroy(&staged.lease, Lives::Named).await.unwrap();
    assert!(receipt.is_proof(), "{receipt:?}");
}

#[test]
fn node_npm_and_make_test_a_project_offline() {
    captured_it_works(&NODE, "node_npm_and_make_test_a_project_offline");
}

#[test]
fn cargo_tests_a_crate_with_c_in_it_offline() {
    captured_it_works(&RUST, "cargo_tests_a_crate_with_c_in_it_offline");
}

#[test]
fn go_tests_a_module_offline() {
    captured_it_works(&GO, "go_tests_a_module_offline");
}
