//! The tool broker: finds out what a proposed call would do, and performs the effect of a decided one.
//!
//! It owns every effect that an agent can cause; there is no other way to one. It knows no state machine: what may be
//! performed was decided before, by a policy and by the run, and is told to it as an intent.

#![forbid(unsafe_code)]

mod assess;
mod evaluate;
mod ground;
mod patch;
mod perform;
mod read;
mod source;

use std::sync::Arc;

use ambit_ports::blobs::BlobError;
use ambit_ports::runtime::Clock;
use ambit_revisions::{RevisionError, Revisions};
use ambit_sandboxes::{Sandboxes, SandboxesError};

pub use assess::Assessment;
pub use evaluate::{AskedGate, gate_record};
pub use ground::Ground;
pub use perform::Performed;
pub use source::Source;

/// The broker.
#[derive(Clone)]
pub struct Broker {
    source: Source,
    sandboxes: Sandboxes,
    clock: Arc<dyn Clock>,
}

/// Why a call could not be assessed or performed: a part of the platform failed, and nothing of it is the agent's doing.
#[derive(Debug, thiserror::Error)]
pub enum BrokerError {
    /// The source could not be read or kept.
    #[error(transparent)]
    Revision(#[from] RevisionError),
    /// The sandbox failed.
    #[error(transparent)]
    Sandbox(#[from] SandboxesError),
    /// A blob could not be read or kept.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The run holds no sandbox.
    #[error("the run holds no sandbox")]
    NoSandbox,
    /// The intent does not fit what stands in the blobs: it was altered.
    #[error("the intent does not fit what is kept of it: {0}")]
    Altered(&'static str),
    /// What was seen has no canonical form.
    #[error("what was seen has no canonical form")]
    Unwritable(#[source] ambit_canonical::EncodeError),
    /// It took longer than the tool may.
    #[error("it took longer than the {0} ms that the tool may take")]
    TimedOut(u64),
    /// It was asked to stop.
    #[error("it was aborted")]
    Aborted,
}

impl BrokerError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Revision(error) => error.code(),
            Self::Sandbox(error) => error.code(),
            Self::Blob(error) => error.code(),
            Self::NoSandbox => "SANDBOX_NOT_HELD",
            Self::Altered(_) => "INTENT_ALTERED",
            Self::Unwritable(_) => "OBSERVATION_UNWRITABLE",
            Self::TimedOut(_) => "TOOL_TIMED_OUT",
            Self::Aborted => "ABORTED",
        }
    }

    /// Whether trying again may help: the storage stumbled, and nothing was refused, found altered or missing.
    const fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Blob(BlobError::Io(_))
                | Self::Revision(
                    RevisionError::Blob { source: BlobError::Io(_), .. }
                        | RevisionError::Content { source: BlobError::Io(_), .. }
                )
        )
    }
}

impl Broker {
    /// A broker over the source service and the sandboxes.
    #[must_use]
    pub fn new(revisions: Revisions, sandboxes: Sandboxes, clock: Arc<dyn Clock>) -> Self {
        Self { source: Source::new(revisions), sandboxes, clock }
    }

    /// The sandboxes behind it.
    #[must_use]
    pub fn sandboxes(&self) -> &Sandboxes {
        &self.sandboxes
    }

    /// The source service behind it.
    #[must_use]
    pub fn revisions(&self) -> &Revisions {
        &self.source.revisions
    }
}
