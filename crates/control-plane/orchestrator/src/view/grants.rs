use ambit_evidence::Project;
use ambit_ids::{Scope, UnixMs};
use ambit_policy::{Grant, GrantKind};
use ambit_run::State;

/// Every grant of a project and of its runs at a moment: what somebody may do because a record says exactly that, and nothing
/// that would follow from something else.
#[must_use]
pub fn grants<'a>(
    scope: &Scope,
    project: &Project,
    runs: impl IntoIterator<Item = &'a State>,
    now: UnixMs,
) -> Vec<Grant> {
    let mut grants = Vec::new();
    for (approver, _) in project.approvers() {
        let grant = Grant::new(GrantKind::ApproverDecide, approver, scope, &project.speaker_for(approver));
        let form = project.credential_form(approver);
        let kept = grant.kept(form.as_ref().map(|form| form as &dyn std::fmt::Display));
        grants.push(kept.revoked_by(format!("ambit approver revoke {approver}")));
    }
    for (blueprint, digest, approver) in project.blueprints() {
        let grant = Grant::new(GrantKind::BlueprintStart, scope, &format!("{blueprint} {digest}"), approver);
        grants.push(grant.revoked_by(format!("ambit blueprint withdraw {blueprint} --digest {digest}")));
    }
    for state in runs {
        of_run(&mut grants, state, now);
    }
    grants
}

/// What a run holds: its sandbox, and the approvals that it was given and has not used.
fn of_run(grants: &mut Vec<Grant>, state: &State, now: UnixMs) {
    let Some(dossier) = state.dossier() else { return };
    let run = &dossier.pins.run;
    let end = format!("ambit run cancel {run}");
    let sandbox = match state {
        State::Open(open) => open.sandbox.as_ref(),
        State::Closing(closing) => closing.sandbox.as_ref(),
        State::Vacant | State::Ended(_) => None,
    };
    if let Some(held) = sandbox {
        let object = format!("{} {}", held.lease, held.incarnation);
        let grant = Grant::new(GrantKind::SandboxExecute, run, &object, &"orchestrator");
        grants.push(grant.until(&dossier.ledger.deadline()).revoked_by(end.clone()));
    }
    if !matches!(state, State::Open(_)) {
        return;
    }
    for receipt in dossier.approvals.live().filter(|receipt| !receipt.is_out_of_time(now)) {
        let object = format!("{} {} {}", receipt.id, receipt.capability, receipt.arguments);
        let grant = Grant::new(GrantKind::ReceiptUse, run, &object, &receipt.approver);
        grants.push(grant.until(&receipt.expires).revoked_by(end.clone()));
    }
}
