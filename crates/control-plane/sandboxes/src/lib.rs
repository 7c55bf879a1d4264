//! The sandbox manager: admits a backend by what was measured of it, allocates, executes and cleans up with proof.

#![forbid(unsafe_code)]

mod admission;
mod belief;
mod patience;
mod preview;
mod scan;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use ambit_ids::{Digest, ExecutionLimits, Incarnation, RunId, Scope, VolumeMount};
use ambit_ports::AbortSignal;
use ambit_ports::blobs::{BlobError, BlobStore};
use ambit_ports::sandbox::{
    CancellationReceipt, CapabilityManifest, DestructionReceipt, ExecutionObservation, FileBatch, Fixture,
    LeakScan, Lives, NamedCommand, SandboxError, SandboxLease, SandboxPort, SandboxSpec,
};
use ambit_run::StopReason;
use serde::Serialize;

pub use admission::{FAMILIES, NotAdmitted, Unmet, unmet};
pub use belief::{GRACE_MS, believed};
pub use patience::patiently;
pub use scan::{Leak, LeakReport, Owner, Standing, scan};

/// Sandboxes of one backend.
#[derive(Clone)]
pub struct Sandboxes {
    port: Arc<dyn SandboxPort>,
    blobs: Arc<dyn BlobStore>,
    staged: Arc<Mutex<BTreeSet<(Incarnation, Digest)>>>,
    witness: Option<Arc<dyn LeakScan>>,
}

/// A receipt of the backend, kept as a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept<T> {
    /// The receipt.
    pub receipt: T,
    /// The digest of its canonical bytes.
    pub digest: Digest,
}

/// What a run needs of its sandbox.
#[derive(Clone, Debug)]
pub struct Needs {
    /// Who owns the run.
    pub scope: Scope,
    /// The run.
    pub run: RunId,
    /// The image, by digest.
    pub image: Digest,
    /// The widest limits of any of its commands.
    pub limits: ExecutionLimits,
    /// Synthetic fixtures.
    pub fixtures: Vec<Fixture>,
    /// Every volume that any of its commands names, each mount once.
    pub volumes: Vec<VolumeMount>,
}

/// Why a sandbox could not be used.
#[derive(Debug, thiserror::Error)]
pub enum SandboxesError {
    /// The backend refused or failed.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// An answer was about another life of the sandbox than the one in hand. It counts for nothing.
    #[error("the answer is about another life of the sandbox")]
    AnotherLife,
    /// The backend answered with the sandbox of another run, owner, image or backend. Nothing is run in it.
    #[error("the backend answered with a sandbox that is not this run's")]
    AnotherRun,
    /// Something of the sandbox is left, nothing was looked at, or another sandbox was.
    #[error("it is not proven that nothing of the sandbox is left")]
    DestructionUnproven,
    /// Processes are left.
    #[error("{0} processes of the sandbox could not be stopped")]
    ProcessesRemain(u32),
    /// A receipt could not be kept.
    #[error("the receipt could not be kept")]
    Blob(#[from] BlobError),
    /// A receipt has no canonical form.
    #[error("the receipt has no canonical form")]
    Receipt(#[source] ambit_canonical::EncodeError),
}

impl SandboxesError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Sandbox(error) => error.code(),
            Self::AnotherLife => "SANDBOX_ANOTHER_LIFE",
            Self::AnotherRun => "SANDBOX_ANOTHER_RUN",
            Self::DestructionUnproven => "DESTRUCTION_UNPROVEN",
            Self::ProcessesRemain(_) => "PROCESSES_REMAIN",
            Self::Blob(error) => error.code(),
            Self::Receipt(_) => "RECEIPT_UNWRITABLE",
        }
    }

    /// Whether the same verb, asked for again, may succeed: the backend could not be reached, or did not prove yet that
    /// what it was to remove is gone.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Sandbox(SandboxError::Unreachable(_) | SandboxError::DestructionUnproven { .. })
                | Self::DestructionUnproven
        )
    }
}

impl Sandboxes {
    /// Sandboxes of a backend.
    #[must_use]
    pub fn new(port: Arc<dyn SandboxPort>, blobs: Arc<dyn BlobStore>) -> Self {
        Self { port, blobs, staged: Arc::default(), witness: None }
    }

    /// The same, which believes in no removal before this look at the machine, too, finds nothing of the lease. It asks the
    /// tables of the kernel or the daemon, and not the backend's own records.
    #[must_use]
    pub fn witnessed_by(mut self, witness: Arc<dyn LeakScan>) -> Self {
        self.witness = Some(witness);
        self
    }

    /// The backend behind it.
    #[must_use]
    pub fn port(&self) -> &Arc<dyn SandboxPort> {
        &self.port
    }

    /// Measures the backend.
    ///
    /// # Errors
    /// [`SandboxesError`] where this machine cannot run such sandboxes at all.
    pub async fn measure(&self) -> Result<CapabilityManifest, SandboxesError> {
        Ok(self.port.inspect_capabilities().await?)
    }

    /// Allocates a sandbox and keeps the manifest that it was allocated under.
    ///
    /// # Errors
    /// [`SandboxesError`]; then the run holds no sandbox.
    pub async fn allocate(
        &self,
        needs: Needs,
        manifest: &CapabilityManifest,
    ) -> Result<Kept<SandboxLease>, SandboxesError> {
        let digest = self.keep(&needs.scope, manifest).await?;
        let wanted = self.any_life(&needs.scope, &needs.run, needs.image)?;
        let spec = SandboxSpec {
            scope: needs.scope,
            run: needs.run,
            image: needs.image,
            limits: needs.limits,
            fixtures: needs.fixtures,
            volumes: needs.volumes,
            blobs: self.blobs.clone(),
        };
        let receipt = self.port.allocate(spec).await?;
        if (SandboxLease { incarnation: wanted.incarnation.clone(), ..receipt.clone() }) != wanted {
            return Err(SandboxesError::AnotherRun);
        }
        Ok(Kept { receipt, digest })
    }

    /// Runs a command on the tree that it names, which is brought to the sandbox first where it is not there yet.
    ///
    /// # Errors
    /// [`SandboxesError`]; then nothing is known of the command.
    pub async fn execute(
        &self,
        lease: &SandboxLease,
        batch: FileBatch,
        command: NamedCommand,
        abort: AbortSignal,
    ) -> Result<ExecutionObservation, SandboxesError> {
        self.bring(lease, batch).await?;
        self.run(lease, command, abort).await
    }

    /// Brings a tree to a sandbox, where it is not there yet. Asking twice is asking once.
    ///
    /// # Errors
    /// [`SandboxesError`]; then the tree is not to be named.
    pub async fn bring(&self, lease: &SandboxLease, batch: FileBatch) -> Result<(), SandboxesError> {
        let staging = (lease.incarnation.clone(), batch.tree);
        if self.is_staged(&staging) {
            return Ok(());
        }
        let receipt = self.port.write_files(lease, batch).await?;
        if receipt.incarnation != staging.0 || receipt.tree != staging.1 {
            return Err(SandboxesError::AnotherLife);
        }
        self.staged.lock().unwrap_or_else(PoisonError::into_inner).insert(staging);
        Ok(())
    }

    /// Runs a command on a tree that was brought before. It is asked for once, whatever happens. One that no backend can
    /// hand over is not asked for at all.
    ///
    /// # Errors
    /// [`SandboxesError`]; then nothing is known of the command, or nothing was run.
    pub async fn run(
        &self,
        lease: &SandboxLease,
        command: NamedCommand,
        abort: AbortSignal,
    ) -> Result<ExecutionObservation, SandboxesError> {
        command.check().map_err(SandboxError::from)?;
        let effect = command.effect.clone();
        let observation = self.port.execute_named(lease, command, abort).await?;
        if observation.incarnation != lease.incarnation || observation.effect != effect {
            return Err(SandboxesError::AnotherLife);
        }
        Ok(observation)
    }

    fn is_staged(&self, staging: &(Incarnation, Digest)) -> bool {
        self.staged.lock().unwrap_or_else(PoisonError::into_inner).contains(staging)
    }

    /// Stops every process of a sandbox.
    ///
    /// # Errors
    /// [`SandboxesError`] where it is not proven that none is left.
    pub async fn cancel(
        &self,
        lease: &SandboxLease,
        reason: &StopReason,
    ) -> Result<Kept<CancellationReceipt>, SandboxesError> {
        let receipt = self.port.cancel(lease, reason).await?;
        if receipt.lease != lease.lease || receipt.incarnation != lease.incarnation {
            return Err(SandboxesError::AnotherLife);
        }
        if receipt.remaining_processes > 0 {
            return Err(SandboxesError::ProcessesRemain(receipt.remaining_processes));
        }
        let digest = self.keep(&lease.scope, &receipt).await?;
        Ok(Kept { receipt, digest })
    }

    /// Removes a sandbox and keeps the proof.
    ///
    /// # Errors
    /// [`SandboxesError`] where something is left, nothing was looked at, or the proof is about another sandbox.
    pub async fn destroy(&self, lease: &SandboxLease) -> Result<Kept<DestructionReceipt>, SandboxesError> {
        self.remove(lease, Lives::Named).await
    }

    /// Removes whatever sandbox a run may have, where nobody learned which, and keeps the proof.
    ///
    /// # Errors
    /// [`SandboxesError`] where something is left, or nothing was looked at.
    pub async fn destroy_every(
        &self,
        scope: &Scope,
        run: &RunId,
        image: Digest,
    ) -> Result<Kept<DestructionReceipt>, SandboxesError> {
        let lease = self.any_life(scope, run, image)?;
        self.remove(&lease, Lives::Every).await
    }

    /// Removes whatever sandbox a run may have, likewise, before it is given another one. The record tells of the new one
    /// alone, so no proof is kept.
    ///
    /// # Errors
    /// [`SandboxesError`] where something is left, or nothing was looked at.
    pub async fn make_room(&self, scope: &Scope, run: &RunId, image: Digest) -> Result<(), SandboxesError> {
        let lease = self.any_life(scope, run, image)?;
        self.remove_with_proof(&lease, Lives::Every).await.map(drop)
    }

    /// The lease of a run, whichever life it is in.
    fn any_life(&self, scope: &Scope, run: &RunId, image: Digest) -> Result<SandboxLease, SandboxesError> {
        Ok(SandboxLease {
            lease: SandboxLease::id_of(scope, run),
            incarnation: Incarnation::new("inc_unknown").map_err(|_| SandboxesError::AnotherLife)?,
            backend: self.port.backend_id().clone(),
            run: run.clone(),
            scope: scope.clone(),
            image,
        })
    }

    async fn remove(
        &self,
        lease: &SandboxLease,
        lives: Lives,
    ) -> Result<Kept<DestructionReceipt>, SandboxesError> {
        let receipt = self.remove_with_proof(lease, lives).await?;
        let digest = self.keep(&lease.scope, &receipt).await?;
        Ok(Kept { receipt, digest })
    }

    async fn remove_with_proof(
        &self,
        lease: &SandboxLease,
        lives: Lives,
    ) -> Result<DestructionReceipt, SandboxesError> {
        let receipt = self.port.destroy(lease, lives).await?;
        let is_about_it = receipt.lease == lease.lease && receipt.incarnation == lease.incarnation;
        if !is_about_it || !receipt.is_proof() {
            return Err(SandboxesError::DestructionUnproven);
        }
        if let Some(witness) = &self.witness {
            let survey = witness.survey().await?;
            if survey.found.iter().any(|found| found.lease.as_ref() == Some(&lease.lease)) {
                return Err(SandboxesError::DestructionUnproven);
            }
        }
        self.staged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|(life, _)| *life != lease.incarnation);
        Ok(receipt)
    }

    async fn keep<T: Serialize>(&self, scope: &Scope, value: &T) -> Result<Digest, SandboxesError> {
        let bytes = ambit_canonical::encode(value).map_err(SandboxesError::Receipt)?;
        Ok(self.blobs.put(scope, bytes.into_bytes().into()).await?)
    }
}
