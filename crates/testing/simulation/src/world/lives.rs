use std::future::Future;
use std::sync::Arc;

use ambit_ids::{DurationMs, GateId};
use ambit_orchestrator::{DriveError, Observer, RunRef};
use ambit_ports::agent::Agent;
use ambit_ports::runtime::Clock as _;
use ambit_ports::sandbox::Tap;
use ambit_run::{Event, State};

use super::World;

/// How a drive of a run came to its end.
#[derive(Debug)]
pub enum Driven {
    /// The run is over.
    Ended(Box<State>),
    /// The drive gave up, and the run can be driven on.
    Failed(DriveError),
    /// The control plane crashed.
    Crashed,
}

impl Driven {
    /// The state of a run that is over.
    ///
    /// # Panics
    /// Where it is not.
    pub fn ended(self) -> State {
        match self {
            Self::Ended(state) => *state,
            other => panic!("the run is not over: {other:?}"),
        }
    }
}

/// Looks on and does nothing.
pub struct Quiet;

impl Observer for Quiet {
    fn changed(&self, _: &State, _: &[Event]) {}

    fn gate_begins(&self, _: &GateId) -> Option<Tap> {
        None
    }
}

/// Looks on and tells a closure.
pub struct Watch<F>(pub F);

impl<F: Fn(&State, &[Event]) + Send + Sync> Observer for Watch<F> {
    fn changed(&self, state: &State, events: &[Event]) {
        (self.0)(state, events);
    }

    fn gate_begins(&self, _: &GateId) -> Option<Tap> {
        None
    }
}

/// A lease that a control plane left behind when it crashed is over after this.
const LEASE_OVER: DurationMs = DurationMs::new(10_001);

impl World {
    /// One life of a control plane: what it comes to, or `None` where it crashed. Everything of it is gone afterwards.
    pub async fn live<T>(&self, life: impl Future<Output = T>) -> Option<T> {
        self.faults.revive();
        let outcome = tokio::select! {
            biased;
            () = self.faults.crashed() => None,
            outcome = life => Some(outcome),
        };
        // What a life had spawned is dropped when it is its turn.
        for _ in 0..4 {
            tokio::task::yield_now().await;
        }
        outcome
    }

    /// Drives a run by a control plane of its own until it is over, given up, or the control plane crashes.
    pub async fn drive(&self, run: &RunRef, agent: &Arc<impl Agent + 'static>) -> Driven {
        self.drive_watched(run, agent, &Quiet).await
    }

    /// The same, with somebody who looks on.
    pub async fn drive_watched(
        &self,
        run: &RunRef,
        agent: &Arc<impl Agent + 'static>,
        observer: &dyn Observer,
    ) -> Driven {
        let orchestrator = self.orchestrator();
        match self.live(orchestrator.drive(run, agent.clone(), observer)).await {
            None => Driven::Crashed,
            Some(Ok(state)) => Driven::Ended(Box::new(state)),
            Some(Err(error)) => Driven::Failed(error),
        }
    }

    /// Drives a run by as many control planes as it takes, one after the other, and answers how many it took.
    ///
    /// # Panics
    /// Where the run is not over after `lives` of them.
    pub async fn settle(&self, run: &RunRef, agent: &Arc<impl Agent + 'static>, lives: u32) -> (State, u32) {
        let mut last = None;
        for life in 1..=lives {
            match self.drive(run, agent).await {
                Driven::Ended(state) => return (*state, life),
                other => last = Some(other),
            }
            self.clock.sleep_until(self.clock.now().saturating_add(LEASE_OVER)).await;
        }
        panic!("the run is not over after {lives} lives: {last:?}");
    }

    /// The same, while somebody else does something for as long as it takes.
    ///
    /// # Panics
    /// Where the run is not over after `lives` control planes, or the other one is done before.
    pub async fn settle_with(
        &self,
        run: &RunRef,
        agent: &Arc<impl Agent + 'static>,
        lives: u32,
        meanwhile: impl AsyncFn(&Self),
    ) -> State {
        tokio::select! {
            biased;
            (state, _) = self.settle(run, agent, lives) => state,
            () = meanwhile(self) => panic!("it was to go on for as long as the run"),
        }
    }
}
