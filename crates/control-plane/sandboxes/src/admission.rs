use std::collections::BTreeSet;

use ambit_blueprint::{AggregateLimits, ExecutionCapabilityProfile};
use ambit_ports::sandbox::{
    Cancellation, CapabilityManifest, Egress, Enforcer, Isolation, Preview, ProbeFamily, SecretDelivery,
};

/// The families of which every manifest must have at least one probe.
pub const FAMILIES: [ProbeFamily; 6] = [
    ProbeFamily::Positive,
    ProbeFamily::Denied,
    ProbeFamily::Failure,
    ProbeFamily::Cancellation,
    ProbeFamily::Cleanup,
    ProbeFamily::Recovery,
];

/// The requirement that limits hold for a sandbox as a whole: the only one that a profile can do without.
const WHOLE_LIMITS: &str = "aggregateLimits: enforced";

/// A requirement of a profile that a backend does not meet on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// The requirement, as the profile spells it.
    pub requirement: &'static str,
    /// What was measured.
    pub measured: String,
    /// What can be done about it; empty where nothing is known.
    pub mend: String,
}

impl Unmet {
    /// Whether a profile with `aggregateLimits: best-effort` would not ask for it.
    #[must_use]
    pub fn is_of_whole_limits(&self) -> bool {
        self.requirement == WHOLE_LIMITS
    }
}

/// Why no sandbox is allocated: a backend that does not meet a profile is not used, and nothing is filled in for it.
#[derive(Debug, thiserror::Error)]
#[error("the backend does not meet the profile {profile}: {}", list(.unmet))]
pub struct NotAdmitted {
    /// The profile.
    pub profile: String,
    /// Everything that is not met.
    pub unmet: Vec<Unmet>,
}

/// Every requirement with what was measured, and then each mend once, however many requirements need it.
fn list(unmet: &[Unmet]) -> String {
    let requirements = unmet.iter().map(|it| format!("{} ({})", it.requirement, it.measured));
    let mends: BTreeSet<&str> = unmet.iter().map(|it| it.mend.as_str()).filter(|it| !it.is_empty()).collect();
    requirements.chain(mends.into_iter().map(str::to_owned)).collect::<Vec<_>>().join("; ")
}

/// Everything that a profile requires and a manifest does not show.
///
/// The words of a profile and of a manifest differ on purpose: a profile names outcomes, a manifest what was measured.
/// This is the one place where the one is held against the other.
#[must_use]
pub fn unmet(profile: &ExecutionCapabilityProfile, manifest: &CapabilityManifest) -> Vec<Unmet> {
    let outcomes = [
        (
            "isolation: dedicated-sandbox-per-run",
            manifest.isolation == Isolation::DedicatedSandboxPerRun,
            format!("{:?}", manifest.isolation),
        ),
        ("egress: deny-all", manifest.egress == Egress::DenyAll, format!("{:?}", manifest.egress)),
        (
            "secretDelivery: brokered-no-plaintext",
            matches!(
                manifest.secret_delivery,
                SecretDelivery::OpaqueProviderPlaceholder
                    | SecretDelivery::ShortLivedProxyToken
                    | SecretDelivery::NoneBound
            ),
            format!("{:?}", manifest.secret_delivery),
        ),
        (
            "preview: disabled-until-explicit-grant",
            matches!(manifest.preview, Preview::Disabled | Preview::Authenticated),
            format!("{:?}", manifest.preview),
        ),
        (
            "cancellation: process-stop-then-destroy",
            manifest.cancellation == Cancellation::ProcessStopThenDestroy,
            format!("{:?}", manifest.cancellation),
        ),
    ];
    let mut unmet: Vec<Unmet> = outcomes
        .into_iter()
        .filter(|(_, met, _)| !met)
        .map(|(requirement, _, measured)| Unmet { requirement, measured, mend: mend(manifest) })
        .collect();
    unmet.extend(unproven(manifest));
    unmet.extend(unlimited(profile, manifest));
    unmet
}

/// What mends everything that the machine lacks, each once: one mend often serves for several.
fn mend(manifest: &CapabilityManifest) -> String {
    let mut mends: Vec<&str> = manifest.lacks.iter().map(|lack| lack.mend.as_str()).collect();
    let mut seen = BTreeSet::new();
    mends.retain(|mend| seen.insert(*mend));
    mends.join("; ")
}

/// Evidence means probes of every family, and no probe that found what it must not find.
fn unproven(manifest: &CapabilityManifest) -> Option<Unmet> {
    let passed: BTreeSet<ProbeFamily> =
        manifest.evidence_probes.iter().filter(|probe| probe.passed).map(|probe| probe.family).collect();
    let absent: Vec<String> = FAMILIES
        .iter()
        .filter(|family| !passed.contains(family))
        .map(|family| format!("{family:?}"))
        .collect();
    let failed = failed(manifest);
    if absent.is_empty() && failed.is_empty() {
        return None;
    }
    let mut measured = Vec::new();
    if !absent.is_empty() {
        measured.push(format!("no probe of {}", absent.join(", ")));
    }
    if !failed.is_empty() {
        measured.push(format!("failed: {}", failed.join("; ")));
    }
    Some(Unmet {
        requirement: "evidence: immutable-positive-and-negative-probes",
        measured: measured.join("; "),
        mend: mend(manifest),
    })
}

/// The probes that failed with what they saw. What several saw alike is told once: one cause often fails them all.
fn failed(manifest: &CapabilityManifest) -> Vec<String> {
    let mut alike: Vec<(&str, Vec<&str>)> = Vec::new();
    for probe in manifest.evidence_probes.iter().filter(|probe| !probe.passed) {
        let saw = probe.observed.strip_suffix("; control: the same").unwrap_or(&probe.observed);
        match alike.iter_mut().find(|(seen, _)| *seen == saw) {
            Some((_, ids)) => ids.push(probe.id.as_str()),
            None => alike.push((saw, vec![probe.id.as_str()])),
        }
    }
    alike.into_iter().map(|(saw, ids)| format!("{}: {saw}", ids.join(", "))).collect()
}

/// Limits on a sandbox as a whole, unless the profile says that limits on single processes will do.
fn unlimited(profile: &ExecutionCapabilityProfile, manifest: &CapabilityManifest) -> Option<Unmet> {
    if profile.spec.required.aggregate_limits == AggregateLimits::BestEffort {
        return None;
    }
    let limits = manifest.limits;
    let loose: Vec<&str> = [("memory", limits.memory), ("processes", limits.processes), ("cpu", limits.cpu)]
        .into_iter()
        .filter(|(_, enforcer)| *enforcer == Enforcer::RlimitPerProcess)
        .map(|(name, _)| name)
        .collect();
    if loose.is_empty() {
        return None;
    }
    Some(Unmet {
        requirement: WHOLE_LIMITS,
        measured: format!("{} limited per process only", loose.join(", ")),
        mend: format!(
            "{}; or use a profile with `aggregateLimits: best-effort`, as laptop-v1 is, and every record says so",
            mend(manifest)
        ),
    })
}
