use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_evidence::ends_consent;
use ambit_ids::{DurationMs, EffectKey, UnixMs};
use ambit_journal::JournalError;
use ambit_ports::agent::Agent;
use ambit_ports::leases::StreamLease;
use ambit_ports::sandbox::SandboxLease;
use ambit_ports::store::{InboxEntry, RunRef, StoreError};
use ambit_ports::{AbortHandle, AbortSignal};
use ambit_run::{
    Answered, Command, Denial, DenialCode, Effect, Proposal, SandboxHeld, Stage, State, pending,
};
use tokio::task::JoinSet;

use crate::absent::Absent;
use crate::admission::Documents;
use crate::drive_error::DriveError;
use crate::effects::{Bench, Done};
use crate::holding::LEASE_MS;
use crate::live::Live;
use crate::observer::Observer;
use crate::orchestrator::Orchestrator;
use crate::reply::reply;

mod letters;

/// How often the inbox is looked at, and the lease renewed if a third of it is over.
const LOOK_MS: DurationMs = DurationMs::new(25);

impl Orchestrator {
    /// Drives a run until it is over, with `agent` answering its turns.
    ///
    /// # Errors
    /// [`DriveError`]; whatever was committed stays, and the run can be driven on by this or another process.
    pub async fn drive(
        &self,
        run: &RunRef,
        agent: Arc<dyn Agent>,
        observer: &dyn Observer,
    ) -> Result<State, DriveError> {
        drive(self, run, agent, observer, Patience::Endless).await
    }

    /// Drives a run as [`drive`](Self::drive) does, and lets go of it where it waits for a person: the run stays as it
    /// is, without a sandbox, until somebody drives it on.
    ///
    /// # Errors
    /// [`DriveError`], as for [`drive`](Self::drive).
    pub async fn drive_alone(
        &self,
        run: &RunRef,
        agent: Arc<dyn Agent>,
        observer: &dyn Observer,
    ) -> Result<State, DriveError> {
        drive(self, run, agent, observer, Patience::None).await
    }

    /// Sees a run that was cancelled to its end, where nobody drives it: no agent is asked. A run that was not cancelled
    /// waits here until it is, or until its time is over.
    ///
    /// # Errors
    /// [`DriveError`], as for [`drive`](Self::drive).
    pub async fn wind_down(&self, run: &RunRef, observer: &dyn Observer) -> Result<State, DriveError> {
        let state = self.state(run).await?;
        let Some(dossier) = state.dossier() else { return Err(DriveError::NotFound) };
        let absent = Absent::in_place_of(dossier.pins.agent.clone());
        drive(self, run, Arc::new(absent), observer, Patience::Endless).await
    }
}

async fn drive(
    orchestrator: &Orchestrator,
    run: &RunRef,
    agent: Arc<dyn Agent>,
    observer: &dyn Observer,
    patience: Patience,
) -> Result<State, DriveError> {
    let head = orchestrator.journal.store().head(&run.stream()).await.map_err(JournalError::from)?;
    if head.is_none() {
        return Err(DriveError::NotFound);
    }
    let orchestrator = &orchestrator.withholding(agent.redactor());
    let lease = orchestrator.hold(run).await?;
    let release = lease.clone();
    let result = drive_held(orchestrator, run, agent, observer, lease, patience).await;
    // A lease that was lost meanwhile needs no giving back, and a run that is over needs no lease.
    let _ = orchestrator.leases.release(&release).await;
    result
}

async fn drive_held(
    orchestrator: &Orchestrator,
    run: &RunRef,
    agent: Arc<dyn Agent>,
    observer: &dyn Observer,
    lease: StreamLease,
    patience: Patience,
) -> Result<State, DriveError> {
    let live = Live::load(orchestrator, run, lease).await?;
    let Some(dossier) = live.state.dossier() else { return Err(DriveError::NotFound) };
    let pinned = &dossier.pins.agent;
    if pinned.id != *agent.id() || pinned.definition != agent.definition() {
        return Err(DriveError::AnotherAgent);
    }
    orchestrator.must_be_on(&dossier.pins.backend)?;
    let documents = Documents::new(orchestrator.broker.revisions().blobs().clone());
    let ground = documents.ground(&dossier.pins).await?;
    let bench = Bench::new(orchestrator, run, ground, agent);
    let look_at = orchestrator.clock.now();
    let mut pilot =
        Pilot { live, bench, running: BTreeMap::new(), tasks: JoinSet::new(), mark: None, look_at, patience };
    pilot.tell(observer, Command::Recover, Vec::new()).await?;
    let result = pilot.run(observer).await;
    for handle in pilot.running.values() {
        handle.abort();
    }
    pilot.tasks.shutdown().await;
    result?;
    if pilot.lets_go() {
        pilot.give_up_sandbox().await;
        return Ok(pilot.live.state);
    }
    pilot.dismiss_rest().await?;
    pilot.live.close(orchestrator).await?;
    Ok(pilot.live.state)
}

/// Compares what is pending with what is running, and takes what comes of it.
struct Pilot {
    live: Live,
    bench: Bench,
    running: BTreeMap<EffectKey, AbortHandle>,
    tasks: JoinSet<(EffectKey, Done)>,
    mark: Option<u64>,
    look_at: UnixMs,
    patience: Patience,
}

/// Whether a person is waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    Endless,
    None,
}

/// What a command that was left is good for.
enum Letter {
    /// It is to be told.
    Tell(Box<Command>),
    /// It can have no effect.
    Void,
    /// It cannot be taken yet, and stays where it is.
    Later,
}

impl Pilot {
    async fn run(&mut self, observer: &dyn Observer) -> Result<(), DriveError> {
        let clock = self.bench.orchestrator.clock.clone();
        while !matches!(self.live.state, State::Ended(_)) {
            // Before anything begins: what was left may be a cancellation, and the lease may be lost.
            if clock.now() >= self.look_at {
                self.look(observer).await?;
                continue;
            }
            if self.lets_go() {
                return Ok(());
            }
            self.reconcile(observer);
            tokio::select! {
                biased;
                Some(joined) = self.tasks.join_next() => {
                    // A task that panicked is a defect of this program, and nothing is known of its effect: the run is
                    // left as it is committed, to be recovered like after a crash.
                    let (key, done) = joined.map_err(DriveError::Panicked)?;
                    self.running.remove(&key);
                    self.take(observer, done).await?;
                }
                () = clock.sleep_until(self.look_at) => {}
            }
        }
        Ok(())
    }

    /// Whether a person must decide, and is not waited for.
    fn lets_go(&self) -> bool {
        let waits =
            matches!(&self.live.state, State::Open(open) if matches!(open.stage, Stage::Approval { .. }));
        self.patience == Patience::None && waits
    }

    /// Removes the sandbox of a run that is let go of. Whoever drives the run on finds it lost, as after a crash, and
    /// proves at the end that none is left; so a failure to remove it now loses nothing.
    async fn give_up_sandbox(&self) {
        if let Some(lease) = self.bench_now().lease {
            let _ = self.bench.orchestrator.broker.sandboxes().destroy(&lease).await;
        }
    }

    /// Starts what is pending and not running, and aborts what is running and no longer pending.
    fn reconcile(&mut self, observer: &dyn Observer) {
        let run = &self.live.run.run;
        let pending: BTreeMap<EffectKey, Effect> =
            pending(&self.live.state).into_iter().map(|effect| (effect.key(run), effect)).collect();
        for (key, handle) in &self.running {
            // An allocation is never dropped half-way: what comes of it is taken, to be removed.
            if !pending.contains_key(key) && !is_allocation(key) {
                handle.abort();
            }
        }
        let allocating = self.running.keys().any(is_allocation);
        for (key, effect) in pending {
            // Nothing is removed before it is known what there is to remove.
            if self.running.contains_key(&key) || (allocating && effect == Effect::DestroySandbox) {
                continue;
            }
            let (handle, signal): (AbortHandle, AbortSignal) = AbortHandle::new();
            let bench = self.bench_now().watched(observer, &effect);
            let state = self.live.state.clone();
            let task_key = key.clone();
            self.tasks.spawn(async move { (task_key, bench.perform(effect, state, signal).await) });
            self.running.insert(key, handle);
        }
    }

    /// The bench with the sandbox that the record names, whichever process allocated it.
    fn bench_now(&self) -> Bench {
        let mut bench = self.bench.clone();
        let held = match &self.live.state {
            State::Open(open) => open.sandbox.as_ref(),
            State::Closing(closing) => closing.sandbox.as_ref(),
            State::Vacant | State::Ended(_) => None,
        };
        bench.lease = held.map(|held| self.lease_of(held));
        bench
    }

    fn lease_of(&self, held: &SandboxHeld) -> SandboxLease {
        let pins = &self.bench.ground.pins;
        SandboxLease {
            lease: held.lease.clone(),
            incarnation: held.incarnation.clone(),
            backend: held.backend.clone(),
            run: pins.run.clone(),
            scope: pins.scope.clone(),
            image: pins.image,
        }
    }

    async fn tell(
        &mut self,
        observer: &dyn Observer,
        command: Command,
        answered: Vec<u64>,
    ) -> Result<bool, DriveError> {
        let orchestrator = self.bench.orchestrator.clone();
        let Ok(events) = self.live.tell(&orchestrator, observer, command, answered).await? else {
            return Ok(false);
        };
        if let Some(reply) = reply(&orchestrator.broker, &self.bench.ground, &events).await {
            self.bench.conversation.tell(&reply);
        }
        Ok(true)
    }

    async fn take(&mut self, observer: &dyn Observer, done: Done) -> Result<(), DriveError> {
        let events = self.live.state.dossier().map(|dossier| dossier.events);
        if done.only_at.is_some() && done.only_at != events {
            return Ok(());
        }
        if let Some(reply) = done.reply {
            self.bench.conversation.tell(&reply);
        }
        for command in done.commands {
            let (instead, again) = (unrecordable(&command), command.clone());
            // A refusal means that the run has moved on since the effect began; what came of it counts for nothing.
            match (self.tell(observer, command, Vec::new()).await, instead) {
                (Err(DriveError::Journal(JournalError::RecordTooLarge { .. })), Some(instead)) => {
                    self.tell(observer, instead, Vec::new()).await?;
                }
                // Whoever approved it was revoked, or its blueprint withdrawn, after the last look: it is judged again without
                // that approval.
                (Err(DriveError::Journal(JournalError::Store(StoreError::Claimed { key, .. }))), _)
                    if ends_consent(&key) =>
                {
                    self.notice_ended_consents(observer).await?;
                    self.tell(observer, again, Vec::new()).await?;
                }
                (told, _) => {
                    told?;
                }
            }
        }
        Ok(())
    }

    /// Looks whether another process left something, and keeps the lease.
    async fn look(&mut self, observer: &dyn Observer) -> Result<(), DriveError> {
        let orchestrator = self.bench.orchestrator.clone();
        let now = orchestrator.clock.now();
        let left = self.live.lease.expires.since(now);
        if left.get() < LEASE_MS.get() * 2 / 3 {
            self.live.lease = orchestrator.leases.renew(&self.live.lease, now, LEASE_MS).await?;
        }
        let store = orchestrator.journal.store().clone();
        let mark = store.change_mark().await.map_err(JournalError::from)?;
        if self.mark != Some(mark) {
            self.mark = Some(mark);
            self.notice_ended_consents(observer).await?;
            for entry in store.inbox(&self.live.run.stream()).await.map_err(JournalError::from)? {
                self.answer(observer, entry).await?;
            }
        }
        self.look_at = orchestrator.clock.now().saturating_add(LOOK_MS);
        Ok(())
    }

    /// Takes a command that was left. One that has no effect is taken away, so that it is not looked at for ever.
    async fn answer(&mut self, observer: &dyn Observer, entry: InboxEntry) -> Result<(), DriveError> {
        let taken = match self.letter(&entry).await? {
            Letter::Tell(command) => self.tell(observer, *command, vec![entry.id]).await?,
            Letter::Void => false,
            Letter::Later => {
                // It is looked at again, whether or not anything else changes.
                self.mark = None;
                return Ok(());
            }
        };
        if !taken {
            self.dismiss(entry.id).await?;
        }
        Ok(())
    }

    /// Takes away whatever waits for a run that is over: nothing can answer it any more.
    async fn dismiss_rest(&self) -> Result<(), DriveError> {
        let store = self.bench.orchestrator.journal.store();
        for entry in store.inbox(&self.live.run.stream()).await.map_err(JournalError::from)? {
            self.dismiss(entry.id).await?;
        }
        Ok(())
    }

    async fn dismiss(&self, id: u64) -> Result<(), DriveError> {
        let store = self.bench.orchestrator.journal.store();
        Ok(store.dismiss(&self.live.run.stream(), id).await.map_err(JournalError::from)?)
    }
}

/// What the run is told of a proposal whose record would be too large: that it was none. An agent could otherwise stop a
/// run for ever by what it says.
fn unrecordable(command: &Command) -> Option<Command> {
    let Command::Propose(answered) = command else { return None };
    let denial = Denial::new(DenialCode::AnswerTooLarge, "what was proposed does not fit a record")
        .instead("propose less at once, and without characters that must be escaped");
    Some(Command::Propose(Box::new(Answered {
        turn: answered.turn,
        cost: answered.cost,
        answer: answered.answer,
        proposal: Proposal::Unusable(denial),
    })))
}

fn is_allocation(key: &EffectKey) -> bool {
    key.as_str().contains(".allocate.")
}
