//! What a person is asked to decide about: the change itself, what was found in it, and why the agent wants it.

use std::fmt::Write as _;

use ambit_evidence::Link;
use ambit_ids::{ByteCount, Digest, Scope, is_unprintable, limits};
use ambit_orchestrator::RunView;
use ambit_ports::blobs::BlobError;
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
    /// All of what would be done, as the broker rendered it from what is kept. A decision is about its digest too. Absent for
    /// runs from before it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    view_digest: Option<Digest>,
    /// The patch that would be applied, whole: what is approved is its digest. Absent where it is no patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
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
    let kept = async |digest: Digest| {
        let limit = ByteCount::new(limits::PATCH_BYTES as u64);
        let bytes = services.blobs.get(scope, digest, limit).await;
        bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let failed = |error: BlobError| Failure::of(error.code(), &error);
    // Whoever cannot see what would be done is not asked about it.
    let view = match held.view {
        Some(view) => Some(kept(view).await.map_err(failed)?),
        None => None,
    };
    let patch = match kept(held.subject).await {
        Err(BlobError::NotFound(_)) if view.is_some() => None,
        patch => Some(patch.map_err(failed)?),
    };
    let mut asked = Question {
        proposal: pending.proposal.clone(),
        facts: Vec::new(),
        facts_not_listed: 0,
        reason_of_agent: None,
        view,
        view_digest: held.view,
        patch,
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
                self.reason_of_agent = Some(quotable(&reason));
            }
            _ => {}
        }
    }

    /// The question as a part of a page. Text that is not ours stands behind a bar, where it cannot pass for ours.
    pub(crate) fn page(&self) -> String {
        let mut page = String::new();
        match (&self.view, self.view_digest) {
            (Some(view), Some(digest)) => {
                // Its lines are ours, or stand behind a bar already.
                for line in view.lines() {
                    let line = line.replace('\t', "    ");
                    let _ = if line.starts_with(QUOTED) {
                        writeln!(page, "{line}")
                    } else {
                        writeln!(page, "  {line}")
                    };
                }
                let _ = writeln!(page, "  all of it, {digest}");
            }
            _ => self.facts_and_patch(&mut page),
        }
        if let Some(reason) = &self.reason_of_agent {
            let _ = writeln!(page, "  the agent says, and nothing vouches for it");
            barred(&mut page, reason);
        }
        page
    }

    /// What is shown of a run from before views were kept.
    fn facts_and_patch(&self, page: &mut String) {
        let _ = writeln!(page, "  found in it");
        for fact in &self.facts {
            barred(page, fact);
        }
        if self.facts_not_listed > 0 {
            let _ = writeln!(page, "  and {} more, all in `ambit trace show`", self.facts_not_listed);
        }
        let _ = writeln!(page, "  the patch, {}", self.patch_digest);
        barred(page, self.patch.as_deref().unwrap_or_default());
    }
}

/// The most of an agent's reason that a person is shown, in characters.
const REASON: usize = 600;

/// What an agent says, without what nobody would see, and cut where it is long: it is no part of what is decided about.
fn quotable(reason: &str) -> String {
    let mut chars = reason.chars().filter(|c| *c == '\n' || !is_unprintable(*c));
    let told: String = chars.by_ref().take(REASON).collect();
    if chars.next().is_some() { format!("{told} [cut]") } else { told }
}

fn barred(page: &mut String, text: &str) {
    // A tab would move on by as much as it likes. A carriage return is no end of a line here: it is shown.
    for line in text.trim_end_matches('\n').replace('\t', "    ").split('\n') {
        let _ = writeln!(page, "{QUOTED}{line}");
    }
}
