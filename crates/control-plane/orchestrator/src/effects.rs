//! Performs pending effects. Each is a task of its own, and answers with commands for the run.

use ambit_broker::Ground;
use ambit_ids::{ByteCount, Digest, DurationMs, Incarnation, UnixMs};
use ambit_journal::JournalError;
use ambit_ports::AbortSignal;
use ambit_ports::blobs::BlobError;
use ambit_ports::sandbox::{SandboxLease, Tap};
use ambit_ports::store::RunRef;
use ambit_run::{
    Command, Effect, HiddenCheck, InFlight, Observation, SandboxHeld, State, StopReason, ToolCall,
};
use ambit_sandboxes::{Needs, patiently, unmet};
use serde_json::Value;

use crate::admission::{Documents, sandbox_needs};
use crate::conversation::Conversation;
use crate::live::SharedAgent;
use crate::observer::Observer;
use crate::open_turn::Turn;
use crate::orchestrator::Orchestrator;
use crate::turn::answer;

/// The longest that a verb of the sandbox other than a command may take.
const VERB_MS: DurationMs = DurationMs::new(120_000);
/// What a verb that took longer is told as. What it began is removed with the sandbox.
const TIMED_OUT: &str = "SANDBOX_TIMED_OUT";
/// How long the removal of a sandbox that does not answer is waited for before the run is told. What is left then is removed
/// before the run has another one, or at its end.
const GIVE_UP_MS: DurationMs = DurationMs::new(2_000);

/// What came of an effect.
#[derive(Default)]
pub(crate) struct Done {
    /// What the run is told, in order.
    pub(crate) commands: Vec<Command>,
    /// What the agent gets to read.
    pub(crate) reply: Option<Value>,
    /// The number of events that the run must still have for any of it to count; `None` where it counts whatever has
    /// happened meanwhile.
    pub(crate) only_at: Option<u64>,
}

impl Done {
    fn with(command: Command) -> Self {
        Self { commands: vec![command], ..Self::default() }
    }
}

/// What every effect of a run stands on.
#[derive(Clone)]
pub(crate) struct Bench {
    pub(crate) orchestrator: Orchestrator,
    pub(crate) run: RunRef,
    pub(crate) ground: Ground,
    pub(crate) agent: SharedAgent,
    pub(crate) conversation: Conversation,
    pub(crate) lease: Option<SandboxLease>,
    pub(crate) tap: Option<Tap>,
}

impl Bench {
    /// The bench of a run without a sandbox, on which nobody watches.
    pub(crate) fn new(orchestrator: &Orchestrator, run: &RunRef, ground: Ground, agent: SharedAgent) -> Self {
        let (orchestrator, run) = (orchestrator.clone(), run.clone());
        Self {
            orchestrator,
            run,
            ground,
            agent,
            conversation: Conversation::default(),
            lease: None,
            tap: None,
        }
    }

    /// The same, watched by whoever wants to see what the effect puts out.
    pub(crate) fn watched(mut self, observer: &dyn Observer, effect: &Effect) -> Self {
        if let Effect::Perform(flight) = effect
            && let ToolCall::RunNamedGate { gate_id, .. } = &flight.call
        {
            self.tap = observer.gate_begins(gate_id);
        }
        self
    }

    /// Performs one effect.
    pub(crate) async fn perform(self, effect: Effect, state: State, abort: AbortSignal) -> Done {
        match effect {
            Effect::AllocateSandbox { allocation } => self.allocate(allocation).await,
            Effect::OfferTurn { turn } => self.offer(turn, &state, abort).await,
            Effect::Perform(flight) => self.call(&flight, abort).await,
            Effect::CheckHidden(check) => self.check_hidden(&check, &state, abort).await,
            Effect::TerminateProcesses => self.pause(&state).await.terminate(&state).await,
            Effect::ExportTrace => self.pause(&state).await.export(&state).await,
            Effect::DestroySandbox => self.pause(&state).await.destroy().await,
            Effect::WakeAt(moment) => self.wake(moment, abort).await,
        }
    }

    /// A cleanup step that failed is tried again a little later each time.
    async fn pause(self, state: &State) -> Self {
        if let State::Closing(closing) = state
            && closing.failures > 0
        {
            let pause = DurationMs::new(u64::from(closing.failures) * 100);
            let clock = &self.orchestrator.clock;
            clock.sleep_until(clock.now().saturating_add(pause)).await;
        }
        self
    }

    async fn wake(self, moment: UnixMs, mut abort: AbortSignal) -> Done {
        tokio::select! {
            biased;
            () = abort.raised() => Done::default(),
            () = self.orchestrator.clock.sleep_until(moment) => Done::with(Command::Tick),
        }
    }

    async fn allocate(self, allocation: u32) -> Done {
        match self.in_time(self.try_allocate(allocation)).await {
            Ok(Ok(held)) => Done::with(Command::SandboxAllocated(held)),
            Ok(Err(code)) => Done::with(Command::SandboxRefused { code }),
            Err(code) => Done::with(Command::SandboxRefused { code: code.to_owned() }),
        }
    }

    /// What a verb of the sandbox answers, or the code of its silence: a run never waits for ever.
    async fn in_time<T>(&self, verb: impl Future<Output = T>) -> Result<T, &'static str> {
        self.within(VERB_MS, verb).await
    }

    async fn within<T>(&self, time: DurationMs, verb: impl Future<Output = T>) -> Result<T, &'static str> {
        let clock = &self.orchestrator.clock;
        let end = clock.now().saturating_add(time);
        tokio::select! {
            biased;
            answer = verb => Ok(answer),
            () = clock.sleep_until(end) => Err(TIMED_OUT),
        }
    }

    async fn try_allocate(&self, allocation: u32) -> Result<SandboxHeld, String> {
        let pins = &self.ground.pins;
        let sandboxes = self.orchestrator.broker.sandboxes();
        let revisions = self.orchestrator.broker.revisions();
        let clock = self.orchestrator.clock.as_ref();
        if allocation > 1 {
            // The one before was lost, and a run never has two: nothing of it may be left.
            let make_room = || sandboxes.make_room(&pins.scope, &pins.run, pins.image);
            patiently(clock, make_room).await.map_err(|error| error.code().to_owned())?;
        }
        let manifest =
            patiently(clock, || sandboxes.measure()).await.map_err(|error| error.code().to_owned())?;
        let profile = Documents::new(revisions.blobs().clone())
            .profile(&pins.scope, pins.profile.digest)
            .await
            .map_err(|error| error.code().to_owned())?;
        if !unmet(&profile, &manifest).is_empty() {
            return Err("BACKEND_NOT_ADMITTED".to_owned());
        }
        let hidden = pins.gates.iter().filter_map(|gate| gate.hidden_check.as_ref());
        let named = pins.gates.iter().map(|gate| &gate.id).chain(hidden);
        let commands = named.filter_map(|id| self.ground.catalog.command(id));
        let needs = sandbox_needs(commands).map_err(|_| "IMAGE_MIXED".to_owned())?;
        let base =
            revisions.load(&pins.scope, pins.base.tree).await.map_err(|error| error.code().to_owned())?;
        let needs = Needs {
            scope: pins.scope.clone(),
            run: pins.run.clone(),
            image: needs.image,
            limits: needs.limits,
            fixtures: needs.fixtures(&base),
            volumes: pins.volumes.clone(),
        };
        let kept = patiently(clock, || sandboxes.allocate(needs.clone(), &manifest))
            .await
            .map_err(|error| error.code().to_owned())?;
        Ok(SandboxHeld {
            allocation,
            lease: kept.receipt.lease,
            incarnation: kept.receipt.incarnation,
            backend: kept.receipt.backend,
            manifest: kept.digest,
        })
    }

    async fn offer(self, number: u32, state: &State, abort: AbortSignal) -> Done {
        let Some(dossier) = state.dossier().cloned() else { return Done::default() };
        let turn =
            Turn { number, dossier, ground: self.ground, agent: self.agent, conversation: self.conversation };
        Done {
            commands: answer(&self.orchestrator, turn, abort).await.into_iter().collect(),
            ..Done::default()
        }
    }

    async fn call(self, flight: &InFlight, abort: AbortSignal) -> Done {
        let performed = self
            .orchestrator
            .broker
            .perform(&self.ground, self.lease.as_ref(), flight, self.tap.clone(), abort)
            .await;
        let lost = self.lost(&performed.observation).await;
        let mut commands = vec![Command::Observe { turn: flight.turn, observation: performed.observation }];
        commands.extend(lost.map(|incarnation| Command::SandboxLost { incarnation }));
        Done { commands, reply: Some(performed.reply), only_at: None }
    }

    /// Which life of the sandbox is over after what was observed. One of which nobody knows any more what happens in it is
    /// given up: a command of it may still run, and no other is run beside that.
    async fn lost(&self, observation: &Observation) -> Option<Incarnation> {
        let lease = self.lease.as_ref()?;
        let Observation::Failed { code } = observation else { return None };
        match code.as_str() {
            "SANDBOX_GONE" => {}
            "OBSERVATION_LOST" | "SANDBOX_ANOTHER_LIFE" => {
                let removing = self.orchestrator.broker.sandboxes().destroy(lease);
                let _ = self.within(GIVE_UP_MS, removing).await;
            }
            _ => return None,
        }
        Some(lease.incarnation.clone())
    }

    async fn check_hidden(self, check: &HiddenCheck, state: &State, abort: AbortSignal) -> Done {
        let failed = |code: &str| {
            Done::with(Command::HiddenCheckFailed { gate: check.gate.clone(), code: code.to_owned() })
        };
        let (Some(lease), Some(dossier)) = (&self.lease, state.dossier()) else {
            return failed("SANDBOX_NOT_HELD");
        };
        let broker = &self.orchestrator.broker;
        match broker.run_hidden_check(&self.ground, lease, check, dossier.head, abort).await {
            Ok(record) => Done::with(Command::ObserveHidden(record)),
            Err(error) => failed(error.code()),
        }
    }

    async fn terminate(self, state: &State) -> Done {
        let reason = state.stop_reason().cloned().unwrap_or(StopReason::CustomerCancelled);
        let Some(lease) = self.lease.clone() else {
            return Done::with(Command::CleanupFailed { code: "SANDBOX_NOT_HELD".to_owned() });
        };
        Done::with(match self.in_time(self.orchestrator.broker.sandboxes().cancel(&lease, &reason)).await {
            Ok(Ok(kept)) => {
                Command::ProcessesTerminated { killed: kept.receipt.killed_processes, receipt: kept.digest }
            }
            Ok(Err(error)) => Command::CleanupFailed { code: error.code().to_owned() },
            Err(code) => Command::CleanupFailed { code: code.to_owned() },
        })
    }

    /// Keeps the trace so far, one record a line, exactly as the records are. What is recorded meanwhile, such as a
    /// sandbox that arrives late, makes it incomplete: it does not count then, and is done again.
    async fn export(self, state: &State) -> Done {
        let command = match self.try_export().await {
            Ok(artifact) => Command::TraceExported { artifact },
            Err(code) => Command::CleanupFailed { code },
        };
        Done { only_at: state.dossier().map(|dossier| dossier.events), ..Done::with(command) }
    }

    async fn try_export(&self) -> Result<Digest, String> {
        let code = |error: JournalError| error.code().to_owned();
        let stream = self.run.stream();
        let mut blob = self
            .orchestrator
            .broker
            .revisions()
            .blobs()
            .create(&self.run.scope)
            .await
            .map_err(|error| error.code().to_owned())?;
        let keep = |error: BlobError| error.code().to_owned();
        let rows = self.orchestrator.journal.rows(&stream).await.map_err(code)?;
        for row in rows {
            blob.write(&row.bytes).await.map_err(keep)?;
            blob.write(b"\n").await.map_err(keep)?;
        }
        let (digest, _): (Digest, ByteCount) = blob.finish().await.map_err(keep)?;
        Ok(digest)
    }

    /// Removes the sandbox. A run that holds none, or never learned of one, proves that none of its is left.
    async fn destroy(self) -> Done {
        let sandboxes = self.orchestrator.broker.sandboxes();
        let pins = &self.ground.pins;
        let removing = async {
            match &self.lease {
                Some(lease) => sandboxes.destroy(lease).await,
                None => sandboxes.destroy_every(&pins.scope, &pins.run, pins.image).await,
            }
        };
        let proof = self.in_time(removing).await;
        Done::with(match proof {
            Ok(Ok(kept)) => Command::SandboxDestroyed { receipt: kept.digest },
            Ok(Err(error)) => Command::CleanupFailed { code: error.code().to_owned() },
            Err(code) => Command::CleanupFailed { code: code.to_owned() },
        })
    }
}
