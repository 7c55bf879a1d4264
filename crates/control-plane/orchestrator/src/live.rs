use std::sync::Arc;

use ambit_evidence::v1::{Actor, ActorKind, Body, Environment, Precondition, ProjectBody, entries};
use ambit_evidence::{fold, revocation_key, withdrawal_key};
use ambit_ids::UnixMs;
use ambit_journal::{Entry, Tip, Together};
use ambit_ports::leases::StreamLease;
use ambit_ports::store::{Claim, OutboxMessage, RunRef, StreamId};
use ambit_run::{Command, Event, Phase, Refusal, Rules, State, evolve, step};
use serde_json::json;

use crate::drive_error::DriveError;
use crate::observer::Observer;
use crate::orchestrator::Orchestrator;

/// A run in the hands of this process: its state, the end of its stream, and the lease that lets it write there.
pub(crate) struct Live {
    pub(crate) run: RunRef,
    pub(crate) state: State,
    pub(crate) lease: StreamLease,
    tip: Tip,
}

impl Live {
    /// Loads a run under a lease that was taken.
    pub(crate) async fn load(
        orchestrator: &Orchestrator,
        run: &RunRef,
        lease: StreamLease,
    ) -> Result<Self, DriveError> {
        let loaded = orchestrator.journal.load(&run.stream()).await?;
        if loaded.links.is_empty() {
            return Err(DriveError::NotFound);
        }
        Ok(Self { run: run.clone(), state: fold(&loaded.links)?, lease, tip: loaded.tip })
    }

    /// Steps the run and makes what follows durable. Nothing follows from a command that the run refuses.
    pub(crate) async fn tell(
        &mut self,
        orchestrator: &Orchestrator,
        observer: &dyn Observer,
        command: Command,
        answered: Vec<u64>,
    ) -> Result<Result<Vec<Event>, Refusal>, DriveError> {
        let at = orchestrator.clock.now();
        let events = match step(&self.state, at, command) {
            Ok(events) => events,
            Err(refusal) => return Ok(Err(refusal)),
        };
        self.commit(orchestrator, at, &events, answered).await?;
        for event in &events {
            self.state = evolve(std::mem::take(&mut self.state), event);
        }
        if !events.is_empty() {
            observer.changed(&self.state, &events);
        }
        Ok(Ok(events))
    }

    async fn commit(
        &mut self,
        orchestrator: &Orchestrator,
        at: UnixMs,
        events: &[Event],
        answered: Vec<u64>,
    ) -> Result<(), DriveError> {
        if events.is_empty() {
            return Ok(());
        }
        let together = Together {
            fence: Some(self.lease.fence),
            claims: claims(events),
            vacant: vacant(&self.state, events),
            outbox: outbox(&self.run, events),
            answered,
        };
        let mut entries = entries(&orchestrator.program, &self.state, events);
        if events.iter().any(Event::depends_on_project) {
            let project = StreamId::Project(self.run.scope.clone());
            let known = orchestrator.journal.load(&project).await?.tip.leaf;
            for (entry, _) in entries.iter_mut().zip(events).filter(|(_, event)| event.depends_on_project()) {
                entry.precondition.project = Some(known);
            }
        }
        self.tip = orchestrator.journal.append(&self.run.stream(), self.tip, at, entries, together).await?;
        Ok(())
    }

    /// Binds the end of the run's chain into its project's. Done once; a second time changes nothing.
    pub(crate) async fn close(&self, orchestrator: &Orchestrator) -> Result<(), DriveError> {
        let Some(phase) = self.state.phase() else { return Ok(()) };
        let project = orchestrator.project(&self.run.scope).await?;
        if project.closed(&self.run.run).is_some() {
            return Ok(());
        }
        let stream = StreamId::Project(self.run.scope.clone());
        let entry = self.closing_entry(orchestrator, phase);
        orchestrator.journal.append_to_end(&stream, orchestrator.clock.now(), vec![entry], &[]).await?;
        Ok(())
    }

    fn closing_entry(&self, orchestrator: &Orchestrator, phase: Phase) -> Entry {
        Entry {
            actor: Actor { kind: ActorKind::Service, id: "orchestrator".to_owned() },
            precondition: Precondition::default(),
            artifact: Some(self.tip.leaf),
            environment: Environment::of_program(&orchestrator.program),
            body: Body::Project(Box::new(ProjectBody::RunClosed {
                run: self.run.run.clone(),
                last_seq: self.tip.next.saturating_sub(1),
                leaf: self.tip.leaf,
                phase: phase.as_str().to_owned(),
            })),
        }
    }
}

/// A receipt is used once in the whole project, whatever any run believes.
fn claims(events: &[Event]) -> Vec<Claim> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::ApprovalConsumed { turn, receipt } => {
                Some(Claim { key: format!("receipt/{receipt}"), value: format!("turn {turn}") })
            }
            _ => None,
        })
        .collect()
}

/// Whoever gave a receipt that is used must still be one who may, and what it was given under be approved: nobody was revoked
/// and nothing withdrawn under these keys.
fn vacant(state: &State, events: &[Event]) -> Vec<String> {
    let Some(dossier) = state.dossier().filter(|it| it.pins.rules >= Rules::Consent) else {
        return Vec::new();
    };
    let used = events.iter().filter_map(|event| match event {
        Event::ApprovalConsumed { receipt, .. } => Some(receipt),
        _ => None,
    });
    let givers = used.filter_map(|used| dossier.approvals.receipts().find(|receipt| receipt.id == *used));
    let mut keys: Vec<String> = givers.map(|receipt| revocation_key(&receipt.approver)).collect();
    if !keys.is_empty() {
        keys.push(withdrawal_key(&dossier.pins.blueprint.id, dossier.pins.blueprint.digest));
    }
    keys
}

/// What other services are told, in the same commit.
fn outbox(run: &RunRef, events: &[Event]) -> Vec<OutboxMessage> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Ended { phase: Phase::Completed, .. } => {
                let body = json!({
                    "organization": run.scope.organization,
                    "project": run.scope.project,
                    "run": run.run,
                    "claim": "preview-ready",
                });
                let body = ambit_canonical::encode(&body).ok()?;
                Some(OutboxMessage { event_type: "RunCompleted.v1".to_owned(), body })
            }
            _ => None,
        })
        .collect()
}

/// An agent behind a pointer, as tasks share it.
pub(crate) type SharedAgent = Arc<dyn ambit_ports::agent::Agent>;
