use ambit_ids::BackendId;
use ambit_journal::JournalError;
use ambit_ports::leases::LeaseError;
use ambit_revisions::RevisionError;

use crate::admission::MissingDocument;

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
    /// A tree could not be read for now.
    #[error(transparent)]
    Source(#[from] RevisionError),
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
    /// The sandboxes at hand are of another backend than the run is pinned to. None was made, and none was looked for.
    #[error("the run is pinned to the backend {0}")]
    AnotherBackend(BackendId),
}

impl DriveError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "RUN_NOT_FOUND",
            Self::Lease(LeaseError::Held { .. }) => "RUN_HELD",
            Self::Lease(LeaseError::Lost(_)) => "RUN_LEASE_LOST",
            Self::Lease(LeaseError::Store(error)) => error.code(),
            Self::Journal(error) => error.code(),
            Self::Ground(error) => error.code(),
            Self::Source(error) => error.code(),
            Self::Unreadable(_) => "RECORD_UNREADABLE",
            Self::Panicked(_) => "INTERNAL_PANIC",
            Self::AnotherAgent => "AGENT_MISMATCH",
            Self::AnotherBackend(_) => "BACKEND_MISMATCH",
        }
    }
}
