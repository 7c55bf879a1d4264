use ambit_ports::blobs::BlobError;
use ambit_revision::tree::TreeError;
use ambit_revisions::{HiddenFilesError, RevisionError};
use ambit_sandboxes::SandboxesError;

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
    /// The sandbox was waited for as long as it may take, and did not answer. What it did is not known.
    #[error("the sandbox did not answer within {0} ms; what it did is not known")]
    ObservationLost(u64),
    /// The files of a hidden check could not be used.
    #[error(transparent)]
    Hidden(#[from] HiddenFilesError),
    /// The files of a hidden check could not be laid over the source.
    #[error("the hidden files cannot be laid over the source")]
    Overlaid(#[from] TreeError),
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
            Self::ObservationLost(_) => "OBSERVATION_LOST",
            Self::Hidden(error) => error.code(),
            Self::Overlaid(error) => error.code(),
            Self::Aborted => "ABORTED",
        }
    }

    /// Whether trying again may help: the storage stumbled, and nothing was refused, found altered or missing.
    pub(crate) const fn is_transient(&self) -> bool {
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
