//! Output and deadlines where the other side does not play along: a flood, a guest that stands still.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ambit_conformance::sandbox::{PROMPT, Staged};
use ambit_gates::{Ending, ResourceLimit};
use ambit_ids::{ByteCount, Content, Digest, DurationMs, ExecutionLimits, Scope};
use ambit_ports::blobs::{BlobBatch, BlobError, BlobStore, BlobWriter};
use ambit_ports::sandbox::{ExecutionObservation, NamedCommand, SandboxSpec, Sight, Tap};
use ambit_ports::{AbortHandle, AbortSignal};
use async_trait::async_trait;
use bytes::Bytes;
use rustix::process::{Pid, Signal, kill_process};

use crate::support::bench;

/// Longer than anything prompt takes.
const LONG_MS: u64 = 300_000;

/// Takes what is written, counts it, and keeps nothing of it.
struct Drain<T> {
    inner: T,
    taken: Arc<AtomicU64>,
}

#[async_trait]
impl<T: BlobStore> BlobStore for Drain<T> {
    async fn put(&self, scope: &Scope, bytes: Bytes) -> Result<Digest, BlobError> {
        self.inner.put(scope, bytes).await
    }

    async fn create(&self, _: &Scope) -> Result<Box<dyn BlobWriter>, BlobError> {
        Ok(Box::new(Drain { inner: (), taken: Arc::clone(&self.taken) }))
    }

    async fn batch<'a>(&'a self, scope: &Scope) -> Result<Box<dyn BlobBatch + 'a>, BlobError> {
        self.inner.batch(scope).await
    }

    async fn get(&self, scope: &Scope, digest: Digest, limit: ByteCount) -> Result<Bytes, BlobError> {
        self.inner.get(scope, digest, limit).await
    }

    async fn get_many(
        &self,
        scope: &Scope,
        digests: &[Digest],
        limit: ByteCount,
    ) -> Vec<Result<Content, BlobError>> {
        self.inner.get_many(scope, digests, limit).await
    }

    async fn contains(&self, scope: &Scope, digest: Digest) -> Result<bool, BlobError> {
        self.inner.contains(scope, digest).await
    }
}

#[async_trait]
impl BlobWriter for Drain<()> {
    async fn write(&mut self, chunk: &[u8]) -> Result<(), BlobError> {
        self.taken.fetch_add(chunk.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    async fn finish(self: Box<Self>) -> Result<(Digest, ByteCount), BlobError> {
        Ok((Digest::of(b"a flood"), ByteCount::new(self.taken.load(Ordering::Relaxed))))
    }
}

/// The memory of this process that is in use, in bytes.
fn resident_bytes() -> u64 {
    let table = std::fs::read_to_string("/proc/self/statm").unwrap();
    table.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// A flood of a gigabyte goes through a process without staying in it, though somebody watches who never looks.
// proves E-J09
// break crates/mechanisms/capture/src/lib.rs: `self.tail.drain(..self.tail.len().saturating_sub(WINDOW_BYTES));` -> `let _ = &self.tail;`
#[test]
fn a_flood_leaves_the_memory_flat() {
    let test = ["streams::what_a_flood_leaves_in_memory", "--exact", "--ignored", "--nocapture"];
    let output = Command::new(std::env::current_exe().unwrap()).args(test).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

/// In a process of its own, because the memory of the whole process is counted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "only as the process that a_flood_leaves_the_memory_flat starts"]
async fn what_a_flood_leaves_in_memory() {
    const FLOOD: u64 = 1 << 30;
    let (bench, _directory) = bench();
    let taken = Arc::new(AtomicU64::new(0));
    let limits =
        ExecutionLimits { output_bytes: ByteCount::new(2 * FLOOD), ..bench.spec("streams-flood").limits };
    let blobs = Drain { inner: bench.blobs.clone(), taken: Arc::clone(&taken) };
    let spec = SandboxSpec { limits, blobs: Arc::new(blobs), ..bench.spec("streams-flood") };
    let staged = bench.staged_from(spec).await;
    let mut command = bench.command(&staged, &["print", &FLOOD.to_string()]);
    command.limits = limits;
    let (tap, mut watcher) = Tap::new();
    command.tap = Some(tap);
    let before = resident_bytes();
    let running = bench.execute(&staged, command);
    let watching = async {
        let mut most = before;
        loop {
            tokio::time::sleep(Duration::from_millis(20)).await;
            most = most.max(resident_bytes());
            if taken.load(Ordering::Relaxed) >= FLOOD {
                return most;
            }
        }
    };
    let (seen, most) = tokio::join!(running, watching);
    assert!(seen.ending.is_success() && seen.stdout.truncated, "{seen:?}");
    assert!(seen.stdout.bytes.get() > FLOOD && seen.stdout.tail.ends_with(&format!("xok {FLOOD}\n")));
    let grown = most.saturating_sub(before);
    assert!(grown < 16 << 20, "{grown} bytes more are in use during the flood");
    let mut told = [0; 2];
    while let Some(sight) = watcher.next().await {
        match sight {
            Sight::Text { bytes, .. } => told[0] += bytes,
            Sight::Gap { bytes, .. } => told[1] += bytes,
        }
    }
    assert!(told[0] > 0 && told[1] > FLOOD - (16 << 20), "{told:?} were seen and missed");
    assert_eq!(told[0] + told[1], seen.stdout.bytes.get());
    bench.destroy(&staged).await;
}

/// The process of the host that waits for a command: the guest that this one's mark leads to.
async fn guest_of(mark: &str) -> Pid {
    let began = Instant::now();
    while began.elapsed() < PROMPT {
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let read = |what: &str| std::fs::read(entry.path().join(what)).unwrap_or_default();
            if !read("environ").windows(mark.len()).any(|window| window == mark.as_bytes()) {
                continue;
            }
            let status = String::from_utf8_lossy(&read("status")).into_owned();
            let parent = status.lines().find_map(|line| line.strip_prefix("PPid:\t"));
            if let Some(parent) = parent.and_then(|it| Pid::from_raw(it.parse().ok()?)) {
                return parent;
            }
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("no process has the mark");
}

/// Sends its guest a signal as soon as a command that goes on is seen, and answers what was seen of that; `None` where its
/// time was over by then.
async fn with_a_signal_to_the_guest(
    signal: Signal,
    run: &str,
    wall_ms: u64,
    abort: AbortSignal,
    sent: impl FnOnce(),
) -> Option<ExecutionObservation> {
    let (bench, _directory) = bench();
    let staged: Staged = bench.staged(run).await;
    let mark = format!("{run}-{}", std::process::id());
    let mut command: NamedCommand = bench.command(&staged, &["family", "2"]);
    command.environment = vec![("MARK".into(), mark.clone())];
    command.limits.wall_ms = DurationMs::new(wall_ms);
    let mut running = bench.port.execute_named(&staged.lease, command, abort);
    let guest = tokio::select! {
        biased;
        _ = &mut running => return None,
        guest = guest_of(&mark) => guest,
    };
    kill_process(guest, signal).unwrap();
    sent();
    let settled = tokio::time::timeout(PROMPT, running).await;
    let seen = settled.unwrap_or_else(|_| panic!("the execution is not settled")).unwrap();
    bench.destroy(&staged).await;
    Some(seen)
}

// proves E-J10
// break crates/adapters/sandbox-linux/src/execute.rs: `() = sleep_until(deadline), if !stopping => Event::Stop(Stop::Deadline),` -> `() = std::future::pending(), if !stopping => Event::Stop(Stop::Deadline),`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_that_stands_still_is_ended_by_the_second_deadline() {
    // On a busy machine a command may be over before its guest is found.
    for wall_ms in [300, 3000, 30_000] {
        let (_handle, signal) = AbortHandle::new();
        let seen = with_a_signal_to_the_guest(Signal::STOP, "still-deadline", wall_ms, signal, || {}).await;
        if let Some(seen) = seen {
            assert_eq!(seen.ending, Ending::LimitReached { limit: ResourceLimit::Timeout });
            return;
        }
    }
    panic!("no guest is found in its time");
}

// proves E-I12
// break crates/adapters/sandbox-linux/src/execute.rs: `Event::Stop(stop) => overdue = Some(self.request_stop(stop).await),` -> `Event::Stop(stop) => overdue = Some(self.request_stop(stop).await + Duration::from_secs(600)),`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_that_stands_still_is_aborted_all_the_same() {
    let (handle, signal) = AbortHandle::new();
    let abort = || handle.abort();
    let seen = with_a_signal_to_the_guest(Signal::STOP, "still-abort", LONG_MS, signal, abort).await;
    assert_eq!(seen.unwrap().ending, Ending::Aborted);
}

/// Output without an end is told as that, and what was said is kept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_without_an_exit_is_no_success() {
    let (_handle, abort) = AbortHandle::new();
    let seen = with_a_signal_to_the_guest(Signal::KILL, "streams-lost", LONG_MS, abort, || {}).await;
    assert_eq!(seen.unwrap().ending, Ending::Indeterminate);
}
