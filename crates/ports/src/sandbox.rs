//! The execution backend: where named commands run.

mod error;
mod execution;
mod lease;
mod manifest;
mod receipt;
mod scan;
mod shown;
mod signs;
mod tap;
mod written;

use ambit_ids::BackendId;
use ambit_run::StopReason;
use async_trait::async_trait;

use crate::AbortSignal;

pub use error::SandboxError;
pub use execution::{
    BatchFile, BatchFileKind, ChangedFile, CommandUnfit, DeclaredOutput, ExecutionObservation,
    ExportedOutput, FileBatch, FileReceipt, NamedCommand, OutputCapture, OutputRefusal, ProtectedSeen,
    RefusedOutput,
};
pub use lease::{Fixture, Lives, SandboxLease, SandboxSpec};
pub use manifest::{
    Advisory, Cancellation, CapabilityManifest, Egress, Enforcer, Isolation, LimitEnforcement,
    ManifestVersion, MissingFeature, Preview, Probe, ProbeFamily, ProviderAudit, SecretDelivery,
};
pub use receipt::{CancellationReceipt, DestructionReceipt, PreviewGrant, PreviewPolicy, RevocationReceipt};
pub use scan::{Found, LeakScan, Maker, Surface, Survey, Unseen};
pub use shown::{begun_at_end, continued_at_start, shown};
pub use signs::{EscapeSigns, RefusedCall};
pub use tap::{Flow, OutputStream, Sight, Tap, Watcher};
pub use written::{Watch, Written};

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
/// - A command that does not pass [`NamedCommand::check`] MUST be refused before anything is done for it, and one that does
///   MUST be started, whatever the size of its arguments and variables.
/// - A command MUST see, below `/volumes`, the volumes that it names and no others, each read-only, each held against its
///   digest before the sandbox is made. Where one is named `node_modules`, `/node_modules` MUST lead to it.
/// - Where a command has a [`Tap`], what is kept of each stream MUST be poured into it as it arrives, and what is observed MUST
///   be the same as without one, whatever becomes of the watcher.
/// - Where a command has watched paths, what was written at them MUST be told, looked at after the last process ended. What the
///   backend cannot tell apart MUST be said by [`Written::watch`]. Where nobody could look, nothing is told at all.
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
