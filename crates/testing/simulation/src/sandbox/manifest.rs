use ambit_ids::{BackendId, Digest};
use ambit_ports::sandbox::{
    Cancellation, CapabilityManifest, Egress, Enforcer, Isolation, LimitEnforcement, ManifestVersion,
    Preview, Probe, ProbeFamily, ProviderAudit, SecretDelivery,
};

use crate::EPOCH;

/// What a backend that can do everything measures: one passed probe of every family.
#[must_use]
pub fn honest_manifest(backend: &BackendId) -> CapabilityManifest {
    let families = [
        ("cancellation.stops-processes", ProbeFamily::Cancellation),
        ("cleanup.leaves-nothing", ProbeFamily::Cleanup),
        ("denied.network", ProbeFamily::Denied),
        ("failure.is-told", ProbeFamily::Failure),
        ("positive.runs-a-command", ProbeFamily::Positive),
        ("recovery.replaces-once", ProbeFamily::Recovery),
    ];
    CapabilityManifest {
        manifest_version: ManifestVersion::V1,
        backend_id: backend.clone(),
        adapter_version: "simulation/1".to_owned(),
        isolation: Isolation::DedicatedSandboxPerRun,
        egress: Egress::DenyAll,
        secret_delivery: SecretDelivery::NoneBound,
        preview: Preview::Disabled,
        cancellation: Cancellation::ProcessStopThenDestroy,
        provider_audit: ProviderAudit::NotReliedUpon,
        limits: LimitEnforcement {
            memory: Enforcer::CgroupV2,
            processes: Enforcer::CgroupV2,
            cpu: Enforcer::CgroupV2,
        },
        evidence_probes: families
            .into_iter()
            .map(|(id, family)| Probe {
                id: id.to_owned(),
                family,
                passed: true,
                observed: "as it must".to_owned(),
            })
            .collect(),
        lacks: Vec::new(),
        advisories: Vec::new(),
        environment: Digest::of(b"a simulated machine"),
        measured_at: EPOCH,
    }
}
