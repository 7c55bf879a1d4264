use ambit_ids::{Digest, ProposalId};
use ambit_orchestrator::{ApprovalView, InboxCommand, RunRef, SignedDecision, view};
use ambit_ports::runtime::Clock as _;
use ambit_ports::store::Store as _;
use ambit_run::ApprovalVerdict;

use super::World;

impl World {
    /// Leaves a command for the owner of a run, as another process does. Answers the id under which it waits.
    pub async fn leave(&self, run: &RunRef, command: &InboxCommand) -> u64 {
        self.store.send(&run.stream(), command.to_canonical().unwrap()).await.unwrap()
    }

    /// Leaves the wish that a run ends.
    pub async fn cancel(&self, run: &RunRef) -> u64 {
        self.leave(run, &InboxCommand::Cancel { by: "ada".to_owned() }).await
    }

    /// The ids of the commands that wait for the owner of a run.
    pub async fn waiting(&self, run: &RunRef) -> Vec<u64> {
        self.store.inbox(&run.stream()).await.unwrap().into_iter().map(|entry| entry.id).collect()
    }

    /// The question that waits for a person, as a view shows it.
    pub async fn question(&self, run: &RunRef) -> Option<ApprovalView> {
        let view = view(&self.state(run).await, self.clock.now())?;
        view.approvals.into_iter().find(|approval| approval.state == "pending")
    }

    /// A decision about the question that waits, signed by whoever may approve.
    ///
    /// # Panics
    /// Where no question waits.
    pub async fn decision(&self, run: &RunRef, approved: bool) -> SignedDecision {
        let question = self.question(run).await.unwrap();
        let proposal = question.proposal.parse().unwrap();
        self.signed(&proposal, question.digest, question.expected_sequence.unwrap(), approved).await
    }

    /// A decision about anything, signed by whoever may approve.
    pub async fn signed(
        &self,
        proposal: &ProposalId,
        digest: Digest,
        expected_sequence: u64,
        approved: bool,
    ) -> SignedDecision {
        let verdict = if approved { ApprovalVerdict::Approved } else { ApprovalVerdict::Rejected };
        self.projects()
            .sign_decision(&self.scope, proposal, digest, expected_sequence, verdict, &self.credential)
            .await
            .unwrap()
    }
}
