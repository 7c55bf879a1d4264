//! The decisions of people: each signed by an approver, over exactly the proposal and the question.

use ambit_evidence::{Project, SignedDecision};
use ambit_ids::Scope;
use ambit_run::{ApprovalDecision, Event};

use crate::findings::Findings;
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
