use ambit_ids::{
    ByteCount, Digest, GateId, IdempotencyKey, ProjectId, ProposalId, RepoPath, RevisionId, limits,
};
use ambit_policy::{Capability, ToolName};
use serde::Deserialize;
use serde_json::Value;

use super::typed::{named, typed};
use crate::call::ToolCall;
use crate::denial::{Denial, DenialCode};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReadForm {
    project_id: ProjectId,
    revision_id: RevisionId,
    path: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListForm {
    project_id: ProjectId,
    revision_id: RevisionId,
    under: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SearchForm {
    project_id: ProjectId,
    revision_id: RevisionId,
    text: String,
    under: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PatchForm {
    revision_id: RevisionId,
    expected_base_sha: Digest,
    patch: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GateForm {
    revision_id: RevisionId,
    gate_id: GateId,
    idempotency_key: IdempotencyKey,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ApprovalForm {
    proposal_id: ProposalId,
    capability: String,
    reason: String,
}

/// Reads the input of a call against the schema of its tool.
pub(super) fn read_input(tool: ToolName, input: Value) -> Result<(ToolCall, Option<Vec<u8>>), Denial> {
    let what = tool.as_str();
    let call = match tool {
        ToolName::ReadProjectFile => {
            let form: ReadForm = typed(input, DenialCode::InputInvalid, what)?;
            ToolCall::ReadProjectFile {
                project_id: form.project_id,
                revision_id: form.revision_id,
                path: read_path(&form.path)?,
            }
        }
        ToolName::ListProjectFiles => {
            let form: ListForm = typed(input, DenialCode::InputInvalid, what)?;
            ToolCall::ListProjectFiles {
                project_id: form.project_id,
                revision_id: form.revision_id,
                under: form.under.as_deref().map(read_path).transpose()?,
            }
        }
        ToolName::SearchProjectText => {
            let form: SearchForm = typed(input, DenialCode::InputInvalid, what)?;
            ToolCall::SearchProjectText {
                project_id: form.project_id,
                revision_id: form.revision_id,
                text: read_text(form.text, what, "text")?,
                under: form.under.as_deref().map(read_path).transpose()?,
            }
        }
        ToolName::ApplyProjectPatch => {
            let form: PatchForm = typed(input, DenialCode::InputInvalid, what)?;
            return read_patch(form);
        }
        ToolName::RunNamedGate => {
            let form: GateForm = typed(input, DenialCode::InputInvalid, what)?;
            ToolCall::RunNamedGate {
                revision_id: form.revision_id,
                gate_id: form.gate_id,
                idempotency_key: form.idempotency_key,
            }
        }
        ToolName::RequestScopedApproval => {
            let form: ApprovalForm = typed(input, DenialCode::InputInvalid, what)?;
            ToolCall::RequestScopedApproval {
                proposal_id: form.proposal_id,
                capability: read_capability(&form.capability)?,
                reason: read_text(form.reason, what, "reason")?,
            }
        }
    };
    Ok((call, None))
}

fn read_path(text: &str) -> Result<RepoPath, Denial> {
    let refused = |detail: String| {
        Denial::new(DenialCode::PathRefused, detail)
            .instead("a path is relative to the project, such as src/lib.rs")
    };
    let path: RepoPath =
        text.parse().map_err(|error: ambit_ids::PathError| refused(format!("{error} ({})", error.code())))?;
    if !path.is_printable() {
        return Err(refused(format!("{path} holds a character that does not show")));
    }
    Ok(path)
}

fn read_text(text: String, what: &str, field: &str) -> Result<String, Denial> {
    if text.is_empty() || text.len() > limits::AGENT_TEXT_BYTES {
        return Err(Denial::new(
            DenialCode::InputInvalid,
            format!("`{field}` has {} bytes; 1 to {} are read", text.len(), limits::AGENT_TEXT_BYTES),
        )
        .about(what));
    }
    Ok(text)
}

/// An action that no word classifies is denied, which is why the word is read here and not guessed.
fn read_capability(text: &str) -> Result<Capability, Denial> {
    text.parse().map_err(|()| {
        Denial::new(DenialCode::InputInvalid, format!("there is no classified capability {}", named(text)))
            .about("request_scoped_approval")
    })
}

fn read_patch(form: PatchForm) -> Result<(ToolCall, Option<Vec<u8>>), Denial> {
    if form.patch.is_empty() || form.patch.len() > limits::PATCH_BYTES {
        return Err(Denial::new(
            DenialCode::PatchRefused,
            format!("the patch has {} bytes; 1 to {} are read", form.patch.len(), limits::PATCH_BYTES),
        ));
    }
    let bytes = form.patch.into_bytes();
    let call = ToolCall::ApplyProjectPatch {
        revision_id: form.revision_id,
        expected_base_sha: form.expected_base_sha,
        patch: Digest::of(&bytes),
        patch_bytes: ByteCount::new(bytes.len() as u64),
    };
    Ok((call, Some(bytes)))
}
