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

struct Row(&'static str, Vec<Duration>);

impl Row {
    fn print(&mut self, against: Duration) -> Duration {
        self.1.sort();
        let at = |part: usize| self.1[(self.1.len() * part / 100).min(self.1.len() - 1)];
        let ratio = at(50).as_secs_f64() / against.as_secs_f64();
        let us = |duration: Duration| duration.as_secs_f64() * 1e6;
        println!(
            "{:<44} min {:>7.0}  p50 {:>7.0}  p90 {:>7.0} us   {ratio:>5.2}x",
            self.0,
            us(self.1[0]),
            us(at(50)),
            us(at(90))
        );
        at(50)
    }
}

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
    let names = [
        "bare, static",
        "bare, /usr/bin/true",
        "live sandbox, static",
        "live sandbox, /usr/bin/true",
        "live sandbox, back to back, static",
        "live sandbox, back to back, /usr/bin/true",
        "fresh sandbox, static: allocated",
        "  and the tree staged",
        "  and the answer there",
        "  and destroyed",
        "fresh sandbox, /usr/bin/true: allocated",
        "  and the tree staged",
        "  and the answer there",
        "  and destroyed",
        "bwrap --unshare-all, /usr/bin/true",
    ];
    let mut rows: Vec<Row> = names.into_iter().map(|name| Row(name, Vec::new())).collect();
    let bwrap =
        ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", TRUE];
    for round in 0..rounds {
        rows[0].1.push(bare(prober, &["exit", "0"]));
        rows[1].1.push(bare(TRUE, &[]));
        for (row, program, idle) in [
            (2, None, IDLE),
            (3, Some(TRUE), IDLE),
            (4, None, Duration::ZERO),
            (5, Some(TRUE), Duration::ZERO),
        ] {
            rows[row].1.push(live(&bench, &staged, program, idle).await);
        }
        for (row, program) in [(6, None), (10, Some(TRUE))] {
            // The guest that waits is made anew, as between runs.
            tokio::time::sleep(Duration::from_millis(60)).await;
            for (phase, until) in fresh(&bench, 2 * round + row, program).await.into_iter().enumerate() {
                rows[row + phase].1.push(until);
            }
        }
        if has_bwrap {
            rows[14].1.push(bare("bwrap", &bwrap));
        }
    }
    bench.destroy(&staged).await;
    let limits = [rows[0].print(Duration::from_micros(100)), rows[1].print(Duration::from_micros(1000))];
    println!();
    for (row, limit) in [
        (2, 0),
        (3, 1),
        (4, 0),
        (5, 1),
        (6, 0),
        (7, 0),
        (8, 0),
        (9, 0),
        (10, 1),
        (11, 1),
        (12, 1),
        (13, 1),
        (14, 1),
    ] {
        if !rows[row].1.is_empty() {
            rows[row].print(limits[limit]);
        }
    }
}
