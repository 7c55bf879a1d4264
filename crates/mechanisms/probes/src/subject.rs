//! A sandbox that is being probed.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use ambit_gates::Ending;
use ambit_ids::{
    ByteCount, Digest, DurationMs, EffectKey, ExecutionLimits, GateId, OrganizationId, PathSet, ProjectId,
    RepoPath, RunId, Scope,
};
use ambit_ports::blobs::BlobStore as _;
use ambit_ports::sandbox::{
    BatchFile, BatchFileKind, DeclaredOutput, ExecutionObservation, FileBatch, Lives, NamedCommand,
    SandboxError, SandboxLease, SandboxSpec,
};
use ambit_ports::{AbortHandle, AbortSignal};
use bytes::Bytes;

use crate::backend::ProbedBackend;
use crate::blobs::ProbeBlobs;
use crate::result::cause;

/// What every probe may use; those that try a limit ask for less. The time is that of a machine with too much to do: what
/// is measured then is believed later.
pub(crate) const LIMITS: ExecutionLimits = ExecutionLimits {
    memory_bytes: ByteCount::new(64 << 20),
    processes: 16,
    cpu_millis: 1000,
    cpu_time_ms: DurationMs::new(5000),
    wall_ms: DurationMs::new(30_000),
    disk_bytes: ByteCount::new(4 << 20),
    output_bytes: ByteCount::new(64 << 10),
};

/// The sandbox, with the prober in its tree.
pub struct Subject<'a, B> {
    pub(crate) backend: &'a B,
    pub(crate) lease: SandboxLease,
    spec: SandboxSpec,
    blobs: ProbeBlobs,
    tree: Digest,
    /// The failures of which the cause was told.
    told: Mutex<BTreeSet<String>>,
}

fn named<T, E: std::error::Error + Send + Sync + 'static>(value: Result<T, E>) -> Result<T, SandboxError> {
    value.map_err(|error| SandboxError::during("naming a probe")(std::io::Error::other(error)))
}

impl<'a, B: ProbedBackend> Subject<'a, B> {
    /// Allocates a sandbox from an empty image and stages the prober. `name` tells it from others of this process.
    ///
    /// # Errors
    /// [`SandboxError`] of the backend.
    pub async fn allocate(backend: &'a B, name: &str) -> Result<Self, SandboxError> {
        let scope = Scope {
            organization: named(OrganizationId::new("ambit"))?,
            project: named(ProjectId::new("probes"))?,
        };
        let blobs = ProbeBlobs::default();
        let spec = SandboxSpec {
            scope,
            run: named(RunId::new(format!("run_probe-{name}-{}", std::process::id())))?,
            image: Digest::of(b""),
            limits: LIMITS,
            fixtures: Vec::new(),
            volumes: Vec::new(),
            blobs: Arc::new(blobs.clone()),
        };
        let lease = backend.allocate_empty(&spec).await?;
        let subject =
            Self { backend, lease, spec, blobs, tree: Digest::of(backend.prober()), told: Mutex::default() };
        if let Err(error) = subject.stage().await {
            // Nobody else knows of it.
            let _ = backend.destroy(&subject.lease, Lives::Named).await;
            return Err(error);
        }
        Ok(subject)
    }

    /// Allocates it again, as after a loss.
    pub(crate) async fn allocate_again(&mut self) -> Result<(), SandboxError> {
        self.lease = self.backend.allocate_empty(&self.spec).await?;
        self.stage().await
    }

    async fn stage(&self) -> Result<(), SandboxError> {
        let prober = self.backend.prober();
        let content = self.blobs.put(&self.spec.scope, Bytes::from_static(prober)).await?;
        let probe = BatchFile {
            path: named(RepoPath::from_bytes(b"probe"))?,
            kind: BatchFileKind::Executable,
            content,
            size: ByteCount::new(prober.len() as u64),
        };
        self.backend.write_files(&self.lease, FileBatch { tree: self.tree, files: vec![probe] }).await?;
        Ok(())
    }

    /// A command that runs the prober with these words.
    fn command(&self, words: &[&str], limits: ExecutionLimits) -> Result<NamedCommand, SandboxError> {
        Ok(NamedCommand {
            gate: named(GateId::new("probe"))?,
            effect: named(EffectKey::new("probe"))?,
            tree: self.tree,
            argv: std::iter::once("/workspace/probe")
                .chain(words.iter().copied())
                .map(str::to_owned)
                .collect(),
            environment: vec![("PROBE".into(), "1".into())],
            workdir: None,
            limits,
            redactor: Default::default(),
            watched: PathSet::default(),
            tap: None,
            volumes: Vec::new(),
            outputs: vec![DeclaredOutput {
                entries: None,
                path: named(RepoPath::from_bytes(b"out"))?,
                limit: ByteCount::new(1024),
            }],
        })
    }

    /// Runs the prober under these limits, until `abort`.
    pub(crate) async fn run_until(
        &self,
        words: &[&str],
        limits: ExecutionLimits,
        abort: AbortSignal,
    ) -> Result<ExecutionObservation, SandboxError> {
        self.backend.execute_named(&self.lease, self.command(words, limits)?, abort).await
    }

    /// Runs the prober with these words.
    ///
    /// # Errors
    /// [`SandboxError`] of the backend.
    pub async fn run(&self, words: &[&str]) -> Result<ExecutionObservation, SandboxError> {
        self.run_until(words, LIMITS, AbortHandle::new().1).await
    }

    /// Runs another program of the sandbox.
    pub(crate) async fn run_program(&self, program: &str) -> Result<ExecutionObservation, SandboxError> {
        let mut command = self.command(&[], LIMITS)?;
        command.argv = vec![program.to_owned()];
        self.backend.execute_named(&self.lease, command, AbortHandle::new().1).await
    }

    /// Runs the prober under other limits.
    pub(crate) async fn run_within(
        &self,
        words: &[&str],
        limits: ExecutionLimits,
    ) -> Result<ExecutionObservation, SandboxError> {
        self.run_until(words, limits, AbortHandle::new().1).await
    }

    /// Runs the prober and answers whether it ended well, and what it said or why nobody knows.
    pub async fn attempt(&self, words: &[&str]) -> (bool, String) {
        match self.run(words).await {
            Ok(seen) => (seen.ending == Ending::Exited { code: 0 }, seen.stdout.head.trim_end().to_owned()),
            Err(error) => (false, self.why(&error)),
        }
    }

    /// What a probe says of a failure: its cause where it is the first of its kind, and later the code alone. One cause
    /// often fails every probe.
    pub(crate) fn why(&self, error: &SandboxError) -> String {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(error.to_string()) { cause(error) } else { error.code().to_owned() }
    }

    /// The lease of the sandbox.
    #[must_use]
    pub const fn lease(&self) -> &SandboxLease {
        &self.lease
    }

    /// The tree that the prober lies in.
    #[must_use]
    pub const fn tree(&self) -> Digest {
        self.tree
    }
}
