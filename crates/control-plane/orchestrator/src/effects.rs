//! Performs pending effects. Each is a task of its own, and answers with commands for the run.

use ambit_broker::Ground;
use ambit_ids::{ByteCount, Digest, DurationMs, UnixMs};
use ambit_journal::JournalError;
use ambit_ports::AbortSignal;
use ambit_ports::blobs::BlobError;
use ambit_ports::sandbox::SandboxLease;
use ambit_ports::store::RunRef;
use ambit_run::{Command, Effect, HiddenCheck, InFlight, Observation, SandboxHeld, State, StopReason};
use ambit_sandboxes::{Needs, unmet};
use serde_json::Value;

use crate::admission::{Documents, sandbox_needs};
use crate::conversation::Conversation;
use crate::live::SharedAgent;
use crate::open_turn::Turn;
use crate::orchestrator::Orchestrator;
use crate::turn::answer;

/// The longest that a verb of the sandbox other than a command may take.
const VERB_MS: DurationMs = DurationMs::new(120_000);
/// What a verb that took longer is told as. What it began is removed with the sandbox.
const TIMED_OUT: &str = "SANDBOX_TIMED_OUT";

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
}

impl Bench {
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
        let clock = &self.orchestrator.clock;
        let end = clock.now().saturating_add(VERB_MS);
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
        let manifest = sandboxes.measure().await.map_err(|error| error.code().to_owned())?;
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
        let kept = sandboxes.allocate(needs, &manifest).await.map_err(|error| error.code().to_owned())?;
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
        let performed =
            self.orchestrator.broker.perform(&self.ground, self.lease.as_ref(), flight, abort).await;
        let lost = matches!(&performed.observation, Observation::Failed { code } if code == "SANDBOX_GONE");
        let mut commands = vec![Command::Observe { turn: flight.turn, observation: performed.observation }];
        if let (true, Some(lease)) = (lost, &self.lease) {
            commands.push(Command::SandboxLost { incarnation: lease.incarnation.clone() });
        }
        Done { commands, reply: Some(performed.reply), only_at: None }
    }

    async fn check_hidden(self, check: &HiddenCheck, state: &State, abort: AbortSignal) -> Done {
        let failed = |code: &str| {
            Done::with(Command::HiddenCheckFailed { gate: check.gate.clone(), code: code.to_owned() })
        };
        let (Some(lease), Some(dossier)) = (&self.lease, state.dossier()) else {
            return failed("SANDBOX_NOT_HELD");
        };
        let broker = &self.orchestrator.broker;
        match broker.run_hidden_check(&self.ground, lease, &check.command, dossier.head, abort).await {
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
