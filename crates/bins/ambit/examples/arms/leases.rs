//! Leases as a busy machine has them: with large trees, many at once, beside many that wait, and ended in the middle.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_ids::DurationMs;
use ambit_ports::AbortHandle;
use ambit_ports::sandbox::{CancellationReceipt, SandboxLease, SandboxPort as _};
use ambit_run::StopReason;
use async_trait::async_trait;

use crate::failed;
use crate::failure::Failure;
use crate::protocol::{Arm, answer, pause};
use crate::sandbox::{Backend, UNTIL_A_GUEST_WAITS};

/// A lease with a private workspace over a tree of so many files, to its first output, where a slot waits. The tree is
/// named by its digest, or, where it is not `recalled`, file by file.
pub(crate) async fn lease(files: usize, recalled: bool) -> Result<(), Failure> {
    let backend = Backend::open(1, files).await?;
    answer(&mut Lease { backend, recalled }).await
}

struct Lease {
    backend: Backend,
    recalled: bool,
}

#[async_trait]
impl Arm for Lease {
    async fn operate(&mut self) -> Result<Duration, Failure> {
        let started = Instant::now();
        let lease = self.backend.allocate().await?;
        if self.recalled {
            self.backend.bring(&lease).await?;
        } else {
            self.backend.list(&lease).await?;
        }
        self.backend.say(&lease).await?;
        let took = started.elapsed();
        self.backend.remove(&lease).await?;
        pause(UNTIL_A_GUEST_WAITS).await;
        Ok(took)
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        pool(&self.backend)
    }

    async fn run(&mut self, script: &str) -> Result<Option<String>, Failure> {
        self.backend.run(script).await
    }
}

/// What the pool did: whether each lease found a slot, and what it costs to make one.
fn pool(backend: &Backend) -> Vec<(&'static str, u64)> {
    let counts = backend.port.pool_counts();
    let each = counts.refill_cpu_us.checked_div(counts.refills).unwrap_or(0);
    vec![("poolMisses", counts.misses), ("treesForeseen", counts.foreseen), ("refillCpuUs", each)]
}

/// From the wish to end a command of so many processes to the proof that none is left.
pub(crate) async fn cancel(processes: usize, contended: bool) -> Result<(), Failure> {
    let backend = Arc::new(Backend::open(1, 1).await?);
    answer(&mut Cancel { backend, processes, contended }).await
}

struct Cancel {
    backend: Arc<Backend>,
    processes: usize,
    contended: bool,
}

impl Cancel {
    /// Cancels a command that had so much time to start its processes.
    async fn cancel(&self, until_all_run: DurationMs) -> Result<(Duration, CancellationReceipt), Failure> {
        let lease = self.backend.allocate().await?;
        self.backend.list(&lease).await?;
        let script = format!(
            "i=1; while [ $i -lt {} ]; do sh -c 'kill -STOP $$' & i=$((i+1)); done; wait",
            self.processes
        );
        let mut command = self.backend.command(&["/usr/bin/sh", "-c", &script])?;
        command.limits.processes = u32::try_from(self.processes * 2).map_err(failed)?;
        let backend = Arc::clone(&self.backend);
        let running = lease.clone();
        let (handle, never) = AbortHandle::new();
        let run =
            tokio::spawn(async move { backend.port.execute_named(&running, command, never).await.map(drop) });
        pause(until_all_run).await;
        let spinners = if self.contended { Some(Spinners::start()?) } else { None };
        if spinners.is_some() {
            pause(DurationMs::new(20)).await;
        }
        let started = Instant::now();
        let receipt =
            self.backend.port.cancel(&lease, &StopReason::CustomerCancelled).await.map_err(failed)?;
        let took = started.elapsed();
        drop((spinners, handle));
        let _ = run.await;
        self.backend.remove(&lease).await?;
        Ok((took, receipt))
    }
}

/// Programs that take every processor whenever nobody else does.
struct Spinners(Vec<Child>);

impl Spinners {
    fn start() -> Result<Self, Failure> {
        let count = std::thread::available_parallelism().map_err(failed)?.get();
        let mut spinners = Self(Vec::new());
        for _ in 0..count {
            let mut spinner = Command::new("nice");
            spinner.args(["-n", "19", "sh", "-c", "exec sh -c 'while :; do :; done'"]).stdin(Stdio::null());
            spinners.0.push(spinner.spawn().map_err(failed)?);
        }
        Ok(spinners)
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        for spinner in &mut self.0 {
            let _ = spinner.kill();
            let _ = spinner.wait();
        }
    }
}

/// Until the command has started all its processes.
const UNTIL_ALL_RUN_MS: u64 = 250;

#[async_trait]
impl Arm for Cancel {
    async fn operate(&mut self) -> Result<Duration, Failure> {
        const TRIES: u64 = 4;
        let mut seen = None;
        for patience in 1..=TRIES {
            let (took, receipt) =
                self.cancel(DurationMs::new(UNTIL_ALL_RUN_MS * patience * patience)).await?;
            if receipt.killed_processes as usize >= self.processes && receipt.remaining_processes == 0 {
                return Ok(took);
            }
            // A busy machine had not started all of them yet.
            seen = Some(receipt);
        }
        Err(Failure::new("ARM_FAILED", format!("{seen:?}")))
    }

    async fn run(&mut self, script: &str) -> Result<Option<String>, Failure> {
        self.backend.run(script).await
    }
}

/// So many leases at once, to the output of the last.
pub(crate) async fn burst(count: usize) -> Result<(), Failure> {
    let backend = Arc::new(Backend::open(count, 1).await?);
    fill(&backend, count).await?;
    answer(&mut Burst { backend, count }).await
}

/// Waits until so many slots wait.
async fn fill(backend: &Backend, slots: usize) -> Result<(), Failure> {
    const TOO_LONG: Duration = Duration::from_secs(60);
    let started = Instant::now();
    // The second shows that the next ones will most likely bring the same tree.
    for _ in 0..2 {
        let lease = backend.allocate().await?;
        backend.list(&lease).await?;
        backend.say(&lease).await?;
        backend.remove(&lease).await?;
    }
    while backend.port.pool_counts().waiting < slots as u64 && started.elapsed() < TOO_LONG {
        pause(DurationMs::new(20)).await;
    }
    Ok(())
}

async fn first_output(backend: Arc<Backend>) -> Result<SandboxLease, Failure> {
    let lease = backend.allocate().await?;
    backend.bring(&lease).await?;
    backend.say(&lease).await?;
    Ok(lease)
}

struct Burst {
    backend: Arc<Backend>,
    count: usize,
}

#[async_trait]
impl Arm for Burst {
    async fn operate(&mut self) -> Result<Duration, Failure> {
        fill(&self.backend, self.count).await?;
        let started = Instant::now();
        let leases: Vec<_> =
            (0..self.count).map(|_| tokio::spawn(first_output(Arc::clone(&self.backend)))).collect();
        let mut made = Vec::new();
        for lease in leases {
            made.push(lease.await.map_err(failed)??);
        }
        let took = started.elapsed();
        for lease in &made {
            self.backend.remove(lease).await?;
        }
        Ok(took)
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        pool(&self.backend)
    }

    async fn run(&mut self, script: &str) -> Result<Option<String>, Failure> {
        self.backend.run(script).await
    }
}

/// A lease to its first output beside as many slots as the machine takes, up to so many, and so many sandboxes in use.
pub(crate) async fn parked(slots: usize, active: usize) -> Result<(), Failure> {
    let backend = Arc::new(Backend::open(slots, 1).await?);
    let before = free_kib()?;
    fill(&backend, slots).await?;
    let waiting = backend.port.pool_counts().waiting;
    let kib_each = before.saturating_sub(free_kib()?).checked_div(waiting).unwrap_or(0);
    let mut leases = Vec::new();
    for _ in 0..active {
        leases.push(first_output(Arc::clone(&backend)).await?);
    }
    let mut arm = Parked { backend, waiting, kib_each };
    answer(&mut arm).await?;
    for lease in &leases {
        arm.backend.remove(lease).await?;
    }
    Ok(())
}

struct Parked {
    backend: Arc<Backend>,
    waiting: u64,
    kib_each: u64,
}

#[async_trait]
impl Arm for Parked {
    async fn operate(&mut self) -> Result<Duration, Failure> {
        let started = Instant::now();
        let lease = first_output(Arc::clone(&self.backend)).await?;
        let took = started.elapsed();
        self.backend.remove(&lease).await?;
        pause(UNTIL_A_GUEST_WAITS).await;
        Ok(took)
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![("parked", self.waiting), ("kibEach", self.kib_each)]
    }

    async fn run(&mut self, script: &str) -> Result<Option<String>, Failure> {
        self.backend.run(script).await
    }
}

/// What the machine could still give away.
fn free_kib() -> Result<u64, Failure> {
    let text = std::fs::read_to_string("/proc/meminfo").map_err(failed)?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| Failure::new("ARM_FAILED", "the machine does not tell its free memory"))
}
