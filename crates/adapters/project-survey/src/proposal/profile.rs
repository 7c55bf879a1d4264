use ambit_blueprint::AggregateLimits;

/// The name of the profile in its file.
pub const PROFILE_NAME: &str = "project-v1";

/// The profile of a repository's runs: what the sandbox must prove, and which documents hold. Where limits on a sandbox
/// as a whole cannot be enforced, every record of a run says so.
#[must_use]
pub fn profile(limits: AggregateLimits) -> String {
    let (word, remark) = match limits {
        AggregateLimits::Enforced => ("enforced", "this machine enforces limits on a sandbox as a whole"),
        AggregateLimits::BestEffort => (
            "best-effort",
            "this machine cannot enforce limits on a sandbox as a whole, only on each process",
        ),
    };
    format!(
        "# What the sandbox must prove before a run of this repository starts in it. Nothing can be reached, no secret is bound.
apiVersion: coding-agent.enterprise/v1
kind: ExecutionCapabilityProfile
metadata:
  name: {PROFILE_NAME}
spec:
  required:
    isolation: dedicated-sandbox-per-run
    egress: deny-all
    secretDelivery: brokered-no-plaintext
    preview: disabled-until-explicit-grant
    cancellation: process-stop-then-destroy
    evidence: immutable-positive-and-negative-probes
    # {remark}
    aggregateLimits: {word}
  policyRefs:
    commands: policy://project-commands/v1
    network: policy://generation-egress/v5
    secrets: policy://secret-broker/v4
    retention: policy://run-evidence-retention/v2
"
    )
}
