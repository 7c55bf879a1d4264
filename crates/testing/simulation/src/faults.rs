use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::Dice;

/// A place between two steps of the control plane, where something can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cut {
    /// A commit was asked for, and nothing of it is there.
    CommitBefore,
    /// A commit is durable, and nobody was told.
    CommitAfter,
    /// Something is read from the store.
    StoreRead,
    /// A lease is renewed.
    LeaseRenew,
    /// A blob is kept.
    BlobPut,
    /// A blob is read.
    BlobGet,
    /// The agent is asked.
    AgentAsked,
    /// The agent has answered, and nobody has heard it.
    AgentAnswered,
    /// A verb of the sandbox was asked for, and nothing of it was done.
    SandboxAsked,
    /// A verb of the sandbox was done, and nobody was told.
    SandboxAnswered,
}

impl Cut {
    /// Whether a crash here leaves something else behind than a crash at the boundaries around it.
    const fn is_boundary(self) -> bool {
        !matches!(self, Self::StoreRead | Self::LeaseRenew | Self::BlobGet)
    }
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The storage stumbles. Whether the thing was done depends on the place.
    Fail,
    /// The disk is full.
    NoSpace,
    /// Somebody else wrote in between.
    Moved,
    /// Another process takes the lease over.
    Stolen,
}

/// What is planned to go wrong, and where. One plan serves every process of a world; a clone is the same plan.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    crashed: Notify,
}

#[derive(Debug, Default)]
struct State {
    passed: BTreeMap<Cut, u64>,
    boundaries: u64,
    planned: BTreeMap<(Cut, u64), Fault>,
    always: BTreeMap<Cut, Fault>,
    crash_at: Option<u64>,
    dead: bool,
    delays: Option<Dice>,
}

impl Faults {
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets something go wrong at the place, after it was passed `skip` more times.
    pub fn plan(&self, cut: Cut, skip: u64, fault: Fault) {
        self.with(|state| {
            let next = state.passed.get(&cut).copied().unwrap_or_default();
            state.planned.insert((cut, next + skip), fault);
        });
    }

    /// Lets something go wrong at the place every time from now on.
    pub fn plan_always(&self, cut: Cut, fault: Fault) {
        self.with(|state| state.always.insert(cut, fault));
    }

    /// Lets nothing go wrong any more.
    pub fn heal(&self) {
        self.with(|state| {
            state.planned.clear();
            state.always.clear();
            state.crash_at = None;
        });
    }

    /// Crashes the control plane after it passed `skip` more boundaries.
    pub fn crash_after(&self, skip: u64) {
        self.with(|state| state.crash_at = Some(state.boundaries + skip));
    }

    /// How many boundaries were passed so far.
    #[must_use]
    pub fn boundaries(&self) -> u64 {
        self.with(|state| state.boundaries)
    }

    /// How often a place was passed so far.
    #[must_use]
    pub fn passed(&self, cut: Cut) -> u64 {
        self.with(|state| state.passed.get(&cut).copied().unwrap_or_default())
    }

    /// Lets steps that could happen at once happen in an order that the seed decides.
    pub fn shuffle(&self, seed: u64) {
        self.with(|state| state.delays = Some(Dice::new(seed)));
    }

    /// Passes a place. Answers what goes wrong there; never comes back where the control plane crashes, and neither does
    /// whatever else of it passes a place after that.
    pub async fn pass(&self, cut: Cut) -> Option<Fault> {
        let delay = self.with(|state| state.delays.as_mut().map_or(0, |dice| dice.roll(3)));
        for _ in 0..delay {
            tokio::task::yield_now().await;
        }
        let (dead, fault) = self.with(|state| state.pass(cut));
        if dead {
            self.0.crashed.notify_one();
            std::future::pending::<()>().await;
        }
        fault
    }

    /// Waits for the control plane to crash.
    pub async fn crashed(&self) {
        while !self.with(|state| state.dead) {
            self.0.crashed.notified().await;
        }
    }

    /// Lets another control plane begin: whatever was left of the one that crashed must be dropped before.
    pub fn revive(&self) {
        self.with(|state| state.dead = false);
    }
}

impl State {
    fn pass(&mut self, cut: Cut) -> (bool, Option<Fault>) {
        if self.dead {
            return (true, None);
        }
        let count = self.passed.entry(cut).or_default();
        let planned = self.planned.remove(&(cut, *count)).or_else(|| self.always.get(&cut).copied());
        *count += 1;
        if cut.is_boundary() {
            self.dead = self.crash_at == Some(self.boundaries);
            self.boundaries += 1;
        }
        if self.dead {
            self.crash_at = None;
        }
        (self.dead, planned)
    }
}
