//! What a person is asked to decide about: the change itself, what was found in it, and why the agent wants it.

use std::fmt::Write as _;

use ambit_evidence::Link;
use ambit_ids::{ByteCount, Digest, Scope, limits};
use ambit_orchestrator::RunView;
use ambit_run::{CallDecided, CallOutcome, Event, HeldProposal, ToolCall};
use serde::Serialize;

use crate::compose::Services;
use crate::failure::Failure;
use crate::terminal::QUOTED;

/// A question that waits, with everything that its answer depends on.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Question {
    proposal: String,
    /// What was found in the change, without believing the agent.
    facts: Vec<String>,
    /// How many facts there are beyond the ones that are kept with the call.
    facts_not_listed: u32,
    /// Why, in the agent's words. Nothing vouches for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason_of_agent: Option<String>,
    /// The patch that would be applied, whole: what is approved is its digest.
    patch: String,
    patch_digest: Digest,
}

/// The question that a run waits with, if it waits with one.
pub(crate) async fn question(
    services: &Services,
    scope: &Scope,
    links: &[Link],
    view: &RunView,
) -> Result<Option<Question>, Failure> {
    let waiting = view.approvals.iter().find(|approval| approval.expected_sequence.is_some());
    let Some((pending, held)) = waiting.and_then(|it| Some((it, it.content.as_ref()?))) else {
        return Ok(None);
    };
    let limit = ByteCount::new(limits::PATCH_BYTES as u64);
    let patch = services
        .blobs
        .get(scope, held.subject, limit)
        .await
        .map_err(|error| Failure::of(error.code(), &error))?;
    let mut asked = Question {
        proposal: pending.proposal.clone(),
        facts: Vec::new(),
        facts_not_listed: 0,
        reason_of_agent: None,
        patch: String::from_utf8_lossy(&patch).into_owned(),
        patch_digest: held.subject,
    };
    for link in links {
        let event = link.record.event().map_err(|error| Failure::of("RECORD_UNREADABLE", &error))?;
        if let Event::CallDecided(decided) = event {
            asked.take(*decided, held);
        }
    }
    Ok(Some(asked))
}

impl Question {
    fn take(&mut self, decided: CallDecided, asked: &HeldProposal) {
        match (decided.outcome, decided.call) {
            (CallOutcome::Held(held), _) if *held == *asked => {
                self.facts = decided.facts.iter().map(ToString::to_string).collect();
                let listed = u32::try_from(decided.facts.len()).unwrap_or(u32::MAX);
                self.facts_not_listed = decided.facts_in_all.saturating_sub(listed);
            }
            (_, ToolCall::RequestScopedApproval { proposal_id, reason, .. })
                if proposal_id.as_str() == self.proposal =>
            {
                self.reason_of_agent = Some(reason);
            }
            _ => {}
        }
    }

    /// The question as a part of a page. Text that is not ours stands behind a bar, where it cannot pass for ours.
    pub(crate) fn page(&self) -> String {
        let mut page = String::new();
        let _ = writeln!(page, "  found in it");
        for fact in &self.facts {
            barred(&mut page, fact);
        }
        if self.facts_not_listed > 0 {
            let _ = writeln!(page, "  and {} more, all in `ambit trace show`", self.facts_not_listed);
        }
        if let Some(reason) = &self.reason_of_agent {
            let _ = writeln!(page, "  the agent says, and nothing vouches for it");
            barred(&mut page, reason);
        }
        let _ = writeln!(page, "  the patch, {}", self.patch_digest);
        barred(&mut page, &self.patch);
        page
    }
}

fn barred(page: &mut String, text: &str) {
    // A tab would move on by as much as it likes. A carriage return is no end of a line here: it is shown.
    for line in text.trim_end_matches('\n').replace('\t', "    ").split('\n') {
        let _ = writeln!(page, "{QUOTED}{line}");
    }
}
