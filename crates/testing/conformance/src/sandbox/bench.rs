use std::sync::Arc;
use std::time::Duration;

use ambit_gates::Ending;
use ambit_ids::{
    ByteCount, Digest, DurationMs, EffectKey, ExecutionLimits, GateId, OrganizationId, PathSet, ProjectId,
    RepoPath, RunId, Scope, VolumeMount,
};
use ambit_ports::blobs::BlobStore as _;
use ambit_ports::sandbox::{
    BatchFile, BatchFileKind, DeclaredOutput, ExecutionObservation, FileBatch, Fixture, Lives, NamedCommand,
    SandboxLease, SandboxPort, SandboxSpec,
};
use ambit_ports::{AbortHandle, AbortSignal};
use bytes::Bytes;

use super::MemoryBlobs;

/// A backend on the bench: the port, what it needs, and what runs inside.
#[derive(Clone)]
pub struct Bench {
    /// The backend.
    pub port: Arc<dyn SandboxPort>,
    /// An image that it can use; it may be empty.
    pub image: Digest,
    /// Volumes that it can use.
    pub volumes: BenchVolumes,
    /// The prober.
    pub prober: Bytes,
    /// Where outputs go.
    pub blobs: MemoryBlobs,
}

/// Volumes of a backend on the bench.
#[derive(Clone, Copy, Debug)]
pub struct BenchVolumes {
    /// Holds the prober as `bin/probe`, which can be executed, and `name`, a file with the text `one`.
    pub one: Digest,
    /// Holds `name`, a file with the text `other`.
    pub other: Digest,
    /// Is there, and is not what its digest says.
    pub altered: Digest,
}

impl BenchVolumes {
    /// Volumes that are nowhere, for a bench on which none is tried.
    #[must_use]
    pub fn absent() -> Self {
        let absent = Digest::of(b"no volume");
        Self { one: absent, other: absent, altered: absent }
    }

    /// A mount of a volume.
    #[must_use]
    pub fn mount(name: &str, digest: Digest) -> VolumeMount {
        VolumeMount { name: name.parse().unwrap(), digest }
    }
}

/// A sandbox with a tree in it.
pub struct Staged {
    /// The sandbox.
    pub lease: SandboxLease,
    /// The tree: the prober as `probe`, and `sub/file`, which holds `content`.
    pub tree: Digest,
}

/// The longest that anything prompt may take, on a machine with too much to do as well. Whatever is not prompt takes until
/// a limit ends it, which is longer.
pub const PROMPT: Duration = Duration::from_secs(60);

/// Limits that no well-behaved probe meets.
pub(super) const ROOMY: ExecutionLimits = ExecutionLimits {
    memory_bytes: ByteCount::new(256 << 20),
    processes: 32,
    cpu_millis: 2000,
    cpu_time_ms: DurationMs::new(300_000),
    wall_ms: DurationMs::new(300_000),
    disk_bytes: ByteCount::new(32 << 20),
    output_bytes: ByteCount::new(8 << 20),
};

/// A path of a tree.
#[must_use]
pub(super) fn path(text: &str) -> RepoPath {
    text.parse().unwrap()
}

impl Bench {
    /// A bench for a port.
    #[must_use]
    pub fn new(port: Arc<dyn SandboxPort>, image: Digest, volumes: BenchVolumes, prober: Bytes) -> Self {
        Self { port, image, volumes, prober, blobs: MemoryBlobs::default() }
    }

    /// The owner of every run on the bench.
    #[must_use]
    pub fn scope() -> Scope {
        Scope {
            organization: OrganizationId::new("bench").unwrap(),
            project: ProjectId::new("sandbox").unwrap(),
        }
    }

    /// What the sandbox of a run is made from.
    #[must_use]
    pub fn spec(&self, run: &str) -> SandboxSpec {
        SandboxSpec {
            scope: Self::scope(),
            run: RunId::new(format!("run_{run}")).unwrap(),
            image: self.image,
            limits: ROOMY,
            fixtures: Vec::new(),
            volumes: Vec::new(),
            blobs: Arc::new(self.blobs.clone()),
        }
    }

    /// Puts a file's content among the blobs.
    pub async fn file(&self, at: &str, kind: BatchFileKind, content: &[u8]) -> BatchFile {
        let content = Bytes::copy_from_slice(content);
        let size = ByteCount::new(content.len() as u64);
        let digest = self.blobs.put(&Self::scope(), content).await.unwrap();
        BatchFile { path: path(at), kind, content: digest, size }
    }

    /// A fixture with one file.
    pub async fn fixture(&self, name: &str, content: &[u8]) -> Fixture {
        Fixture { name: name.into(), files: vec![self.file("seed.txt", BatchFileKind::File, content).await] }
    }

    /// The tree that every probe runs on.
    pub async fn batch(&self) -> FileBatch {
        let files = vec![
            self.file("probe", BatchFileKind::Executable, &self.prober).await,
            self.file("sub/file", BatchFileKind::File, b"content").await,
        ];
        FileBatch { tree: Digest::of(b"the tree of the bench"), files }
    }

    /// Allocates the sandbox of a run and stages the tree.
    pub async fn staged(&self, run: &str) -> Staged {
        self.staged_from(self.spec(run)).await
    }

    /// Likewise, from a spec.
    pub async fn staged_from(&self, spec: SandboxSpec) -> Staged {
        let lease = self.port.allocate(spec).await.expect("the sandbox is allocated");
        let batch = self.batch().await;
        let tree = batch.tree;
        let receipt = self.port.write_files(&lease, batch).await.expect("the tree arrives");
        assert_eq!((receipt.tree, receipt.files, &receipt.incarnation), (tree, 2, &lease.incarnation));
        Staged { lease, tree }
    }

    /// The command that runs the prober with these words.
    #[must_use]
    pub fn command(&self, staged: &Staged, words: &[&str]) -> NamedCommand {
        NamedCommand {
            gate: GateId::new("probe").unwrap(),
            effect: EffectKey::new("effect-1").unwrap(),
            tree: staged.tree,
            argv: std::iter::once("/workspace/probe")
                .chain(words.iter().copied())
                .map(str::to_owned)
                .collect(),
            environment: Vec::new(),
            workdir: None,
            limits: ROOMY,
            redactor: Default::default(),
            volumes: Vec::new(),
            outputs: Vec::new(),
            watched: PathSet::default(),
            tap: None,
        }
    }

    /// Runs a command to its end.
    pub async fn execute(&self, staged: &Staged, command: NamedCommand) -> ExecutionObservation {
        let effect = command.effect.clone();
        let observed =
            self.port.execute_named(&staged.lease, command, never()).await.expect("the command runs");
        assert_eq!((&observed.incarnation, &observed.effect), (&staged.lease.incarnation, &effect));
        observed
    }

    /// Runs the prober with these words.
    pub async fn probe(&self, staged: &Staged, words: &[&str]) -> ExecutionObservation {
        self.execute(staged, self.command(staged, words)).await
    }

    /// What an attempt said: its last line.
    pub async fn attempt(&self, staged: &Staged, words: &[&str]) -> String {
        let observed = self.probe(staged, words).await;
        let text = if observed.stdout.tail.is_empty() { observed.stdout.head } else { observed.stdout.tail };
        text.lines().last().unwrap_or_default().to_owned()
    }

    /// Asserts that an attempt is refused with one of these error numbers.
    pub async fn refused(&self, staged: &Staged, words: &[&str], errnos: &[i32]) {
        let said = self.attempt(staged, words).await;
        let errno = said.strip_prefix("errno ").and_then(|number| number.parse().ok());
        assert!(
            errno.is_some_and(|errno| errnos.contains(&errno)),
            "{words:?} said {said:?}, not one of {errnos:?}"
        );
    }

    /// Asserts that an attempt succeeds: the positive control of a refusal.
    pub async fn allowed(&self, staged: &Staged, words: &[&str]) {
        let seen = self.probe(staged, words).await;
        assert_eq!(seen.ending, Ending::Exited { code: 0 }, "{words:?} said {:?}", seen.stdout.head);
    }

    /// The blob of an output.
    pub async fn blob(&self, digest: Digest) -> Bytes {
        self.blobs.get(&Self::scope(), digest, ByteCount::new(1 << 30)).await.unwrap()
    }

    /// Removes a sandbox and asserts the proof.
    pub async fn destroy(&self, staged: &Staged) {
        let receipt = self.port.destroy(&staged.lease, Lives::Named).await.expect("the sandbox is removed");
        assert!(receipt.is_proof(), "{receipt:?}");
        assert_eq!((&receipt.lease, &receipt.incarnation), (&staged.lease.lease, &staged.lease.incarnation));
    }
}

/// A signal that is never raised.
#[must_use]
pub(super) fn never() -> AbortSignal {
    AbortHandle::new().1
}

/// An output that a command declares.
#[must_use]
pub(super) fn declared(at: &str, limit: u64) -> DeclaredOutput {
    DeclaredOutput { path: path(at), limit: ByteCount::new(limit), entries: None }
}
