use ambit_ids::{ApproverId, BlueprintId, CaseId, Digest, DocumentName, RevisionId, RunId, RunName};
use serde::{Deserialize, Serialize};

use crate::CredentialForm;

/// What happens in a project, outside of any run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum ProjectBody {
    /// Somebody may approve from now on, by this key.
    #[serde(rename = "approver.registered")]
    ApproverRegistered {
        /// The name.
        approver: ApproverId,
        /// The Ed25519 public key in hexadecimal digits.
        public_key: String,
        /// How the credential was kept from the beginning. Records from before it was told do not say.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        credential: Option<CredentialForm>,
    },
    /// A document is known to the project. Its bytes are a blob. One name and version has one content for ever.
    #[serde(rename = "document.registered")]
    DocumentRegistered {
        /// The kind of document, as it says itself.
        document_kind: String,
        /// Its name.
        name: DocumentName,
        /// Its version.
        version: u32,
        /// The digest of its canonical bytes.
        digest: Digest,
    },
    /// A blueprint is approved: a run may be pinned to exactly this digest.
    #[serde(rename = "blueprint.approved")]
    BlueprintApproved {
        /// The blueprint.
        blueprint: BlueprintId,
        /// The digest of its canonical bytes.
        digest: Digest,
        /// Who approved.
        approver: ApproverId,
        /// The Ed25519 signature of the approver over the approval, in hexadecimal digits.
        signature: String,
    },
    /// Somebody else may approve from now on, as somebody who may says.
    #[serde(rename = "approver.added")]
    ApproverAdded {
        /// The name.
        approver: ApproverId,
        /// The Ed25519 public key in hexadecimal digits.
        public_key: String,
        /// How the credential was kept from the beginning. Records from before it was told do not say.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        credential: Option<CredentialForm>,
        /// Who says so.
        by: ApproverId,
        /// The Ed25519 signature of who says so, in hexadecimal digits.
        signature: String,
    },
    /// Somebody may approve no more. The name is never given again.
    #[serde(rename = "approver.revoked")]
    ApproverRevoked {
        /// The name.
        approver: ApproverId,
        /// Who says so.
        by: ApproverId,
        /// The Ed25519 signature of who says so, in hexadecimal digits.
        signature: String,
    },
    /// A blueprint is approved no more: no further run is pinned to this digest.
    #[serde(rename = "blueprint.withdrawn")]
    BlueprintWithdrawn {
        /// The blueprint.
        blueprint: BlueprintId,
        /// The digest of its canonical bytes.
        digest: Digest,
        /// Who withdrew.
        approver: ApproverId,
        /// The Ed25519 signature of who withdrew, in hexadecimal digits.
        signature: String,
    },
    /// A tree became the first or next revision without a run.
    #[serde(rename = "revision.imported")]
    RevisionImported {
        /// The revision.
        revision: RevisionId,
        /// The digest of its tree.
        tree: Digest,
        /// Files and links.
        entries: u64,
        /// Where it came from, as the importer named it.
        source: String,
    },
    /// The customer asks for a change within a case of the same blueprint. The approved job stays as it is.
    #[serde(rename = "revision.requested")]
    RevisionRequested {
        /// The digest of the request's text.
        request: Digest,
        /// The text.
        text: String,
        /// The revision that it is about.
        revision: RevisionId,
        /// The blueprint whose case it belongs to.
        blueprint: Digest,
        /// The case.
        case: CaseId,
    },
    /// A run was asked for and refused. Nothing was created.
    #[serde(rename = "run.rejected")]
    RunRejected {
        /// `run.start`.
        action: String,
        /// The stable code.
        code: String,
        /// What was wrong.
        detail: String,
        /// The blueprint that was named.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        blueprint: Option<BlueprintId>,
        /// The digest that was named.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        digest: Option<Digest>,
        /// The name that the run would have had.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        name: Option<RunName>,
    },
    /// A run of this project is over. Binds the end of its chain into the project's.
    #[serde(rename = "run.closed")]
    RunClosed {
        /// The run.
        run: RunId,
        /// The position of its last record.
        last_seq: u64,
        /// The leaf hash of its last record.
        leaf: Digest,
        /// The final phase.
        phase: String,
    },
}

impl ProjectBody {
    /// The kind, as it is listed.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::ApproverRegistered { .. } => "approver.registered",
            Self::ApproverAdded { .. } => "approver.added",
            Self::ApproverRevoked { .. } => "approver.revoked",
            Self::BlueprintWithdrawn { .. } => "blueprint.withdrawn",
            Self::DocumentRegistered { .. } => "document.registered",
            Self::BlueprintApproved { .. } => "blueprint.approved",
            Self::RevisionImported { .. } => "revision.imported",
            Self::RevisionRequested { .. } => "revision.requested",
            Self::RunRejected { .. } => "run.rejected",
            Self::RunClosed { .. } => "run.closed",
        }
    }
}
