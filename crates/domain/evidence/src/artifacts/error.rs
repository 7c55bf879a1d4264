use ambit_canonical::{AdmissionError, EncodeError};

/// Why a document of artifacts was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactsError {
    /// It has too many bytes.
    #[error("the artifacts have {found} bytes, and may have {limit}; nothing was read or written")]
    TooLarge {
        /// Its size in bytes.
        found: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// It is no JSON, or JSON that two readers could read differently.
    #[error("the artifacts are no JSON that can be trusted; nothing of them is used. Export the run again")]
    NotJson(#[source] EncodeError),
    /// A field is missing, unknown, or of another type.
    #[error(
        "the artifacts are of another shape; nothing of them is used. Read them with the version that wrote them"
    )]
    Shape(#[source] EncodeError),
    /// It was written by something else, or altered.
    #[error(
        "the artifacts are not spelled as they are written; nothing of them is used. Export the run again"
    )]
    NotCanonical,
    /// Parts that cannot both hold.
    #[error("the {0} of the artifacts contradict themselves; nothing of them is used. Export the run again")]
    Contradiction(&'static str),
    /// A number is too large for canonical JSON.
    #[error("the artifacts cannot be written; nothing was written")]
    Unwritable(#[source] EncodeError),
}

impl ArtifactsError {
    pub(super) fn of_reading(error: EncodeError) -> Self {
        match error {
            EncodeError::Admission(AdmissionError::TooLarge { limit, found }) => {
                Self::TooLarge { found, limit }
            }
            EncodeError::Admission(AdmissionError::Refused(_)) => Self::NotJson(error),
            EncodeError::Shape(_) => Self::Shape(error),
            EncodeError::NotCanonical => Self::NotCanonical,
        }
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "ARTIFACTS_TOO_LARGE",
            Self::NotJson(_) => "ARTIFACTS_NOT_JSON",
            Self::Shape(_) => "ARTIFACTS_SHAPE",
            Self::NotCanonical => "ARTIFACTS_NOT_CANONICAL",
            Self::Contradiction(_) => "ARTIFACTS_CONTRADICTION",
            Self::Unwritable(_) => "ARTIFACTS_UNWRITABLE",
        }
    }
}
