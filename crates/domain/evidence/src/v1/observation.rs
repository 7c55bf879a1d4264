use std::collections::BTreeSet;

use ambit_gates::{Ending, GateTests, Objection, ResourceLimit};
use ambit_ids::{ByteCount, Digest, DurationMs, GateId, IdempotencyKey, ReceiptId, RepoPath};
use ambit_redaction::Redactions;
use ambit_run::{AppliedPatch, ApprovalVerdict, GateRecord, Observation};
use serde::{Deserialize, Serialize};

/// What was seen of an effect other than a patch or a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "seen", rename_all = "kebab-case", rename_all_fields = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "each is the observation of the same name")]
#[expect(clippy::large_enum_variant, reason = "one is made for each call and moved a few times")]
pub enum ObservationV1 {
    FileRead {
        path: RepoPath,
        sha256: Digest,
        bytes: ByteCount,
        truncated: bool,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        redactions: Option<Redactions>,
    },
    FilesListed {
        count: u32,
        truncated: bool,
    },
    TextFound {
        count: u32,
        truncated: bool,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        redactions: Option<Redactions>,
    },
    Patch(PatchV1),
    Gate(GateRecordV1),
    ApprovalAnswered {
        approved: bool,
        receipt: ReceiptId,
    },
    Failed {
        code: String,
    },
    Unknown,
}

/// A patch that became part of the revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "each field is the one of the applied patch")]
pub struct PatchV1 {
    pub base: Digest,
    pub tree: Digest,
    pub proposed: Digest,
    pub canonical: Digest,
    pub files: Vec<RepoPath>,
    pub changed_from_base: u32,
    pub added_dependencies: u32,
}

/// One execution of a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "each field is the one of the gate record")]
pub struct GateRecordV1 {
    pub gate: GateId,
    pub attempt: u32,
    pub key: IdempotencyKey,
    pub tree: Digest,
    pub ending: Ending,
    pub breaches: BTreeSet<ResourceLimit>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fingerprint: Option<Digest>,
    pub artifact: Digest,
    pub output_bytes: ByteCount,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub redactions: Option<Redactions>,
    pub duration_ms: DurationMs,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub objections: Vec<Objection>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tests: Option<GateTests>,
}

impl From<&Observation> for ObservationV1 {
    fn from(observation: &Observation) -> Self {
        match observation.clone() {
            Observation::FileRead { path, sha256, bytes, truncated, redactions } => {
                Self::FileRead { path, sha256, bytes, truncated, redactions }
            }
            Observation::FilesListed { count, truncated } => Self::FilesListed { count, truncated },
            Observation::TextFound { count, truncated, redactions } => {
                Self::TextFound { count, truncated, redactions }
            }
            Observation::PatchApplied(patch) => Self::Patch((&patch).into()),
            Observation::GateFinished(record) => Self::Gate((&record).into()),
            Observation::ApprovalAnswered { verdict, receipt } => {
                Self::ApprovalAnswered { approved: verdict == ApprovalVerdict::Approved, receipt }
            }
            Observation::Failed { code } => Self::Failed { code },
            Observation::Unknown => Self::Unknown,
        }
    }
}

impl From<ObservationV1> for Observation {
    fn from(observation: ObservationV1) -> Self {
        match observation {
            ObservationV1::FileRead { path, sha256, bytes, truncated, redactions } => {
                Self::FileRead { path, sha256, bytes, truncated, redactions }
            }
            ObservationV1::FilesListed { count, truncated } => Self::FilesListed { count, truncated },
            ObservationV1::TextFound { count, truncated, redactions } => {
                Self::TextFound { count, truncated, redactions }
            }
            ObservationV1::Patch(patch) => Self::PatchApplied(patch.into()),
            ObservationV1::Gate(record) => Self::GateFinished(record.into()),
            ObservationV1::ApprovalAnswered { approved, receipt } => {
                Self::ApprovalAnswered { verdict: verdict(approved), receipt }
            }
            ObservationV1::Failed { code } => Self::Failed { code },
            ObservationV1::Unknown => Self::Unknown,
        }
    }
}

pub(super) const fn verdict(approved: bool) -> ApprovalVerdict {
    if approved { ApprovalVerdict::Approved } else { ApprovalVerdict::Rejected }
}

impl From<&AppliedPatch> for PatchV1 {
    fn from(patch: &AppliedPatch) -> Self {
        Self {
            base: patch.base,
            tree: patch.tree,
            proposed: patch.proposed,
            canonical: patch.canonical,
            files: patch.files.clone(),
            changed_from_base: patch.changed_from_base,
            added_dependencies: patch.added_dependencies,
        }
    }
}

impl From<PatchV1> for AppliedPatch {
    fn from(patch: PatchV1) -> Self {
        Self {
            base: patch.base,
            tree: patch.tree,
            proposed: patch.proposed,
            canonical: patch.canonical,
            files: patch.files,
            changed_from_base: patch.changed_from_base,
            added_dependencies: patch.added_dependencies,
        }
    }
}

impl From<&GateRecord> for GateRecordV1 {
    fn from(record: &GateRecord) -> Self {
        Self {
            gate: record.gate.clone(),
            attempt: record.attempt,
            key: record.key.clone(),
            tree: record.tree,
            ending: record.ending,
            breaches: record.breaches.clone(),
            fingerprint: record.fingerprint,
            artifact: record.artifact,
            output_bytes: record.output,
            redactions: record.redactions.clone(),
            duration_ms: record.duration,
            objections: record.objections.clone(),
            tests: record.tests,
        }
    }
}

impl From<GateRecordV1> for GateRecord {
    fn from(record: GateRecordV1) -> Self {
        Self {
            gate: record.gate,
            attempt: record.attempt,
            key: record.key,
            tree: record.tree,
            ending: record.ending,
            breaches: record.breaches,
            fingerprint: record.fingerprint,
            artifact: record.artifact,
            output: record.output_bytes,
            redactions: record.redactions,
            duration: record.duration_ms,
            objections: record.objections,
            tests: record.tests,
        }
    }
}
