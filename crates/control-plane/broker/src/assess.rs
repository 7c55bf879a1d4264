use ambit_ids::{Digest, ProjectId, RepoPath, RevisionId};
use ambit_policy::Fact;
use ambit_revision::{FileKind, Place};
use ambit_run::{Denial, DenialCode, Finding, Inspection, ProposedCall, ToolCall};
use bytes::Bytes;

use crate::broker::Broker;
use crate::error::BrokerError;
use crate::ground::Ground;
use crate::source::Source;
use crate::view::View;

/// What was found out about a call without performing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    /// The digest of its exact arguments.
    pub arguments: Digest,
    /// The facts, sorted.
    pub facts: Vec<Fact>,
    /// What its effect would be.
    pub finding: Finding,
    /// What a person is shown of it, where one must approve it.
    pub view: View,
}

impl Broker {
    /// Finds out what a call would do to the tree `head`. A patch is kept as a blob first, whatever comes of it.
    ///
    /// # Errors
    /// As [`Source::assess`].
    pub async fn assess(
        &self,
        ground: &Ground,
        head: Digest,
        proposed: &ProposedCall,
    ) -> Result<Assessment, BrokerError> {
        if let Some(patch) = &proposed.patch {
            self.revisions().blobs().put(ground.scope(), Bytes::copy_from_slice(patch)).await?;
        }
        self.source.assess(ground, head, proposed).await
    }
}

impl Broker {
    /// Keeps what a person is shown of a call, before anybody is asked about it.
    ///
    /// # Errors
    /// [`BrokerError::Blob`].
    pub async fn keep_view(&self, ground: &Ground, view: &View) -> Result<(), BrokerError> {
        if let Inspection::Whole(_) = view.inspection {
            self.revisions().blobs().put(ground.scope(), Bytes::from(view.text.clone())).await?;
        }
        Ok(())
    }
}

impl Source {
    /// Finds out what a call would do to the tree `head`. Changes nothing.
    ///
    /// # Errors
    /// [`BrokerError`] where a part of the platform failed. A call that is wrong is no error but a finding.
    pub async fn assess(
        &self,
        ground: &Ground,
        head: Digest,
        proposed: &ProposedCall,
    ) -> Result<Assessment, BrokerError> {
        let arguments = proposed.call.arguments().map_err(BrokerError::Unwritable)?;
        let (mut facts, finding) = match &proposed.call {
            ToolCall::ReadProjectFile { project_id, revision_id, path } => {
                match foreign(ground, project_id) {
                    Some(fact) => (vec![fact], Finding::Clear),
                    None => (Vec::new(), self.find_file(ground, head, *revision_id, path).await?),
                }
            }
            ToolCall::ListProjectFiles { project_id, .. }
            | ToolCall::SearchProjectText { project_id, .. } => {
                (foreign(ground, project_id).into_iter().collect(), Finding::Clear)
            }
            ToolCall::ApplyProjectPatch { expected_base_sha, .. } => {
                let patch = proposed.patch.as_deref().ok_or(BrokerError::Altered("a patch without bytes"))?;
                self.assess_patch(ground, head, *expected_base_sha, patch).await?
            }
            ToolCall::RunNamedGate { gate_id, .. } => {
                let granted = ground.pins.gate(gate_id).is_some();
                let fact = (!granted).then(|| Fact::GateNotGranted { gate: gate_id.clone() });
                (fact.into_iter().collect(), Finding::Clear)
            }
            ToolCall::RequestScopedApproval { .. } => (Vec::new(), Finding::Clear),
        };
        facts.sort();
        facts.dedup();
        let view = View::of(ground, &proposed.call, proposed.patch.as_deref(), &facts, &finding);
        Ok(Assessment { arguments, facts, finding, view })
    }

    /// Whether a file can be read. A link is never followed, and of what lies behind one nothing is told.
    async fn find_file(
        &self,
        ground: &Ground,
        head: Digest,
        revision: RevisionId,
        path: &RepoPath,
    ) -> Result<Finding, BrokerError> {
        let tree = self.revisions.load(ground.scope(), named_tree(ground, head, revision)).await?;
        let refused = |code, detail: String| Finding::Refused(Denial::new(code, detail));
        Ok(match tree.place(path) {
            Place::File(file) | Place::Beyond(file) if file.kind == FileKind::Link => refused(
                DenialCode::PathRefused,
                format!("{path} is a symbolic link or leads through one, which is never followed"),
            ),
            Place::File(_) => Finding::Clear,
            Place::Directory => refused(DenialCode::PathNotFound, format!("{path} is a directory")),
            Place::Beyond(_) | Place::Absent => {
                refused(DenialCode::PathNotFound, format!("there is no file {path} in the revision"))
            }
        })
    }
}

fn foreign(ground: &Ground, named: &ProjectId) -> Option<Fact> {
    (*named != ground.scope().project).then(|| Fact::ForeignProject { project: named.clone() })
}

/// The tree of a revision that a run may read: its own as it is now, or its base. A revision that it may not read is
/// denied by the run itself; here it reads as the run's own.
pub(crate) fn named_tree(ground: &Ground, head: Digest, revision: RevisionId) -> Digest {
    if revision == ground.pins.base.id && revision != ground.pins.revision {
        ground.pins.base.tree
    } else {
        head
    }
}
