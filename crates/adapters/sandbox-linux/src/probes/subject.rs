//! A sandbox that is being probed.

use std::sync::Arc;

use ambit_gates::Ending;
use ambit_ids::{
    ByteCount, Digest, DurationMs, EffectKey, ExecutionLimits, GateId, OrganizationId, ProjectId, RepoPath,
    RunId, Scope,
};
use ambit_ports::blobs::BlobStore as _;
use ambit_ports::sandbox::{
    BatchFile, BatchFileKind, DeclaredOutput, ExecutionObservation, FileBatch, NamedCommand, SandboxError,
    SandboxLease, SandboxPort as _, SandboxSpec,
};
use ambit_ports::{AbortHandle, AbortSignal};
use bytes::Bytes;

use super::blobs::ProbeBlobs;
use crate::backend::LinuxSandboxes;
use crate::guest::io_error;
use crate::program::PROGRAM;

/// What every probe may use; those that try a limit ask for less.
pub(super) const LIMITS: ExecutionLimits = ExecutionLimits {
    memory_bytes: ByteCount::new(64 << 20),
    processes: 16,
    cpu_millis: 1000,
    cpu_time_ms: DurationMs::new(5000),
    wall_ms: DurationMs::new(5000),
    disk_bytes: ByteCount::new(4 << 20),
    output_bytes: ByteCount::new(64 << 10),
};

/// The sandbox, with the prober in its tree.
pub(super) struct Subject<'a> {
    pub(super) backend: &'a LinuxSandboxes,
    pub(super) lease: SandboxLease,
    spec: SandboxSpec,
    blobs: ProbeBlobs,
    tree: Digest,
}

fn named<T, E: std::error::Error + Send + Sync + 'static>(value: Result<T, E>) -> Result<T, SandboxError> {
    value.map_err(|error| io_error("naming a probe")(std::io::Error::other(error)))
}

impl<'a> Subject<'a> {
    /// Allocates a sandbox from an empty image and stages the prober.
    pub(super) async fn allocate(backend: &'a LinuxSandboxes, name: &str) -> Result<Self, SandboxError> {
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
        let lease = backend.allocate_from(&spec, &backend.empty_image()?, &[]).await?;
        let subject = Self { backend, lease, spec, blobs, tree: Digest::of(PROGRAM) };
        subject.stage().await?;
        Ok(subject)
    }

    /// Allocates it again, as after a loss.
    pub(super) async fn allocate_again(&mut self) -> Result<(), SandboxError> {
        self.lease = self.backend.allocate_from(&self.spec, &self.backend.empty_image()?, &[]).await?;
        self.stage().await
    }

    async fn stage(&self) -> Result<(), SandboxError> {
        let content = self.blobs.put(&self.spec.scope, Bytes::from_static(PROGRAM)).await?;
        let probe = BatchFile {
            path: named(RepoPath::from_bytes(b"probe"))?,
            kind: BatchFileKind::Executable,
            content,
            size: ByteCount::new(PROGRAM.len() as u64),
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
            volumes: Vec::new(),
            outputs: vec![DeclaredOutput {
                path: named(RepoPath::from_bytes(b"out"))?,
                limit: ByteCount::new(1024),
            }],
        })
    }

    /// Runs the prober under these limits, until `abort`.
    pub(super) async fn run_until(
        &self,
        words: &[&str],
        limits: ExecutionLimits,
        abort: AbortSignal,
    ) -> Result<ExecutionObservation, SandboxError> {
        self.backend.execute_named(&self.lease, self.command(words, limits)?, abort).await
    }

    /// Runs the prober.
    pub(super) async fn run(&self, words: &[&str]) -> Result<ExecutionObservation, SandboxError> {
        self.run_until(words, LIMITS, AbortHandle::new().1).await
    }

    /// Runs another program of the sandbox.
    pub(super) async fn run_program(&self, program: &str) -> Result<ExecutionObservation, SandboxError> {
        let mut command = self.command(&[], LIMITS)?;
        command.argv = vec![program.to_owned()];
        self.backend.execute_named(&self.lease, command, AbortHandle::new().1).await
    }

    /// Runs the prober under other limits.
    pub(super) async fn run_within(
        &self,
        words: &[&str],
        limits: ExecutionLimits,
    ) -> Result<ExecutionObservation, SandboxError> {
        self.run_until(words, limits, AbortHandle::new().1).await
    }

    /// Runs the prober and answers whether it ended well, and what it said or why nobody knows.
    pub(super) async fn attempt(&self, words: &[&str]) -> (bool, String) {
        match self.run(words).await {
            Ok(seen) => (seen.ending == Ending::Exited { code: 0 }, seen.stdout.head.trim_end().to_owned()),
            Err(error) => (false, error.code().to_owned()),
        }
    }

    /// Whether the workspace is a copy.
    pub(super) async fn copies_the_tree(&self) -> bool {
        self.backend.copies_the_tree(&self.lease, self.tree).await
    }
}
