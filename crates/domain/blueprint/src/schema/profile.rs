use serde_json::Value;

use super::parts::{id, object, policy_ref, run_budget, word};
use crate::{
    AggregateLimits, RequiredCancellation, RequiredEgress, RequiredEvidence, RequiredIsolation,
    RequiredPreview, RequiredSecretDelivery,
};

/// Title, metadata and spec.
pub(super) fn parts() -> (&'static str, Value, Value) {
    let metadata = object(&[("name", id(64), "The name; the version is part of it.")], &[]);
    let required = object(
        &[
            ("isolation", word::<RequiredIsolation>(), "What separates runs."),
            ("egress", word::<RequiredEgress>(), "What a sandbox can reach."),
            ("secretDelivery", word::<RequiredSecretDelivery>(), "How secrets reach it."),
            ("preview", word::<RequiredPreview>(), "What exposing a port takes."),
            ("cancellation", word::<RequiredCancellation>(), "What cancelling does."),
            ("evidence", word::<RequiredEvidence>(), "What the backend's claims rest on."),
        ],
        &[(
            "aggregateLimits",
            word::<AggregateLimits>(),
            "Whether limits on all processes of a sandbox together must be enforced; `enforced` if left out.",
        )],
    );
    let refs = object(
        &[
            ("commands", policy_ref(), "The catalog of named commands."),
            ("network", policy_ref(), "What can be reached."),
            ("secrets", policy_ref(), "How secrets are bound."),
            ("retention", policy_ref(), "How long evidence is kept."),
        ],
        &[],
    );
    let spec = object(
        &[
            ("required", required, "What a backend must prove."),
            ("policyRefs", refs, "The policies that hold."),
        ],
        &[("runBudget", run_budget(false), "Ceilings for every run under the profile.")],
    );
    ("ExecutionCapabilityProfile: what a backend must prove before a run is allocated on it", metadata, spec)
}
