//! The eight verbs.

use ambit_ids::BackendId;
use ambit_ports::AbortSignal;
use ambit_ports::sandbox::{
    CancellationReceipt, CapabilityManifest, DestructionReceipt, ExecutionObservation, FileBatch,
    FileReceipt, Lives, NamedCommand, PreviewGrant, PreviewPolicy, RevocationReceipt, SandboxError,
    SandboxLease, SandboxPort, SandboxSpec,
};
use ambit_run::StopReason;
use async_trait::async_trait;

use crate::backend::LinuxSandboxes;
use crate::execute::execute;
use crate::{machine, retire};

#[async_trait]
impl SandboxPort for LinuxSandboxes {
    fn backend_id(&self) -> &BackendId {
        &self.id
    }

    async fn inspect_capabilities(&self) -> Result<CapabilityManifest, SandboxError> {
        self.inspect().await
    }

    async fn allocate(&self, spec: SandboxSpec) -> Result<SandboxLease, SandboxError> {
        machine::check()?;
        let image = self.image_root(spec.image).await?;
        let mut volumes = Vec::with_capacity(spec.volumes.len());
        for volume in &spec.volumes {
            volumes.push(self.volumes.volume_root(volume.digest).await?);
        }
        self.allocate_from(&spec, &image, &volumes).await
    }

    async fn write_files(&self, lease: &SandboxLease, batch: FileBatch) -> Result<FileReceipt, SandboxError> {
        self.bring(lease, batch).await
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
        self.withdraw(lease, Lives::Named);
        retire::cancel(&self.home(&lease.lease), lease).await
    }

    async fn destroy(&self, lease: &SandboxLease, lives: Lives) -> Result<DestructionReceipt, SandboxError> {
        let _change = self.change_lock(&lease.lease).lock().await;
        self.withdraw(lease, lives);
        retire::destroy(&self.home(&lease.lease), lease, lives).await
    }
}
