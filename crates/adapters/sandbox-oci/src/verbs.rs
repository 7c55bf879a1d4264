//! The eight verbs.

use std::time::Duration;

use ambit_ids::BackendId;
use ambit_ports::AbortSignal;
use ambit_ports::sandbox::{
    CancellationReceipt, CapabilityManifest, DestructionReceipt, ExecutionObservation, FileBatch,
    FileReceipt, Lives, NamedCommand, PreviewGrant, PreviewPolicy, RevocationReceipt, SandboxError,
    SandboxLease, SandboxPort, SandboxSpec,
};
use ambit_run::StopReason;
use async_trait::async_trait;

use crate::backend::OciSandboxes;
use crate::execute::execute;
use crate::retire;

/// How long a cancelled execution is waited for.
const SETTLING: Duration = Duration::from_secs(10);

#[async_trait]
impl SandboxPort for OciSandboxes {
    fn backend_id(&self) -> &BackendId {
        &self.id
    }

    async fn inspect_capabilities(&self) -> Result<CapabilityManifest, SandboxError> {
        self.inspect().await
    }

    async fn allocate(&self, spec: SandboxSpec) -> Result<SandboxLease, SandboxError> {
        self.ready(0)?;
        let image = self.images.root(spec.image).await?;
        let mut volumes = Vec::with_capacity(spec.volumes.len());
        for volume in &spec.volumes {
            volumes.push((volume.clone(), self.volumes.volume_root(volume.digest).await?));
        }
        self.allocate_from(&spec, &image, volumes).await
    }

    async fn write_files(&self, lease: &SandboxLease, batch: FileBatch) -> Result<FileReceipt, SandboxError> {
        self.sandbox(lease)?.write_files(batch).await
    }

    async fn execute_named(
        &self,
        lease: &SandboxLease,
        command: NamedCommand,
        abort: AbortSignal,
    ) -> Result<ExecutionObservation, SandboxError> {
        command.check()?;
        let sandbox = self.sandbox(lease)?;
        execute(&sandbox, &command, abort).await
    }

    async fn expose_preview(&self, _: &SandboxLease, _: PreviewPolicy) -> Result<PreviewGrant, SandboxError> {
        Err(SandboxError::PreviewDenied)
    }

    async fn revoke_preview(&self, grant: &PreviewGrant) -> Result<RevocationReceipt, SandboxError> {
        Ok(RevocationReceipt { lease: grant.lease.clone(), was_exposed: false })
    }

    async fn cancel(
        &self,
        lease: &SandboxLease,
        _: &StopReason,
    ) -> Result<CancellationReceipt, SandboxError> {
        let sandbox = self.sandbox(lease).ok();
        self.withdraw(lease, Lives::Named);
        let home = self.home(&lease.lease);
        let receipt = retire::cancel(&home, lease).await?;
        let Some(sandbox) = sandbox else { return Ok(receipt) };
        // A container that was just being made may have got its first processes since: they end with its execution.
        let _ = tokio::time::timeout(SETTLING, sandbox.turn.lock()).await;
        let late = retire::cancel(&home, lease).await?;
        Ok(CancellationReceipt { killed_processes: receipt.killed_processes + late.killed_processes, ..late })
    }

    async fn destroy(&self, lease: &SandboxLease, lives: Lives) -> Result<DestructionReceipt, SandboxError> {
        let _change = self.change_lock(&lease.lease).lock().await;
        self.withdraw(lease, lives);
        retire::destroy(&self.home(&lease.lease), lease, lives).await
    }
}
