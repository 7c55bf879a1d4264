use ambit_evidence::{ChainBreak, StreamName};
use ambit_ports::signer::SignerError;
use ambit_ports::store::StoreError;

/// Why a stream could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The head could not be signed, so nothing was written.
    #[error("the head of the stream could not be signed; nothing was written")]
    Signer(#[from] SignerError),
    /// The record does not fit its limits, so nothing was written.
    #[error(
        "the record has {found} bytes, more than the {limit} that a record may have; nothing was written"
    )]
    RecordTooLarge {
        /// The size.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// The record has no canonical bytes, so nothing was written.
    #[error("the record has no canonical form; nothing was written")]
    Unwritable(#[source] ambit_canonical::EncodeError),
    /// A link of the chain is broken.
    #[error(transparent)]
    Chain(#[from] ChainBreak),
    /// The head is missing, is of another position or content, or is not signed by the log key.
    #[error("the head of {stream} is not genuine: {why}")]
    Head {
        /// The stream.
        stream: StreamName,
        /// What is wrong.
        why: HeadFault,
    },
}

/// What is wrong with a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadFault {
    /// There are records and no head.
    #[error("there is none")]
    Missing,
    /// The head names another end than the records have: some were cut off or put there.
    #[error("it names record {head} as the last, and the stream has {records} records")]
    Position {
        /// The position that the head names.
        head: u64,
        /// The records that are there.
        records: u64,
    },
    /// The head names another hash than the last record has.
    #[error("it names another last record")]
    Leaf,
    /// The signature was not made by the log key over this head.
    #[error("it is not signed by the log key")]
    Signature,
}

impl JournalError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::Signer(_) => "SIGNER_FAILED",
            Self::RecordTooLarge { .. } => "RECORD_TOO_LARGE",
            Self::Unwritable(_) => "RECORD_UNWRITABLE",
            Self::Chain(_) => "TRACE_BROKEN",
            Self::Head { .. } => "TRACE_HEAD_FORGED",
        }
    }
}
