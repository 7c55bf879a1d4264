//! What was left for the run: whether it counts, and what it says.

use std::collections::BTreeSet;

use ambit_evidence::SignedDecision;
use ambit_ids::{ApproverId, ReceiptId};
use ambit_ports::store::InboxEntry;
use ambit_run::{ApprovalDecision, Command};

use super::{Letter, Pilot};
use crate::drive_error::DriveError;
use crate::inbox::InboxCommand;
use crate::observer::Observer;

impl Pilot {
    /// Tells a run that holds receipts who of their givers may approve no more, and whether what it works under is approved no
    /// more.
    pub(super) async fn notice_ended_consents(&mut self, observer: &dyn Observer) -> Result<(), DriveError> {
        let Some(dossier) = self.live.state.dossier() else { return Ok(()) };
        let givers: BTreeSet<ApproverId> =
            dossier.approvals.live().map(|receipt| receipt.approver.clone()).collect();
        if givers.is_empty() {
            return Ok(());
        }
        let blueprint = dossier.pins.blueprint.clone();
        let project = self.bench.orchestrator.project(&self.live.run.scope).await?;
        if project.is_withdrawn(&blueprint.id, blueprint.digest) {
            self.tell(observer, Command::WithdrawBlueprint, Vec::new()).await?;
        }
        for approver in givers.into_iter().filter(|giver| project.may_approve(giver).is_none()) {
            self.tell(observer, Command::RevokeApprover { approver }, Vec::new()).await?;
        }
        Ok(())
    }

    pub(super) async fn letter(&self, entry: &InboxEntry) -> Result<Letter, DriveError> {
        match InboxCommand::read(&entry.bytes) {
            Ok(InboxCommand::Cancel { by }) => Ok(Letter::Tell(Box::new(Command::Cancel { by }))),
            Ok(InboxCommand::Decide(decision)) => self.decision(decision).await,
            Err(_) => Ok(Letter::Void),
        }
    }

    /// A decision counts only with the signature of an approver of the project. It is kept as it was signed, and waits
    /// where it cannot be kept.
    async fn decision(&self, decision: SignedDecision) -> Result<Letter, DriveError> {
        let orchestrator = &self.bench.orchestrator;
        let scope = &self.live.run.scope;
        let project = orchestrator.project(scope).await?;
        if !decision.counts(scope, &project) {
            return Ok(Letter::Void);
        }
        let Ok(bytes) = ambit_canonical::encode(&decision) else { return Ok(Letter::Void) };
        let blobs = orchestrator.broker.revisions().blobs();
        let Ok(evidence) = blobs.put(scope, bytes.into_bytes().into()).await else {
            return Ok(Letter::Later);
        };
        let Ok(receipt) = ReceiptId::new(format!("apr_{}", orchestrator.ids.next())) else {
            return Ok(Letter::Later);
        };
        Ok(Letter::Tell(Box::new(Command::DecideApproval(ApprovalDecision {
            proposal: decision.proposal.clone(),
            digest: decision.digest,
            expected_sequence: decision.expected_sequence,
            verdict: decision.verdict(),
            approver: decision.approver,
            receipt,
            evidence,
        }))))
    }
}
