//! What this machine can hold, measured by probes inside real sandboxes.
//!
//! The probes run on a backend of their own beside the one that serves runs: with its own spawner, which one of them kills.
//! What runs inside is the guest's program in its role as prober, so nothing is needed of any image.

mod blobs;
mod denials;
mod failures;
mod lacks;
mod lives;
mod result;
mod subject;

use ambit_ids::Digest;
use ambit_ports::sandbox::{
    Cancellation, CapabilityManifest, Egress, Isolation, ManifestVersion, Preview, ProviderAudit,
    SandboxError, SandboxPort as _, SecretDelivery,
};

use crate::backend::LinuxSandboxes;
use subject::Subject;

/// Measures the backend. `environment` names everything that the answer depends on.
pub(crate) async fn measure(
    backend: &LinuxSandboxes,
    environment: Digest,
) -> Result<CapabilityManifest, SandboxError> {
    let beside = backend.beside("probes")?;
    let subject = Subject::allocate(&beside, "inside").await?;
    let mut probes = denials::all(&subject).await;
    probes.extend(failures::all(&subject).await);
    let copied = subject.copies_the_tree().await;
    probes.extend(lives::all(subject).await);
    probes.sort_by(|left, right| left.id.cmp(&right.id));

    let limits = beside.layout().enforcement();
    let proven = |prefix: &str| {
        let mut of_it = probes.iter().filter(|probe| probe.id.starts_with(prefix)).peekable();
        of_it.peek().is_some() && of_it.all(|probe| probe.passed)
    };
    Ok(CapabilityManifest {
        manifest_version: ManifestVersion::V1,
        backend_id: backend.backend_id().clone(),
        adapter_version: env!("CARGO_PKG_VERSION").into(),
        isolation: if proven("denied.isolation.") && proven("positive.") {
            Isolation::DedicatedSandboxPerRun
        } else {
            Isolation::Unproven
        },
        egress: if proven("denied.network.") { Egress::DenyAll } else { Egress::Unproven },
        secret_delivery: if proven("denied.canary.") {
            SecretDelivery::NoneBound
        } else {
            SecretDelivery::Unproven
        },
        preview: Preview::Disabled,
        cancellation: if proven("cancellation.") && proven("cleanup.") {
            Cancellation::ProcessStopThenDestroy
        } else {
            Cancellation::Unproven
        },
        provider_audit: ProviderAudit::NotReliedUpon,
        limits,
        evidence_probes: probes,
        lacks: lacks::of(&limits, copied),
        environment,
        measured_at: backend.now(),
    })
}
