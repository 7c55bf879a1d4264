//! The decisions of people: each signed by an approver, over exactly the proposal and the question, and used while who gave it
//! could approve and what it was given under was approved.

use ambit_evidence::v1::{Body, ProjectBody};
use ambit_evidence::{Link, Project, SignedDecision};
use ambit_ids::{ReceiptId, RunId, Scope};
use ambit_run::{ApprovalDecision, Event, Pins, Receipt, VoidReason};

use crate::finding::Finding;
use crate::findings::{Findings, refuting};
use crate::trace::Trace;
use crate::vault::Vault;

/// Checks the kept evidence of every decision. Whether a receipt is used once and in time is for the steps to tell.
pub(crate) async fn check(trace: &Trace<'_>, scope: &Scope, project: &Project, vault: &Vault) -> Findings {
    let mut findings = Findings::default();
    for (at, event) in trace.events() {
        let Event::ApprovalDecided { decision, .. } = event else { continue };
        let what = "the signed decision";
        let kept = vault.read_value::<SignedDecision>(scope, what, decision.evidence).await;
        let Some(signed) = findings.take(kept) else { continue };
        if !signed.is_genuine(scope, project) {
            findings.refute(trace.name(at), "its evidence is signed by no approver of the project");
        } else if !says(&signed, decision) {
            findings.refute(trace.name(at), "its evidence is a decision about something else");
        }
    }
    findings
}

fn says(signed: &SignedDecision, decision: &ApprovalDecision) -> bool {
    signed.proposal == decision.proposal
        && signed.digest == decision.digest
        && signed.expected_sequence == decision.expected_sequence
        && signed.verdict() == decision.verdict
        && signed.approver == decision.approver
}

/// Whether every receipt was used, or ended, as the project stood then. Both streams are chains of hashes, so it is their order
/// that counts and not their clocks: each such record names the newest record of the project that was known.
pub(crate) fn check_standing(
    trace: &Trace<'_>,
    pins: &Pins,
    admitted: &[Link],
    project: &[Link],
) -> Findings {
    let mut findings = Findings::default();
    let span = Span { admitted: admitted.len(), project: &project[..closing(project, &pins.run)] };
    for (at, event) in trace.events() {
        findings.take(match event {
            Event::ApprovalConsumed { receipt, .. } => used(trace, at, pins, receipt, &span),
            Event::ReceiptVoided { receipt, reason } => ended(trace, at, pins, receipt, *reason, &span),
            _ => Ok(()),
        });
    }
    findings
}

/// The project's records that a run can have known: those of its admission, and those before its end was bound in.
struct Span<'p> {
    admitted: usize,
    project: &'p [Link],
}

impl Span<'_> {
    /// What the project said when a record was written; `otherwise` so many of its records where the record does not name the
    /// newest one, as those of earlier versions do not.
    fn known(
        &self,
        trace: &Trace<'_>,
        at: usize,
        scope: &Scope,
        otherwise: usize,
    ) -> Result<Project, Finding> {
        let count = match trace.record(at).precondition.project {
            None => otherwise,
            Some(leaf) => match self.project.iter().position(|link| link.leaf == leaf) {
                Some(newest) if newest + 1 >= self.admitted => newest + 1,
                Some(_) => {
                    let why = "the project's record that it names as the newest is from before the run";
                    return Err(refuting(trace.name(at), why));
                }
                None => {
                    let why = format!(
                        "it names {leaf}, which is no record of the project from before the run's end"
                    );
                    return Err(refuting(trace.name(at), why));
                }
            },
        };
        Ok(Project::fold(scope, &self.project[..count]))
    }
}

/// Where the project binds the run's end in, or its end.
fn closing(project: &[Link], of: &RunId) -> usize {
    let closes = |link: &Link| match &link.record.body {
        Body::Project(body) => matches!(body.as_ref(), ProjectBody::RunClosed { run, .. } if run == of),
        Body::Run(_) => false,
    };
    project.iter().position(closes).unwrap_or(project.len())
}

fn used(
    trace: &Trace<'_>,
    at: usize,
    pins: &Pins,
    receipt: &ReceiptId,
    span: &Span<'_>,
) -> Result<(), Finding> {
    let Some(receipt) = given(trace, at, receipt) else {
        return Err(refuting(trace.name(at), "nobody gave the receipt that it uses"));
    };
    let known = span.known(trace, at, &pins.scope, span.admitted)?;
    if known.may_approve(&receipt.approver).is_none() {
        let why = format!("{} could approve no more when the receipt was used", receipt.approver);
        return Err(refuting(trace.name(at), why));
    }
    if known.is_withdrawn(&pins.blueprint.id, pins.blueprint.digest) {
        let why = format!("{} was withdrawn when the receipt was used", pins.blueprint.id);
        return Err(refuting(trace.name(at), why));
    }
    Ok(())
}

fn ended(
    trace: &Trace<'_>,
    at: usize,
    pins: &Pins,
    receipt: &ReceiptId,
    reason: VoidReason,
    span: &Span<'_>,
) -> Result<(), Finding> {
    let Some(receipt) = given(trace, at, receipt) else {
        return Err(refuting(trace.name(at), "nobody gave the receipt that it ends"));
    };
    let known = || span.known(trace, at, &pins.scope, span.project.len());
    let why = match reason {
        VoidReason::ApproverRevoked if known()?.may_approve(&receipt.approver).is_some() => {
            format!("nobody had revoked {} by then", receipt.approver)
        }
        VoidReason::PolicyChanged
            if receipt.policy == pins.policy
                && !known()?.is_withdrawn(&pins.blueprint.id, pins.blueprint.digest) =>
        {
            format!("{} was not withdrawn by then", pins.blueprint.id)
        }
        _ => return Ok(()),
    };
    Err(refuting(trace.name(at), why))
}

fn given<'t>(trace: &'t Trace<'_>, at: usize, receipt: &ReceiptId) -> Option<&'t Receipt> {
    trace.dossier(at)?.approvals.receipts().find(|given| given.id == *receipt)
}
