//! A fresh sandbox to its first output, and one more command in a running one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_blobs::DirectoryBlobs;
use ambit_ids::{ByteCount, Digest, DurationMs, ExecutionLimits, RunId, Scope};
use ambit_ports::AbortHandle;
use ambit_ports::blobs::BlobStore;
use ambit_ports::sandbox::{
    BatchFile, BatchFileKind, FileBatch, Lives, NamedCommand, SandboxLease, SandboxPort, SandboxSpec,
};
use ambit_runtime_system::{SystemClock, TimeOrderedIds};
use ambit_sandbox_linux::{LinuxSandboxes, Settings};
use async_trait::async_trait;
use tempfile::TempDir;

use crate::failure::Failure;
use crate::protocol::{Arm, answer, pause};
use crate::{failed, image};

/// What the peers leave unlimited is limited here, wide enough that nothing meets it.
const LIMITS: ExecutionLimits = ExecutionLimits {
    memory_bytes: ByteCount::new(256 << 20),
    processes: 32,
    cpu_millis: 2000,
    cpu_time_ms: DurationMs::new(20_000),
    wall_ms: DurationMs::new(20_000),
    disk_bytes: ByteCount::new(32 << 20),
    output_bytes: ByteCount::new(8 << 20),
};
/// Longer than the backend takes to make the next guest ready.
const UNTIL_A_GUEST_WAITS: DurationMs = DurationMs::new(60);

/// A backend with all that a run brings along.
struct Backend {
    port: LinuxSandboxes,
    image: Digest,
    blobs: Arc<dyn BlobStore>,
    scope: Scope,
    file: BatchFile,
    runs: u64,
    _directory: TempDir,
}

impl Backend {
    async fn open(spare_guests: usize) -> Result<Self, Failure> {
        let directory = tempfile::tempdir_in(".").map_err(failed)?;
        let images = image::open()?;
        let image = image::captured(&images).await?;
        let settings = Settings { root: directory.path().join("sandboxes"), spare_guests };
        let ids = Arc::new(TimeOrderedIds::default());
        let images = Arc::new(images);
        let port = LinuxSandboxes::new(settings, images.clone(), images, Arc::new(SystemClock), ids)
            .map_err(failed)?;
        let blobs = DirectoryBlobs::open(&directory.path().join("blobs")).map_err(failed)?;
        let scope = Scope {
            organization: "bench".parse().map_err(failed)?,
            project: "sandbox".parse().map_err(failed)?,
        };
        let content = b"one file of a tree\n";
        let file = BatchFile {
            path: "source".parse().map_err(failed)?,
            kind: BatchFileKind::File,
            content: blobs.put(&scope, content.as_slice().into()).await.map_err(failed)?,
            size: ByteCount::new(content.len() as u64),
        };
        Ok(Self { port, image, blobs: Arc::new(blobs), scope, file, runs: 0, _directory: directory })
    }

    fn tree(&self) -> Digest {
        Digest::of(b"a tree of one file")
    }

    /// Makes the sandbox of the next run, with a tree in it.
    async fn make(&mut self) -> Result<SandboxLease, Failure> {
        self.runs += 1;
        let spec = SandboxSpec {
            scope: self.scope.clone(),
            run: RunId::new(format!("run_bench-{}", self.runs)).map_err(failed)?,
            image: self.image,
            limits: LIMITS,
            fixtures: Vec::new(),
            volumes: Vec::new(),
            blobs: Arc::clone(&self.blobs),
        };
        let lease = self.port.allocate(spec).await.map_err(failed)?;
        let batch = FileBatch { tree: self.tree(), files: vec![self.file.clone()] };
        self.port.write_files(&lease, batch).await.map_err(failed)?;
        Ok(lease)
    }

    /// Lets the program of the image say the word.
    async fn say(&self, lease: &SandboxLease) -> Result<(), Failure> {
        let command = NamedCommand {
            gate: "say".parse().map_err(failed)?,
            effect: "effect-1".parse().map_err(failed)?,
            tree: self.tree(),
            argv: vec!["/usr/bin/echo".to_owned(), "ready".to_owned()],
            environment: Vec::new(),
            workdir: None,
            limits: LIMITS,
            volumes: Vec::new(),
            outputs: Vec::new(),
        };
        let (_handle, never) = AbortHandle::new();
        let seen = self.port.execute_named(lease, command, never).await.map_err(failed)?;
        if seen.ending.is_success() && seen.stdout.head == "ready\n" {
            return Ok(());
        }
        Err(Failure::new("ARM_FAILED", format!("the command said {:?}: {:?}", seen.stdout.head, seen.ending)))
    }

    async fn remove(&self, lease: &SandboxLease) -> Result<(), Failure> {
        self.port.destroy(lease, Lives::Named).await.map(drop).map_err(failed)
    }
}

/// A sandbox of its own for each performance. Its removal is counted, and is not waited for by whoever wanted the output.
pub(crate) async fn fresh(spare_guests: usize) -> Result<(), Failure> {
    answer(&mut Fresh { backend: Backend::open(spare_guests).await?, waits: spare_guests > 0 }).await
}

struct Fresh {
    backend: Backend,
    waits: bool,
}

#[async_trait]
impl Arm for Fresh {
    async fn operate(&mut self) -> Result<Duration, Failure> {
        let started = Instant::now();
        let lease = self.backend.make().await?;
        self.backend.say(&lease).await?;
        let took = started.elapsed();
        self.backend.remove(&lease).await?;
        if self.waits {
            pause(UNTIL_A_GUEST_WAITS).await;
        }
        Ok(took)
    }
}

/// One sandbox for all performances, each some time after the one before.
pub(crate) async fn exec(idle_ms: u64) -> Result<(), Failure> {
    let mut backend = Backend::open(0).await?;
    let lease = backend.make().await?;
    let mut arm = Exec { backend, lease, idle: DurationMs::new(idle_ms) };
    answer(&mut arm).await?;
    arm.backend.remove(&arm.lease).await
}

struct Exec {
    backend: Backend,
    lease: SandboxLease,
    idle: DurationMs,
}

#[async_trait]
impl Arm for Exec {
    async fn operate(&mut self) -> Result<Duration, Failure> {
        if self.idle > DurationMs::new(0) {
            pause(self.idle).await;
        }
        let started = Instant::now();
        self.backend.say(&self.lease).await?;
        Ok(started.elapsed())
    }
}
