//! What a sandbox costs beside the bare start of the same program, all measured in turns within one process.
//!
//! `cargo run --release -p ambit-sandbox-linux --example measure [ROUNDS]`. The image is the host's own root, so that the
//! same `/usr/bin/true` runs everywhere. `bwrap` is measured where it is installed.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement, run by hand")]

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_conformance::sandbox::{Bench, Staged};
use ambit_ports::sandbox::NamedCommand;
use ambit_sandbox_linux::{LinuxSandboxes, PROBER};
use bytes::Bytes;

#[path = "../tests/it/support.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests")]
mod support;

/// Between a command and the next one of the same run.
const IDLE: Duration = Duration::from_millis(5);
const TRUE: &str = "/usr/bin/true";

fn bare(program: &str, arguments: &[&str]) -> Duration {
    let started = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let took = started.elapsed();
    assert!(status.is_ok_and(|status| status.success()), "{program}");
    took
}

fn command(bench: &Bench, staged: &Staged, program: Option<&str>) -> NamedCommand {
    let mut command = bench.command(staged, &["exit", "0"]);
    if let Some(program) = program {
        command.argv = vec![program.to_owned()];
    }
    command
}

/// In a live sandbox, some time after the last command: the guest prepares the next one when it is idle.
async fn live(bench: &Bench, staged: &Staged, program: Option<&str>, idle: Duration) -> Duration {
    tokio::time::sleep(idle).await;
    let command = command(bench, staged, program);
    let started = Instant::now();
    let seen = bench.execute(staged, command).await;
    let took = started.elapsed();
    assert!(seen.ending.is_success(), "{seen:?}");
    took
}

/// The life of a sandbox, by its verbs.
async fn fresh(bench: &Bench, number: usize, program: Option<&str>) -> [Duration; 4] {
    let started = Instant::now();
    let lease = bench.port.allocate(bench.spec(&format!("measured-{number}"))).await.unwrap();
    let allocated = started.elapsed();
    let batch = bench.batch().await;
    let staged = Staged { lease, tree: batch.tree };
    bench.port.write_files(&staged.lease, batch).await.unwrap();
    let written = started.elapsed();
    let seen = bench.execute(&staged, command(bench, &staged, program)).await;
    let ran = started.elapsed();
    bench.destroy(&staged).await;
    assert!(seen.ending.is_success(), "{seen:?}");
    [allocated, written, ran, started.elapsed()]
}

/// Which bare start a row is compared with.
#[derive(Clone, Copy)]
enum Against {
    Static,
    Dynamic,
}

#[derive(Default)]
struct Rows(Vec<(&'static str, Option<Against>, Vec<Duration>)>);

impl Rows {
    fn add(&mut self, name: &'static str, against: Option<Against>, took: Duration) {
        match self.0.iter_mut().find(|(row, ..)| *row == name) {
            Some((.., samples)) => samples.push(took),
            None => self.0.push((name, against, vec![took])),
        }
    }

    fn print(&mut self) {
        self.0.iter_mut().for_each(|(.., samples)| samples.sort());
        let at =
            |samples: &[Duration], part: usize| samples[(samples.len() * part / 100).min(samples.len() - 1)];
        let bare = [at(&self.0[0].2, 50), at(&self.0[1].2, 50)].map(|duration| duration.as_secs_f64());
        for (name, against, samples) in &self.0 {
            let [least, half, most] = [0, 50, 90].map(|part| at(samples, part).as_secs_f64() * 1e6);
            let ratio = against
                .map_or_else(String::new, |against| format!("{:>6.2}x", half / 1e6 / bare[against as usize]));
            println!("{name:<46} min {least:>7.0}  p50 {half:>7.0}  p90 {most:>7.0} us {ratio}");
        }
    }
}

const FRESH: [(Against, Option<&str>, [&str; 4]); 2] = [
    (
        Against::Static,
        None,
        [
            "fresh sandbox, static: allocated",
            "fresh sandbox, static: and the tree staged",
            "fresh sandbox, static: and the answer there",
            "fresh sandbox, static: and destroyed",
        ],
    ),
    (
        Against::Dynamic,
        Some(TRUE),
        [
            "fresh sandbox, true: allocated",
            "fresh sandbox, true: and the tree staged",
            "fresh sandbox, true: and the answer there",
            "fresh sandbox, true: and destroyed",
        ],
    ),
];

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    // As a task, like every caller in the control plane: the thread that started the runtime is woken by a worker only.
    runtime.block_on(async { tokio::spawn(measure()).await }).unwrap();
}

async fn measure() {
    let rounds: usize = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(60);
    let directory = tempfile::tempdir().unwrap();
    let prober = directory.path().join("prober");
    std::fs::write(&prober, PROBER).unwrap();
    std::fs::set_permissions(&prober, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let prober = prober.to_str().unwrap();
    let port: LinuxSandboxes = support::adapter(directory.path().join("state"), PathBuf::from("/"));
    let bench = Bench::new(Arc::new(port), support::image_digest(), Bytes::from_static(PROBER));

    let measured = Instant::now();
    let manifest = bench.port.inspect_capabilities().await.unwrap();
    println!("inspect_capabilities: {:?}, {:?}", measured.elapsed(), manifest.limits);
    for lack in &manifest.lacks {
        println!("lacks {}: {}", lack.feature, lack.consequence);
    }

    let has_bwrap = Command::new("bwrap").arg("--version").output().is_ok();
    let staged = bench.staged("measured-live").await;
    let mut rows = Rows::default();
    for number in 0..rounds {
        round(&bench, &staged, prober, number, &mut rows).await;
        if has_bwrap {
            rows.add("bwrap --unshare-all, true", Some(Against::Dynamic), bare("bwrap", &BWRAP));
        }
    }
    bench.destroy(&staged).await;
    rows.print();
}

const BWRAP: [&str; 11] =
    ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", TRUE];

async fn round(bench: &Bench, staged: &Staged, prober: &str, number: usize, rows: &mut Rows) {
    let (fixed, dynamic) = (Some(Against::Static), Some(Against::Dynamic));
    rows.add("bare, static", None, bare(prober, &["exit", "0"]));
    rows.add("bare, /usr/bin/true", None, bare(TRUE, &[]));
    rows.add("live sandbox, static", fixed, live(bench, staged, None, IDLE).await);
    rows.add("live sandbox, true", dynamic, live(bench, staged, Some(TRUE), IDLE).await);
    rows.add("live sandbox, static, back to back", fixed, live(bench, staged, None, Duration::ZERO).await);
    rows.add(
        "live sandbox, true, back to back",
        dynamic,
        live(bench, staged, Some(TRUE), Duration::ZERO).await,
    );
    for (arm, (against, program, names)) in FRESH.into_iter().enumerate() {
        // The guest that waits is made anew, as between runs.
        tokio::time::sleep(Duration::from_millis(60)).await;
        for (name, until) in names.into_iter().zip(fresh(bench, 2 * number + arm, program).await) {
            rows.add(name, Some(against), until);
        }
    }
}
