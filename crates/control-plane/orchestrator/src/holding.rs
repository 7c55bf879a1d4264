//! In whose hands a run is.

use ambit_ids::DurationMs;
use ambit_ports::leases::{LeaseError, StreamLease};
use ambit_ports::store::RunRef;

use crate::drive_error::DriveError;
use crate::orchestrator::Orchestrator;

/// How long the lease of a run's stream lasts unless it is renewed.
pub(crate) const LEASE_MS: DurationMs = DurationMs::new(10_000);
/// Stands between the process and the acquisition in the owner of a lease.
const MARK: char = '#';

/// Who drives a run now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// A process, as far as anybody can tell.
    Process,
    /// A process that no longer lives. The run can be taken over at once.
    Gone,
    /// Nobody. Whoever had the run let go of it, or its lease ran out.
    Nobody,
}

impl Driver {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Gone => "gone",
            Self::Nobody => "nobody",
        }
    }
}

impl Orchestrator {
    /// Who drives a run now. A run that has ended is driven by nobody.
    ///
    /// # Errors
    /// [`DriveError::Lease`] where the store could not be read.
    pub async fn driver(&self, run: &RunRef) -> Result<Driver, DriveError> {
        Ok(match self.leases.holder(&run.stream(), self.clock.now()).await? {
            None => Driver::Nobody,
            Some(lease) if self.is_abandoned(&lease) => Driver::Gone,
            Some(_) => Driver::Process,
        })
    }

    /// Takes the lease of a run's stream. Where its holder is dead, nobody waits until it ends.
    pub(crate) async fn hold(&self, run: &RunRef) -> Result<StreamLease, LeaseError> {
        let (stream, owner) = (run.stream(), self.owner());
        match self.leases.acquire(&stream, &owner, self.clock.now(), LEASE_MS).await {
            Err(LeaseError::Held { .. }) => {}
            answered => return answered,
        }
        if let Some(lease) = self.leases.holder(&stream, self.clock.now()).await?
            && self.is_abandoned(&lease)
        {
            self.leases.release(&lease).await?;
        }
        self.leases.acquire(&stream, &owner, self.clock.now(), LEASE_MS).await
    }

    fn is_abandoned(&self, lease: &StreamLease) -> bool {
        lease.owner.split_once(MARK).is_some_and(|(process, _)| self.processes.is_gone(process))
    }

    /// Who takes a lease: this process, and this acquisition of it.
    pub(crate) fn owner(&self) -> String {
        format!("{}{MARK}{}", self.processes.own(), self.ids.next())
    }
}
