//! The one loop of a run: load, step, commit, and reconcile what is pending with what is running.
//!
//! It owns the lease of a run's stream, its budget and its recovery. It cannot approve anything: approvals reach it as
//! signed decisions, and it holds no key that could make one.

#![forbid(unsafe_code)]

mod absent;
mod admission;
mod check;
mod drive;
mod effects;
mod inbox;
mod library;
mod live;
mod start;
mod turn;
mod view;

use std::sync::Arc;

use ambit_broker::Broker;
use ambit_evidence::Project;
use ambit_ids::Scope;
use ambit_journal::{Journal, JournalError};
use ambit_ports::agent::Agent;
use ambit_ports::leases::{LeaseError, StreamLeases};
use ambit_ports::runtime::{Clock, IdGenerator};
use ambit_ports::store::StreamId;
use ambit_run::State;

pub use admission::{Documents, MissingDocument};
pub use ambit_evidence::{SignedDecision, fold};
pub use ambit_ports::policy::{Policies, PolicyUnusable};
pub use ambit_ports::store::RunRef;
pub use inbox::InboxCommand;
pub use library::{Library, LibraryError, ResolvedProfile};
pub use start::{Rejected, StartError, StartRun, Started};
pub use view::{
    ApprovalView, AttemptView, CompletionView, GateView, LimitView, PinsView, PlanStepView, RunView, ended,
    view,
};

/// Everything that the loop needs of the world.
#[derive(Clone)]
pub struct Orchestrator {
    /// Writes and reads streams.
    pub journal: Journal,
    /// Who may write to a run's stream.
    pub leases: Arc<dyn StreamLeases>,
    /// Performs effects.
    pub broker: Broker,
    /// Decides calls.
    pub policies: Arc<dyn Policies>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Makes ids.
    pub ids: Arc<dyn IdGenerator>,
    /// The program and its version, as records name it.
    pub program: String,
}

/// Why a run could not be driven on. What was committed stays; the run can be driven on later.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// There is no such run in this project.
    #[error("there is no such run")]
    NotFound,
    /// Another process drives it.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// The stream could not be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// What the run is pinned to is gone or altered.
    #[error("what the run is pinned to cannot be had: {0}")]
    Ground(#[from] MissingDocument),
    /// A record of the stream has no event; the stream was not written by a known version.
    #[error("a record of the run cannot be read")]
    Unreadable(#[from] ambit_evidence::v1::ReadError),
    /// A part of this program panicked. What was committed stays.
    #[error(
        "a part of the program ended unexpectedly; what was committed stays, and the run can be driven on"
    )]
    Panicked(#[source] tokio::task::JoinError),
    /// The agent does not fit what the run is pinned to.
    #[error("the run is pinned to another agent")]
    AnotherAgent,
}

impl DriveError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "RUN_NOT_FOUND",
            Self::Lease(LeaseError::Held { .. }) => "RUN_HELD",
            Self::Lease(_) => "RUN_LEASE_LOST",
            Self::Journal(error) => error.code(),
            Self::Ground(error) => error.code(),
            Self::Unreadable(_) => "RECORD_UNREADABLE",
            Self::Panicked(_) => "INTERNAL_PANIC",
            Self::AnotherAgent => "AGENT_MISMATCH",
        }
    }
}

/// Tells whoever looks on that a run has changed. The stream is the truth; this only saves waiting.
pub trait Observer: Send + Sync {
    /// The run is now in this state; these events led there.
    fn changed(&self, state: &State, events: &[ambit_run::Event]);
}

impl Orchestrator {
    /// Reads a run and checks its chain.
    ///
    /// # Errors
    /// [`DriveError::NotFound`] where the project has no such run: the same answer whether another project has it or
    /// nobody has.
    pub async fn state(&self, run: &RunRef) -> Result<State, DriveError> {
        let loaded = self.journal.load(&run.stream()).await?;
        if loaded.links.is_empty() {
            return Err(DriveError::NotFound);
        }
        Ok(fold(&loaded.links)?)
    }

    /// Reads what follows from a project's stream.
    ///
    /// # Errors
    /// [`JournalError`] where the stream was altered or could not be read.
    pub async fn project(&self, scope: &Scope) -> Result<Project, JournalError> {
        let loaded = self.journal.load(&StreamId::Project(scope.clone())).await?;
        Ok(Project::fold(scope, &loaded.links))
    }

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
        drive::drive(self, run, agent, observer).await
    }

    /// Sees a run that was cancelled to its end, where nobody drives it: no agent is asked. A run that was not cancelled
    /// waits here until it is, or until its time is over.
    ///
    /// # Errors
    /// [`DriveError`], as for [`drive`](Self::drive).
    pub async fn wind_down(&self, run: &RunRef, observer: &dyn Observer) -> Result<State, DriveError> {
        let state = self.state(run).await?;
        let Some(dossier) = state.dossier() else { return Err(DriveError::NotFound) };
        let absent = absent::Absent::in_place_of(dossier.pins.agent.id.clone());
        drive::drive(self, run, Arc::new(absent), observer).await
    }
}
