//! A decision that a person made and that the run has not taken yet.

use ambit_orchestrator::{InboxCommand, RunRef, RunView, SignedDecision};
use ambit_run::{PendingApproval, Stage, State};
use serde::Serialize;

use crate::compose::Services;
use crate::failure::Failure;

/// What a run asks now, if it waits for a person.
pub(crate) fn asked(state: &State) -> Option<&PendingApproval> {
    match state {
        State::Open(open) => match &open.stage {
            Stage::Approval { pending, .. } => Some(pending),
            _ => None,
        },
        _ => None,
    }
}

/// The decision that waits for whoever drives the run: the oldest one that it will not throw away.
pub(crate) async fn waiting(
    services: &Services,
    run: &RunRef,
    asked: &PendingApproval,
) -> Result<Option<SignedDecision>, Failure> {
    let left =
        services.store.inbox(&run.stream()).await.map_err(|error| Failure::of(error.code(), &error))?;
    if left.is_empty() {
        return Ok(None);
    }
    let project = services.project(&run.scope).await?;
    let decisions = left.iter().filter_map(|entry| match InboxCommand::read(&entry.bytes) {
        Ok(InboxCommand::Decide(decision)) => Some(decision),
        _ => None,
    });
    let mut about_this = decisions.filter(|decision| {
        decision.proposal == asked.proposal
            && decision.digest == asked.digest
            && decision.expected_sequence == asked.asked_at
            && decision.counts(&run.scope, &project)
    });
    Ok(about_this.next())
}

/// A decision that waits, as it is told.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Waiting {
    proposal: String,
    decision: &'static str,
    approver: String,
}

impl Waiting {
    /// Makes the view say what is true now: no person is waited for any more.
    pub(crate) fn correct(decision: &SignedDecision, view: &mut RunView) -> Self {
        let told = Self {
            proposal: decision.proposal.to_string(),
            decision: decision.verdict().as_str(),
            approver: decision.approver.to_string(),
        };
        "driver".clone_into(&mut view.awaiting);
        view.awaiting_what = format!(
            "{} is {} by {}, which waits for the run to be driven on",
            told.proposal, told.decision, told.approver
        );
        for approval in view.approvals.iter_mut().filter(|approval| approval.expected_sequence.is_some()) {
            "decided".clone_into(&mut approval.state);
            approval.expected_sequence = None;
        }
        told
    }
}
