use ambit_canonical::EncodeError;
use ambit_ids::{ByteCount, Digest, GateId, IdempotencyKey, ProjectId, ProposalId, RepoPath, RevisionId};
use ambit_policy::{Capability, ToolName};
use serde::{Deserialize, Serialize};

/// A typed call, as it was proposed. A patch stands here by its digest; its bytes are a blob.
///
/// Its canonical form is what approvals and idempotency keys bind to, so the shape never changes for a tool that exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tool", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum ToolCall {
    /// Reads one file.
    ReadProjectFile {
        /// The project that the agent names.
        project_id: ProjectId,
        /// The revision that the agent names.
        revision_id: RevisionId,
        /// The file.
        path: RepoPath,
    },
    /// Lists files.
    ListProjectFiles {
        /// The project that the agent names.
        project_id: ProjectId,
        /// The revision that the agent names.
        revision_id: RevisionId,
        /// Only below this directory.
        under: Option<RepoPath>,
    },
    /// Searches text, literally.
    SearchProjectText {
        /// The project that the agent names.
        project_id: ProjectId,
        /// The revision that the agent names.
        revision_id: RevisionId,
        /// What to look for, as it is.
        text: String,
        /// Only below this directory.
        under: Option<RepoPath>,
    },
    /// Applies a patch.
    ApplyProjectPatch {
        /// The revision that the agent names.
        revision_id: RevisionId,
        /// The digest of the tree that the agent takes for the current one.
        expected_base_sha: Digest,
        /// The digest of the patch's bytes.
        patch: Digest,
        /// The number of the patch's bytes.
        patch_bytes: ByteCount,
    },
    /// Runs a gate.
    RunNamedGate {
        /// The revision that the agent names.
        revision_id: RevisionId,
        /// The gate.
        gate_id: GateId,
        /// The key under which a repeat answers the original execution.
        idempotency_key: IdempotencyKey,
    },
    /// Asks for an approval.
    RequestScopedApproval {
        /// The proposal that is held back.
        proposal_id: ProposalId,
        /// What it needs.
        capability: Capability,
        /// Why, in the agent's words. Untrusted text, shown as such.
        reason: String,
    },
}

impl ToolCall {
    /// The tool.
    #[must_use]
    pub const fn tool(&self) -> ToolName {
        match self {
            Self::ReadProjectFile { .. } => ToolName::ReadProjectFile,
            Self::ListProjectFiles { .. } => ToolName::ListProjectFiles,
            Self::SearchProjectText { .. } => ToolName::SearchProjectText,
            Self::ApplyProjectPatch { .. } => ToolName::ApplyProjectPatch,
            Self::RunNamedGate { .. } => ToolName::RunNamedGate,
            Self::RequestScopedApproval { .. } => ToolName::RequestScopedApproval,
        }
    }

    /// The revision that the call names, where it names one.
    #[must_use]
    pub const fn revision(&self) -> Option<RevisionId> {
        match self {
            Self::ReadProjectFile { revision_id, .. }
            | Self::ListProjectFiles { revision_id, .. }
            | Self::SearchProjectText { revision_id, .. }
            | Self::ApplyProjectPatch { revision_id, .. }
            | Self::RunNamedGate { revision_id, .. } => Some(*revision_id),
            Self::RequestScopedApproval { .. } => None,
        }
    }

    /// The digest of the call's exact arguments, tool included.
    ///
    /// # Errors
    /// [`EncodeError`] where an argument has no canonical bytes, which no argument that was read has.
    pub fn arguments(&self) -> Result<Digest, EncodeError> {
        Ok(ambit_canonical::encode(self)?.digest())
    }
}
