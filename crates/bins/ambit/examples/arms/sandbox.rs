//! A fresh sandbox to its first output, and one more command in a running one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ambit_blobs::DirectoryBlobs;
use ambit_ids::{ByteCount, Digest, DurationMs, ExecutionLimits, PathSet, RunId, Scope};
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
    processes: 160,
    cpu_millis: 2000,
    cpu_time_ms: DurationMs::new(20_000),
    wall_ms: DurationMs::new(20_000),
    disk_bytes: ByteCount::new(32 << 20),
    output_bytes: ByteCount::new(8 << 20),
};
/// Longer than the backend takes to make the next guest ready.
pub(crate) const UNTIL_A_GUEST_WAITS: DurationMs = DurationMs::new(60);

/// A backend with all that a run brings along.
pub(crate) struct Backend {
    pub(crate) port: LinuxSandboxes,
    image: Digest,
    blobs: Arc<dyn BlobStore>,
    scope: Scope,
    files: Vec<BatchFile>,
    runs: AtomicU64,
    _directory: TempDir,
}

impl Backend {
    /// One whose runs have a tree of so many files.
    pub(crate) async fn open(spare_guests: usize, files: usize) -> Result<Self, Failure> {
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
        let files = tree_of(files, &blobs, &scope).await?;
        let runs = AtomicU64::new(0);
        Ok(Self { port, image, blobs: Arc::new(blobs), scope, files, runs, _directory: directory })
    }

    fn tree(&self) -> Digest {
        Digest::of(format!("a tree of {} files", self.files.len()).as_bytes())
    }

    /// Makes the sandbox of the next run.
    pub(crate) async fn allocate(&self) -> Result<SandboxLease, Failure> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        let spec = SandboxSpec {
            scope: self.scope.clone(),
            run: RunId::new(format!("run_bench-{run}")).map_err(failed)?,
            image: self.image,
            limits: LIMITS,
            fixtures: Vec::new(),
            volumes: Vec::new(),
            blobs: Arc::clone(&self.blobs),
        };
        self.port.allocate(spec).await.map_err(failed)
    }

    /// Brings the tree, named file by file.
    pub(crate) async fn list(&self, lease: &SandboxLease) -> Result<(), Failure> {
        let batch = FileBatch { tree: self.tree(), files: self.files.clone() };
        self.port.write_files(lease, batch).await.map(drop).map_err(failed)
    }

    /// Brings the tree by its digest, and only where no run had it before file by file.
    pub(crate) async fn bring(&self, lease: &SandboxLease) -> Result<(), Failure> {
        match self.port.recall_tree(lease, self.tree()).await.map_err(failed)? {
            Some(_) => Ok(()),
            None => self.list(lease).await,
        }
    }

    /// Makes the sandbox of the next run, with a tree in it.
    async fn make(&self) -> Result<SandboxLease, Failure> {
        let lease = self.allocate().await?;
        self.list(&lease).await?;
        Ok(lease)
    }

    /// A command of the image on the tree.
    pub(crate) fn command(&self, argv: &[&str]) -> Result<NamedCommand, Failure> {
        Ok(NamedCommand {
            gate: "say".parse().map_err(failed)?,
            effect: "effect-1".parse().map_err(failed)?,
            tree: self.tree(),
            argv: argv.iter().map(|&word| word.to_owned()).collect(),
            environment: Vec::new(),
            workdir: None,
            limits: LIMITS,
            redactor: Default::default(),
            volumes: Vec::new(),
            outputs: Vec::new(),
            watched: PathSet::default(),
            tap: None,
        })
    }

    /// Lets the program of the image say the word.
    pub(crate) async fn say(&self, lease: &SandboxLease) -> Result<(), Failure> {
        let command = self.command(&["/usr/bin/echo", "ready"])?;
        let (_handle, never) = AbortHandle::new();
        let seen = self.port.execute_named(lease, command, never).await.map_err(failed)?;
        if seen.ending.is_success() && seen.stdout.head == "ready\n" {
            return Ok(());
        }
        Err(Failure::new("ARM_FAILED", format!("the command said {:?}: {:?}", seen.stdout.head, seen.ending)))
    }

    /// Runs a script of a shell in a sandbox of its own, and answers the line that it printed.
    pub(crate) async fn run(&self, script: &str) -> Result<Option<String>, Failure> {
        let lease = self.make().await?;
        let command = self.command(&["/usr/bin/sh", "-c", script])?;
        let (_handle, never) = AbortHandle::new();
        let seen = self.port.execute_named(&lease, command, never).await.map_err(failed)?;
        self.remove(&lease).await?;
        Ok(Some(seen.stdout.head.trim().replace('\n', " ")))
    }

    pub(crate) async fn remove(&self, lease: &SandboxLease) -> Result<(), Failure> {
        self.port.destroy(lease, Lives::Named).await.map(drop).map_err(failed)
    }
}

/// So many files, of which many have the same content, fifty to a directory.
async fn tree_of(files: usize, blobs: &DirectoryBlobs, scope: &Scope) -> Result<Vec<BatchFile>, Failure> {
    const CONTENTS: usize = 64;
    const FILES_OF_A_DIRECTORY: usize = 50;
    let mut contents = Vec::new();
    for number in 0..CONTENTS.min(files) {
        let content = format!("file {number} of a tree\n").repeat(100);
        let size = ByteCount::new(content.len() as u64);
        contents.push((blobs.put(scope, content.into()).await.map_err(failed)?, size));
    }
    let file = |number: usize| {
        let (content, size) = contents[number % CONTENTS];
        let path = format!("part-{:05}/file-{number:07}", number / FILES_OF_A_DIRECTORY);
        Ok(BatchFile { path: path.parse().map_err(failed)?, kind: BatchFileKind::File, content, size })
    };
    (0..files).map(file).collect()
}

/// A sandbox of its own for each performance. Its removal is counted, and is not waited for by whoever wanted the output.
pub(crate) async fn fresh(spare_guests: usize) -> Result<(), Failure> {
    answer(&mut Fresh { backend: Backend::open(spare_guests, 1).await?, waits: spare_guests > 0 }).await
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

    async fn run(&mut self, script: &str) -> Result<Option<String>, Failure> {
        self.backend.run(script).await
    }
}

/// One sandbox for all performances, each some time after the one before.
pub(crate) async fn exec(idle_ms: u64) -> Result<(), Failure> {
    let backend = Backend::open(0, 1).await?;
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

    async fn run(&mut self, script: &str) -> Result<Option<String>, Failure> {
        self.backend.run(script).await
    }
}
