use ambit_ids::{BackendId, Digest, UnixMs};
use ambit_ports::sandbox::{
    Advisory, Cancellation, CapabilityManifest, Egress, Isolation, LimitEnforcement, ManifestVersion,
    MissingFeature, Preview, Probe, ProviderAudit, SecretDelivery,
};

/// What a manifest says beside what probes prove.
#[derive(Clone, Debug)]
pub struct Circumstances {
    /// The backend.
    pub backend_id: BackendId,
    /// The version of the adapter, and of whatever it calls.
    pub adapter_version: String,
    /// By what the limits are enforced.
    pub limits: LimitEnforcement,
    /// What is lacking.
    pub lacks: Vec<MissingFeature>,
    /// What is known of the versions beneath.
    pub advisories: Vec<Advisory>,
    /// The digest of everything that the measurement depends on.
    pub environment: Digest,
    /// When it was measured.
    pub measured_at: UnixMs,
}

/// The manifest of a backend. Each claim stands on the probes of its families alone: where there is none of them, or one of
/// them did not find what it must, the claim is that nothing is proven.
#[must_use]
pub fn manifest(mut probes: Vec<Probe>, of: Circumstances) -> CapabilityManifest {
    probes.sort_by(|left, right| left.id.cmp(&right.id));
    let proven = |prefix: &str| {
        let mut of_it = probes.iter().filter(|probe| probe.id.starts_with(prefix)).peekable();
        of_it.peek().is_some() && of_it.all(|probe| probe.passed)
    };
    CapabilityManifest {
        manifest_version: ManifestVersion::V1,
        backend_id: of.backend_id,
        adapter_version: of.adapter_version,
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
        limits: of.limits,
        evidence_probes: probes,
        lacks: of.lacks,
        advisories: of.advisories,
        environment: of.environment,
        measured_at: of.measured_at,
    }
}

#[cfg(test)]
mod tests {
    use ambit_ports::sandbox::{Enforcer, ProbeFamily};

    use super::*;
    use crate::result::probe;

    fn of(found: &[(&str, bool)]) -> CapabilityManifest {
        let enforcer = Enforcer::CgroupV2;
        let circumstances = Circumstances {
            backend_id: BackendId::new("linux").unwrap(),
            adapter_version: "1".into(),
            limits: LimitEnforcement { memory: enforcer, processes: enforcer, cpu: enforcer },
            lacks: Vec::new(),
            advisories: Vec::new(),
            environment: Digest::of(b""),
            measured_at: UnixMs::new(1),
        };
        let probes = found.iter().map(|(id, passed)| probe(ProbeFamily::Denied, id, *passed, ""));
        manifest(probes.collect(), circumstances)
    }

    #[test]
    fn a_claim_stands_on_every_probe_of_its_family() {
        let whole = [("denied.network.public", true), ("denied.network.metadata", true)];
        assert_eq!(of(&whole).egress, Egress::DenyAll);
        let [public, (metadata, _)] = whole;
        assert_eq!(of(&[public, (metadata, false)]).egress, Egress::Unproven);
        assert_eq!(of(&[]).egress, Egress::Unproven);
    }

    #[test]
    fn a_claim_of_two_families_needs_both() {
        let both = [("cancellation.abort", true), ("cleanup.destroy", true)];
        assert_eq!(of(&both).cancellation, Cancellation::ProcessStopThenDestroy);
        assert_eq!(of(&both[..1]).cancellation, Cancellation::Unproven);
        assert_eq!(of(&both[1..]).cancellation, Cancellation::Unproven);
    }

    #[test]
    fn probes_are_sorted_by_id() {
        let ids = |manifest: CapabilityManifest| {
            manifest.evidence_probes.into_iter().map(|probe| probe.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(of(&[("b", true), ("c", false), ("a", true)])), ["a", "b", "c"]);
    }
}
