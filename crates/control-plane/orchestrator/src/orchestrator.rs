use std::sync::Arc;

use ambit_broker::Broker;
use ambit_evidence::{Project, fold};
use ambit_ids::{BackendId, Scope};
use ambit_journal::{Journal, JournalError};
use ambit_ports::leases::StreamLeases;
use ambit_ports::policy::Policies;
use ambit_ports::runtime::{Clock, IdGenerator, Processes};
use ambit_ports::store::{RunRef, StreamId};
use ambit_redaction::Redactor;
use ambit_run::State;

use crate::drive_error::DriveError;

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
    /// Tells whether the process that held a run lives.
    pub processes: Arc<dyn Processes>,
    /// The program and its version, as records name it.
    pub program: String,
}

impl Orchestrator {
    /// The same, which keeps and tells nothing that this redactor takes out.
    pub(crate) fn withholding(&self, redactor: Redactor) -> Self {
        Self { broker: self.broker.clone().withholding(redactor), ..self.clone() }
    }

    /// The backend that makes its sandboxes.
    pub(crate) fn backend(&self) -> &BackendId {
        self.broker.sandboxes().port().backend_id()
    }

    /// Says that its sandboxes are of this backend: another could neither find nor remove what this one made.
    pub(crate) fn must_be_on(&self, backend: &BackendId) -> Result<(), DriveError> {
        if backend == self.backend() { Ok(()) } else { Err(DriveError::AnotherBackend(backend.clone())) }
    }

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
}
