use ambit_ids::{BackendId, Digest, UnixMs};
use serde::{Deserialize, Serialize};

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
    /// Versions beneath the sandbox that are known to be bad, or may be. They are told and refuse nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
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
    /// No control group. There are limits on each process, and the backend may do more by itself, but the kernel bounds
    /// nothing for all of them together. The manifest says in `lacks` what that leaves.
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

/// A kernel or a runtime of a version that has a known defect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Advisory {
    /// What has it, with its version (`runc 1.1.11`).
    pub component: String,
    /// The defect, by its name in the list of common vulnerabilities and exposures.
    pub id: String,
    /// Whether it is affected or may be, and what a program could do by it.
    pub says: String,
    /// What mends it.
    pub mend: String,
}
