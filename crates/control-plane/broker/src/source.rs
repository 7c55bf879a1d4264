use ambit_redaction::Redactor;
use ambit_revisions::Revisions;
use ambit_run::{InFlight, ToolCall};

use crate::error::BrokerError;
use crate::ground::Ground;
use crate::performed::Performed;

/// What can be found out about calls from the source alone. It changes nothing, so whoever checks a run afterwards finds
/// out the same in the same way.
#[derive(Clone)]
pub struct Source {
    pub(crate) revisions: Revisions,
    pub(crate) redactor: Redactor,
}

impl Source {
    /// The source behind a source service. Secrets are taken out of what is told of it, by the rules alone.
    #[must_use]
    pub fn new(revisions: Revisions) -> Self {
        Self { revisions, redactor: Redactor::by_rules() }
    }

    /// Performs a call that only looks at the source.
    ///
    /// # Errors
    /// [`BrokerError`], and [`BrokerError::Altered`] where the call does more than look.
    pub async fn look(&self, ground: &Ground, flight: &InFlight) -> Result<Performed, BrokerError> {
        match &flight.call {
            ToolCall::ReadProjectFile { revision_id, path, .. } => {
                self.read_file(ground, flight.tree, *revision_id, path).await
            }
            ToolCall::ListProjectFiles { revision_id, under, .. } => {
                self.list_files(ground, flight.tree, *revision_id, under.as_ref()).await
            }
            ToolCall::SearchProjectText { revision_id, text, under, .. } => {
                self.search_text(ground, flight.tree, *revision_id, text, under.as_ref()).await
            }
            ToolCall::ApplyProjectPatch { .. }
            | ToolCall::RunNamedGate { .. }
            | ToolCall::RequestScopedApproval { .. } => {
                Err(BrokerError::Altered("the call does more than look at the source"))
            }
        }
    }
}
