use ambit_ids::{DocumentName, vocabulary};
use serde::Serialize;

use crate::budget::{BudgetCeilings, read_ceilings};
use crate::cursor::{Cursor, Fields, Read};
use crate::envelope::{DocumentKind, document, read_envelope};
use crate::policy_ref::PolicyRef;
use crate::word::Word;

/// What a backend must prove before a run is allocated on it, and the policies that hold there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionCapabilityProfile {
    /// How it is named.
    pub metadata: ProfileMetadata,
    /// What it demands.
    pub spec: ProfileSpec,
}

/// How a profile is named. The version is part of the name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProfileMetadata {
    /// The name (`secure-generation-v1`).
    pub name: DocumentName,
}

/// What a profile demands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileSpec {
    /// The outcomes that a backend must prove.
    pub required: RequiredOutcomes,
    /// The policies that hold.
    pub policy_refs: PolicyRefs,
    /// Limits that no run under the profile may pass.
    #[serde(skip_serializing_if = "is_unbounded")]
    pub run_budget: BudgetCeilings,
}

/// The outcomes that a backend must prove. Each vocabulary is closed: a level that is not listed cannot be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequiredOutcomes {
    /// What separates one run from another.
    pub isolation: RequiredIsolation,
    /// What a sandbox can reach.
    pub egress: RequiredEgress,
    /// How secrets reach a sandbox.
    pub secret_delivery: RequiredSecretDelivery,
    /// What exposing a port takes.
    pub preview: RequiredPreview,
    /// What cancelling does.
    pub cancellation: RequiredCancellation,
    /// What the backend's claims rest on.
    pub evidence: RequiredEvidence,
    /// Whether limits on a sandbox as a whole must be enforced.
    pub aggregate_limits: AggregateLimits,
}

vocabulary!(
    /// What separates one run from another.
    RequiredIsolation {
        /// One sandbox per run and one run per sandbox.
        DedicatedSandboxPerRun = "dedicated-sandbox-per-run",
    }
);
vocabulary!(
    /// What a sandbox can reach.
    RequiredEgress {
        /// Nothing.
        DenyAll = "deny-all",
    }
);
vocabulary!(
    /// How secrets reach a sandbox.
    RequiredSecretDelivery {
        /// Through a broker and never in plaintext; a backend that binds no secret at all, proven, satisfies it too.
        BrokeredNoPlaintext = "brokered-no-plaintext",
    }
);
vocabulary!(
    /// What exposing a port takes.
    RequiredPreview {
        /// An explicit grant.
        DisabledUntilExplicitGrant = "disabled-until-explicit-grant",
    }
);
vocabulary!(
    /// What cancelling does.
    RequiredCancellation {
        /// Processes are stopped first, then the sandbox is destroyed.
        ProcessStopThenDestroy = "process-stop-then-destroy",
    }
);
vocabulary!(
    /// What the backend's claims rest on.
    RequiredEvidence {
        /// Probes of what is allowed and of what is denied, kept unalterably.
        ImmutablePositiveAndNegativeProbes = "immutable-positive-and-negative-probes",
    }
);
vocabulary!(
    /// Whether limits on all processes of a sandbox together must be enforced.
    AggregateLimits {
        /// They must be, or nothing is allocated.
        Enforced = "enforced",
        /// Where the machine cannot, limits on each process stand in, and every record says what is lacking.
        BestEffort = "best-effort",
    }
);

/// The policies that a profile refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyRefs {
    /// The catalog of named commands.
    pub commands: PolicyRef,
    /// What may be reached.
    pub network: PolicyRef,
    /// How secrets are bound.
    pub secrets: PolicyRef,
    /// How long evidence is kept.
    pub retention: PolicyRef,
}

fn is_unbounded(ceilings: &BudgetCeilings) -> bool {
    *ceilings == BudgetCeilings::default()
}

document!(ExecutionCapabilityProfile, DocumentKind::ExecutionCapabilityProfile);

impl ExecutionCapabilityProfile {
    pub(crate) fn read(cursor: &Cursor<'_>) -> Read<Self> {
        let kind = DocumentKind::ExecutionCapabilityProfile;
        let (metadata, spec) = read_envelope(cursor, kind, read_metadata, read_spec)?;
        Ok(Self { metadata, spec })
    }
}

fn read_metadata(cursor: &Cursor<'_>) -> Read<ProfileMetadata> {
    let mut fields = cursor.fields()?;
    let name = fields.required("name").and_then(|c| c.parsed());
    fields.finish()?;
    Ok(ProfileMetadata { name: name? })
}

fn read_spec(cursor: &Cursor<'_>) -> Read<ProfileSpec> {
    let mut fields = cursor.fields()?;
    let required = fields.required("required").and_then(|c| read_required(&c));
    let policy_refs = fields.required("policyRefs").and_then(|c| read_policy_refs(&c));
    let run_budget = fields.optional("runBudget").map(|c| read_ceilings(&c)).transpose();
    fields.finish()?;
    Ok(ProfileSpec {
        required: required?,
        policy_refs: policy_refs?,
        run_budget: run_budget?.unwrap_or_default(),
    })
}

fn read_required(cursor: &Cursor<'_>) -> Read<RequiredOutcomes> {
    fn word<W: Word>(fields: &mut Fields<'_>, name: &'static str) -> Read<W> {
        fields.required(name).and_then(|c| c.word())
    }
    let mut fields = cursor.fields()?;
    let isolation = word(&mut fields, "isolation");
    let egress = word(&mut fields, "egress");
    let secret_delivery = word(&mut fields, "secretDelivery");
    let preview = word(&mut fields, "preview");
    let cancellation = word(&mut fields, "cancellation");
    let evidence = word(&mut fields, "evidence");
    let aggregate_limits = fields.optional("aggregateLimits").map(|c| c.word()).transpose();
    fields.finish()?;
    Ok(RequiredOutcomes {
        isolation: isolation?,
        egress: egress?,
        secret_delivery: secret_delivery?,
        preview: preview?,
        cancellation: cancellation?,
        evidence: evidence?,
        aggregate_limits: aggregate_limits?.unwrap_or(AggregateLimits::Enforced),
    })
}

fn read_policy_refs(cursor: &Cursor<'_>) -> Read<PolicyRefs> {
    let mut fields = cursor.fields()?;
    let mut reference = |name| fields.required(name).and_then(|c| c.parsed());
    let commands = reference("commands");
    let network = reference("network");
    let secrets = reference("secrets");
    let retention = reference("retention");
    fields.finish()?;
    Ok(PolicyRefs { commands: commands?, network: network?, secrets: secrets?, retention: retention? })
}
