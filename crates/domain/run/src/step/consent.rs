//! What ends a receipt before it is used: each is an event of its own, so that it is known why an approval does not count.

use ambit_ids::{ApproverId, ReceiptId};

use super::draft::Draft;
use crate::StopReason;
use crate::approvals::Receipt;
use crate::command::{AssessedCall, Refusal};
use crate::consent::VoidReason;
use crate::denial::{Denial, DenialCode};
use crate::event::Event;
use crate::pins::Rules;
use crate::state::Dossier;

/// Ends every live receipt of which `ends` holds.
fn void(draft: &mut Draft, reason: VoidReason, ends: impl Fn(&Receipt, &Dossier) -> bool) {
    let Ok(dossier) = draft.dossier() else { return };
    if dossier.pins.rules < Rules::Consent {
        return;
    }
    let ended: Vec<ReceiptId> = dossier
        .approvals
        .live()
        .filter(|receipt| ends(receipt, dossier))
        .map(|receipt| receipt.id.clone())
        .collect();
    for receipt in ended {
        draft.push(Event::ReceiptVoided { receipt, reason });
    }
}

/// Another tree is current: what was approved for the one before is approved no more, even where it comes back.
pub(super) fn base_moved(draft: &mut Draft) {
    void(draft, VoidReason::BaseMoved, |receipt, dossier| receipt.target != dossier.head);
}

/// The sandbox is gone, and with it the lease under which the run held its approvals.
pub(super) fn lease_replaced(draft: &mut Draft) {
    void(draft, VoidReason::LeaseReplaced, |_, _| true);
}

/// The run ends.
pub(super) fn run_ends(draft: &mut Draft, reason: &StopReason) {
    let reason = match reason {
        StopReason::CustomerCancelled => VoidReason::RunCancelled,
        _ => VoidReason::RunEnding,
    };
    void(draft, reason, |_, _| true);
}

/// Looks at every live receipt before a call is judged: nothing of what it was given for may be otherwise by now.
pub(super) fn before_use(draft: &mut Draft) {
    let at = draft.at;
    void(draft, VoidReason::Expired, move |receipt, _| receipt.is_out_of_time(at));
    void(draft, VoidReason::PolicyChanged, |receipt, dossier| receipt.policy != dossier.pins.policy);
    base_moved(draft);
}

/// Somebody may approve no more, which ends what the same person approved before.
pub(super) fn approver_revoked(draft: &mut Draft, approver: &ApproverId) -> Result<(), Refusal> {
    void(draft, VoidReason::ApproverRevoked, |receipt, _| receipt.approver == *approver);
    if draft.events.is_empty() { Err(Refusal::NotDue) } else { Ok(()) }
}

/// What the run works under is approved no more. The run itself goes on by it; nothing that was approved under it counts.
pub(super) fn blueprint_withdrawn(draft: &mut Draft) -> Result<(), Refusal> {
    void(draft, VoidReason::PolicyChanged, |_, _| true);
    if draft.events.is_empty() { Err(Refusal::NotDue) } else { Ok(()) }
}

/// Whether the approval that a call was allowed for still counts at the moment at which it would be used.
pub(super) fn still_counts(
    dossier: &Dossier,
    assessed: &AssessedCall,
    at: ambit_ids::UnixMs,
) -> Result<(), Denial> {
    let Some(told) = assessed.approval.as_ref().filter(|_| dossier.pins.rules >= Rules::Consent) else {
        return Ok(());
    };
    if dossier.approvals.as_fact(assessed.arguments, at).as_ref() == Some(told) {
        return Ok(());
    }
    let why = match dossier.approvals.ended(assessed.arguments) {
        Some((receipt, reason)) => format!("the receipt {receipt} is void: {reason}"),
        None => "the approval was used, or is none of this call".to_owned(),
    };
    Err(Denial::new(DenialCode::ApprovalVoid, why))
}
