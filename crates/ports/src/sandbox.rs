//! The execution backend: where named commands run.

use std::collections::BTreeSet;
use std::sync::Arc;

use ambit_gates::{Ending, ResourceLimit};
use ambit_ids::{
    BackendId, ByteCount, Digest, DurationMs, EffectKey, ExecutionLimits, GateId, Incarnation, LeaseId,
    RepoPath, RunId, Scope, UnixMs,
};
use ambit_run::StopReason;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::AbortSignal;
use crate::blobs::BlobStore;

/// A backend, by its eight verbs.
///
/// It translates and normalises. It holds no state machine, decides no permission, owns no credential and writes no
/// record.
///
/// - [`allocate`](Self::allocate) MUST be idempotent by run: asked twice for one run it answers the same lease, or a
///   new incarnation of it where the sandbox is gone. One sandbox never serves two runs.
/// - Every answer about a lease MUST carry the incarnation that it is true of.
/// - [`execute_named`](Self::execute_named) MUST run the command on a private, writable view of exactly the tree that
///   the command names, pristine for every execution, and MUST leave no process of it behind when it answers. The
///   executions of one lease MAY run one after the other.
/// - How a command ended MUST come from the wait status and the supervisor, and from nothing that the command can write.
/// - A control that the manifest claims and that cannot be put in place at allocation or execution MUST make the verb
///   fail. There is no weaker fallback that the manifest does not name.
/// - The lease of a run MUST have the id that [`SandboxLease::id_of`] gives it.
/// - [`cancel`](Self::cancel) and [`destroy`](Self::destroy) MUST succeed on what is already gone, and MUST work from
///   the lease alone, in another process than the one that allocated. Neither touches a later life of the lease than
///   the one it is told, except where [`destroy`](Self::destroy) is told [`Lives::Every`].
#[async_trait]
pub trait SandboxPort: Send + Sync {
    /// Which backend this is.
    fn backend_id(&self) -> &BackendId;

    /// Measures what the backend can do here and now, by running probes inside a real sandbox of it.
    async fn inspect_capabilities(&self) -> Result<CapabilityManifest, SandboxError>;

    /// Makes a sandbox ready for a run.
    async fn allocate(&self, spec: SandboxSpec) -> Result<SandboxLease, SandboxError>;

    /// Brings a source tree to the sandbox, so that commands can name it by its digest.
    async fn write_files(&self, lease: &SandboxLease, batch: FileBatch) -> Result<FileReceipt, SandboxError>;

    /// Runs one named command and waits for its end.
    async fn execute_named(
        &self,
        lease: &SandboxLease,
        command: NamedCommand,
        abort: AbortSignal,
    ) -> Result<ExecutionObservation, SandboxError>;

    /// Exposes a port of the sandbox. Refused unless the profile and an explicit grant allow it.
    async fn expose_preview(
        &self,
        lease: &SandboxLease,
        policy: PreviewPolicy,
    ) -> Result<PreviewGrant, SandboxError>;

    /// Ends an exposure.
    async fn revoke_preview(&self, grant: &PreviewGrant) -> Result<RevocationReceipt, SandboxError>;

    /// Stops every process of the sandbox.
    async fn cancel(
        &self,
        lease: &SandboxLease,
        reason: &StopReason,
    ) -> Result<CancellationReceipt, SandboxError>;

    /// Removes the sandbox and proves that nothing of it is left.
    async fn destroy(&self, lease: &SandboxLease, lives: Lives) -> Result<DestructionReceipt, SandboxError>;
}

/// Which lives of a lease are to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lives {
    /// The one that the lease names.
    Named,
    /// Every one, whichever incarnation the lease names: the answer to an allocation was lost, and nobody else holds
    /// the run.
    Every,
}

/// What a backend can do, as measured. Every claim rests on probes; nothing here is a declaration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CapabilityManifest {
    /// `v1`.
    pub manifest_version: ManifestVersion,
    /// The backend.
    pub backend_id: BackendId,
    /// The version of the adapter.
    pub adapter_version: String,
    /// What separates one run from another.
    pub isolation: Isolation,
    /// What a sandbox can reach.
    pub egress: Egress,
    /// How secrets reach a sandbox.
    pub secret_delivery: SecretDelivery,
    /// What exposing a port means.
    pub preview: Preview,
    /// What cancelling does.
    pub cancellation: Cancellation,
    /// Whether the provider keeps an audit of its own.
    pub provider_audit: ProviderAudit,
    /// The limits that the kernel enforces on a sandbox as a whole, and by what.
    pub limits: LimitEnforcement,
    /// The probes behind all of the above, each with its result, sorted by id.
    pub evidence_probes: Vec<Probe>,
    /// What this machine lacks, in words, with the mend; empty where nothing is missing.
    pub lacks: Vec<MissingFeature>,
    /// The digest of everything that the measurement depends on: kernel, adapter, guest, user, cgroup layout.
    pub environment: Digest,
    /// When it was measured.
    pub measured_at: UnixMs,
}

/// The version of the manifest's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ManifestVersion {
    /// The first.
    #[serde(rename = "v1")]
    V1,
}

/// What separates runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// One sandbox per run and one run per sandbox.
    DedicatedSandboxPerRun,
    /// Not proven.
    Unproven,
}

/// What a sandbox can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Egress {
    /// Nothing.
    DenyAll,
    /// Only named destinations.
    ExplicitAllowlist,
    /// Whatever a proxy that decides each connection lets through.
    TrustedProxy,
    /// Not proven.
    Unproven,
}

/// How secrets reach a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecretDelivery {
    /// As a placeholder that only the provider can resolve.
    OpaqueProviderPlaceholder,
    /// As a short-lived token for a proxy.
    ShortLivedProxyToken,
    /// No secret is bound at all, proven by a canary.
    NoneBound,
    /// Not proven.
    Unproven,
}

/// What exposing a port means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preview {
    /// It cannot be done.
    Disabled,
    /// Only with authentication.
    Authenticated,
    /// By a secret URL, and the application's own authentication.
    PossessionUrlPlusAppAuth,
}

/// What cancelling does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cancellation {
    /// Processes are stopped first, then the sandbox is destroyed.
    ProcessStopThenDestroy,
    /// Not proven.
    Unproven,
}

/// Whether the provider keeps an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderAudit {
    /// It does.
    Available,
    /// It does not, or nothing here rests on it.
    NotReliedUpon,
}

/// By what each limit on a sandbox as a whole is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LimitEnforcement {
    /// Memory of all processes together.
    pub memory: Enforcer,
    /// Processes and threads.
    pub processes: Enforcer,
    /// Processor share and time.
    pub cpu: Enforcer,
}

/// What enforces a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Enforcer {
    /// The unified hierarchy.
    CgroupV2,
    /// The legacy hierarchy.
    CgroupV1,
    /// Per-process limits only: several processes together can use more. The manifest says so in `lacks`.
    RlimitPerProcess,
}

/// The families that a manifest must cover with at least one passed probe each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeFamily {
    /// What is allowed works.
    Positive,
    /// What is denied fails, beside a positive control with the same tool.
    Denied,
    /// A failure is told as one.
    Failure,
    /// Cancelling stops every process.
    Cancellation,
    /// Destroying leaves nothing.
    Cleanup,
    /// A sandbox that is lost is replaced, once.
    Recovery,
}

/// One probe and what it found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Probe {
    /// Its stable id (`denied.network.loopback-of-host`).
    pub id: String,
    /// Its family.
    pub family: ProbeFamily,
    /// Whether it found what it must find. A negative probe passes only if its positive control succeeded.
    pub passed: bool,
    /// What it saw, in a few words.
    pub observed: String,
}

/// Something that this machine lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MissingFeature {
    /// The primitive (`user namespaces`).
    pub feature: String,
    /// What does not hold without it.
    pub consequence: String,
    /// What an operator can do about it.
    pub mend: String,
}

/// What a sandbox is made from.
#[derive(Clone)]
pub struct SandboxSpec {
    /// Who owns the run.
    pub scope: Scope,
    /// The run.
    pub run: RunId,
    /// The image, by digest; there is no other way to name one.
    pub image: Digest,
    /// The widest limits that any command of this run will ask for.
    pub limits: ExecutionLimits,
    /// Synthetic fixtures, mounted read-only beside the workspace.
    pub fixtures: Vec<Fixture>,
    /// Where blobs are read from and outputs are written to.
    pub blobs: Arc<dyn BlobStore>,
}

/// A synthetic fixture: a file tree that is not part of the revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixture {
    /// The name under which it is mounted below `/fixtures`.
    pub name: String,
    /// Its files.
    pub files: Vec<BatchFile>,
}

/// A sandbox in the hands of one run. Plain data: everything about it can be done from this, in any process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SandboxLease {
    /// The lease.
    pub lease: LeaseId,
    /// Which life of it.
    pub incarnation: Incarnation,
    /// The backend.
    pub backend: BackendId,
    /// The run.
    pub run: RunId,
    /// The owner of the run.
    pub scope: Scope,
    /// The image.
    pub image: Digest,
}

impl SandboxLease {
    /// The lease of a run. A run has one lease for its whole life, under every backend, so whatever was begun for it can
    /// be found and removed by whoever knows the run, even where the answer to its allocation was lost.
    #[must_use]
    pub fn id_of(scope: &Scope, run: &RunId) -> LeaseId {
        let digest = Digest::of(format!("ambit.lease/v1\n{scope}\n{run}\n").as_bytes());
        // INVARIANT: `lease_` and 32 characters of [0-9a-f] fit the grammar of lease ids.
        #[expect(clippy::expect_used, reason = "hexadecimal digits fit the grammar of ids")]
        LeaseId::new(format!("lease_{}", &digest.to_hex()[..32])).expect("hexadecimal digits are a valid id")
    }
}

/// A source tree to bring to a sandbox.
pub struct FileBatch {
    /// The digest of the tree, which the backend uses as its name.
    pub tree: Digest,
    /// Every file of it, sorted by path.
    pub files: Vec<BatchFile>,
}

/// One file, executable or link of a tree. Its content is read from the blobs of the spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchFile {
    /// Where it goes.
    pub path: RepoPath,
    /// What it is.
    pub kind: BatchFileKind,
    /// The digest of its bytes, or of a link's target.
    pub content: Digest,
    /// The number of bytes.
    pub size: ByteCount,
}

/// What a file of a batch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchFileKind {
    /// A file.
    File,
    /// A file that can be executed.
    Executable,
    /// A symbolic link. It is created as it is and never followed by the backend.
    Link,
}

/// Proof that a tree arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileReceipt {
    /// Of which life of the sandbox this is true.
    pub incarnation: Incarnation,
    /// The tree.
    pub tree: Digest,
    /// The number of files.
    pub files: u64,
    /// The number of bytes.
    pub bytes: ByteCount,
}

/// A command of the catalog, resolved. Nothing in it comes from an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCommand {
    /// The gate that it is.
    pub gate: GateId,
    /// The identity of this execution.
    pub effect: EffectKey,
    /// The tree to run on, brought by `write_files` before.
    pub tree: Digest,
    /// The program and its arguments. There is no shell unless the catalog names one.
    pub argv: Vec<String>,
    /// The whole environment, fixed by the catalog. Nothing is inherited.
    pub environment: Vec<(String, String)>,
    /// The working directory within the workspace; `None` is its top.
    pub workdir: Option<RepoPath>,
    /// What it may use.
    pub limits: ExecutionLimits,
    /// The files that are kept from its workspace after it ended. Nothing else is.
    pub outputs: Vec<DeclaredOutput>,
}

/// A file that a command is expected to leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredOutput {
    /// Where in the workspace.
    pub path: RepoPath,
    /// The largest that is kept.
    pub limit: ByteCount,
}

/// What was seen of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExecutionObservation {
    /// Of which life of the sandbox this is true.
    pub incarnation: Incarnation,
    /// The execution.
    pub effect: EffectKey,
    /// How it ended.
    pub ending: Ending,
    /// Limits that were hit on the way, whether or not they ended it.
    pub breaches: BTreeSet<ResourceLimit>,
    /// Standard output.
    pub stdout: OutputCapture,
    /// Standard error.
    pub stderr: OutputCapture,
    /// The declared outputs that were there, in the order of the catalog.
    pub outputs: Vec<ExportedOutput>,
    /// Declared outputs that were not kept, with the reason: absent, a link, not a file, too large.
    pub refused_outputs: Vec<RefusedOutput>,
    /// From start to end by a monotonic clock.
    pub duration_ms: DurationMs,
    /// Processor time of all its processes, where it can be told.
    pub cpu_ms: Option<DurationMs>,
    /// The most memory at any moment, where it can be told.
    pub peak_memory_bytes: Option<ByteCount>,
    /// Processes that were still alive when the command had ended, and were killed.
    pub killed_processes: u32,
}

/// One stream of output: both ends here, the whole as a blob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OutputCapture {
    /// The first bytes, as text: control characters other than line feed and tab are replaced, UTF-8 is never cut.
    pub head: String,
    /// The last bytes, likewise; empty unless the stream is longer than the head.
    pub tail: String,
    /// Whether there is more between head and tail.
    pub truncated: bool,
    /// How many bytes were kept in the artifact.
    pub bytes: ByteCount,
    /// The bytes themselves, unaltered, as a blob.
    pub artifact: Digest,
}

/// A declared output that was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportedOutput {
    /// Where it was.
    pub path: RepoPath,
    /// Its bytes, as a blob.
    pub artifact: Digest,
    /// How many.
    pub bytes: ByteCount,
}

/// A declared output that was not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RefusedOutput {
    /// Where it was expected.
    pub path: RepoPath,
    /// Why.
    pub why: OutputRefusal,
}

/// Why a declared output was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputRefusal {
    /// Nothing is there.
    Absent,
    /// It, or a directory on the way to it, is a symbolic link.
    Link,
    /// It is neither a file nor a link.
    NotAFile,
    /// It is larger than its limit.
    TooLarge,
    /// It has more than one name, so its bytes may belong to something else.
    HardLink,
    /// It could not be read.
    Unreadable,
}

/// What a preview may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewPolicy {
    /// The port inside.
    pub port: u16,
    /// The receipt of the grant that allows it.
    pub grant: Option<ambit_ids::ReceiptId>,
}

/// A port that is exposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewGrant {
    /// Of which life of the sandbox this is true.
    pub incarnation: Incarnation,
    /// The lease.
    pub lease: LeaseId,
    /// The port inside.
    pub port: u16,
}

/// Proof that a port is no longer exposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RevocationReceipt {
    /// The lease.
    pub lease: LeaseId,
    /// Whether anything was exposed at all.
    pub was_exposed: bool,
}

/// Proof that every process of a sandbox was stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CancellationReceipt {
    /// Of which life of the sandbox this is true.
    pub incarnation: Incarnation,
    /// The lease.
    pub lease: LeaseId,
    /// Processes that were killed for it.
    pub killed_processes: u32,
    /// Processes that remain. Anything but zero is a failure.
    pub remaining_processes: u32,
}

/// Proof that nothing of a sandbox is left, surface by surface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DestructionReceipt {
    /// Of which life of the sandbox this is true.
    pub incarnation: Incarnation,
    /// The lease.
    pub lease: LeaseId,
    /// What was looked at after the removal (`processes`, `mounts`, `cgroups`, `files`) and how many of each remain.
    pub remaining: Vec<(String, u32)>,
}

impl DestructionReceipt {
    /// Whether every surface that was looked at is empty, and something was looked at.
    #[must_use]
    pub fn is_proof(&self) -> bool {
        !self.remaining.is_empty() && self.remaining.iter().all(|(_, left)| *left == 0)
    }
}

/// Why a backend refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// This machine cannot run such a sandbox.
    #[error("{}", describe_missing(.0))]
    Unavailable(Vec<MissingFeature>),
    /// The image is not on this machine, or is not what its digest says.
    #[error("the image cannot be used")]
    Image(#[from] crate::images::ImageError),
    /// The sandbox of this lease is gone.
    #[error("the sandbox of {0} is gone")]
    Gone(LeaseId),
    /// The run has a sandbox already, and it was made from another image.
    #[error("{0} was allocated with another image; destroy it before the run is given a new one")]
    Conflict(LeaseId),
    /// The command names a tree that was not brought to the sandbox.
    #[error("the tree {0} was not brought to the sandbox")]
    TreeMissing(Digest),
    /// The tree that was brought is not what its digest says, or not what came under its name before.
    #[error("the tree {expected} arrived as {found}")]
    TreeMismatch {
        /// The digest that the caller named.
        expected: Digest,
        /// The digest of what arrived.
        found: Digest,
    },
    /// A control could not be put in place. Nothing ran.
    #[error("{control} could not be put in place; nothing was run")]
    ControlFailed {
        /// The control.
        control: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The preview is disabled under this profile.
    #[error("previews are disabled until an explicit grant; nothing was exposed")]
    PreviewDenied,
    /// Something of the sandbox remains and could not be removed.
    #[error("{} of {lease} remain and could not be removed", describe_remaining(.remaining))]
    DestructionUnproven {
        /// The lease.
        lease: LeaseId,
        /// What remains.
        remaining: Vec<(String, u32)>,
    },
    /// Blobs could not be read or written.
    #[error("the blobs of the sandbox failed")]
    Blobs(#[from] crate::blobs::BlobError),
    /// Anything else of the machine.
    #[error("the sandbox failed: {what}")]
    Io {
        /// What was being done.
        what: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl SandboxError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unavailable(_) => "SANDBOX_UNAVAILABLE",
            Self::Image(error) => error.code(),
            Self::Gone(_) => "SANDBOX_GONE",
            Self::Conflict(_) => "SANDBOX_CONFLICT",
            Self::TreeMissing(_) => "SANDBOX_TREE_MISSING",
            Self::TreeMismatch { .. } => "SANDBOX_TREE_MISMATCH",
            Self::ControlFailed { .. } => "SANDBOX_CONTROL_FAILED",
            Self::PreviewDenied => "PREVIEW_DENIED",
            Self::DestructionUnproven { .. } => "DESTRUCTION_UNPROVEN",
            Self::Blobs(error) => error.code(),
            Self::Io { .. } => "SANDBOX_FAILED",
        }
    }
}

fn describe_missing(missing: &[MissingFeature]) -> String {
    let parts: Vec<String> = missing
        .iter()
        .map(|lack| format!("{} is missing ({}); {}", lack.feature, lack.consequence, lack.mend))
        .collect();
    format!("the sandbox is unavailable on this machine: {}", parts.join("; "))
}

fn describe_remaining(remaining: &[(String, u32)]) -> String {
    let parts: Vec<String> = remaining
        .iter()
        .filter(|(_, left)| *left > 0)
        .map(|(surface, left)| format!("{left} {surface}"))
        .collect();
    parts.join(", ")
}
