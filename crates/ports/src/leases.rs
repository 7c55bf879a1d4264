//! Who may write to a stream: leases with fences.

use ambit_ids::{DurationMs, UnixMs};
use async_trait::async_trait;

use crate::store::StoreError;
pub use crate::stream::Fence;
use crate::stream::StreamId;

/// The right to write to one stream, for a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamLease {
    /// The stream.
    pub stream: StreamId,
    /// Who holds it: unique for one life of one process.
    pub owner: String,
    /// The fence of this acquisition.
    pub fence: Fence,
    /// When it ends unless it is renewed.
    pub expires: UnixMs,
}

/// Leases on streams.
///
/// - At most one lease of a stream is live at any moment. It is live while `now` lies before its end; there is no
///   other clock.
/// - The fence of an acquisition MUST be greater than that of every earlier one of the same stream, across restarts.
/// - [`acquire`](Self::acquire) by the owner that holds the live lease MUST answer that lease, renewed.
#[async_trait]
pub trait StreamLeases: Send + Sync {
    /// Takes the lease of `stream`, where nobody else holds it at `now`.
    async fn acquire(
        &self,
        stream: &StreamId,
        owner: &str,
        now: UnixMs,
        ttl: DurationMs,
    ) -> Result<StreamLease, LeaseError>;

    /// Prolongs a lease that is live and this owner's: it then ends `ttl` after `now`.
    async fn renew(
        &self,
        lease: &StreamLease,
        now: UnixMs,
        ttl: DurationMs,
    ) -> Result<StreamLease, LeaseError>;

    /// The lease of `stream` that is live at `now`, whoever holds it; `None` where it is free.
    async fn holder(&self, stream: &StreamId, now: UnixMs) -> Result<Option<StreamLease>, LeaseError>;

    /// Gives a lease back, which whoever knows that its holder is dead may do as well. Giving back what was lost is no
    /// error.
    async fn release(&self, lease: &StreamLease) -> Result<(), LeaseError>;
}

/// Why a lease is not to be had.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Somebody else holds it.
    #[error("{stream} is in the hands of another process until {expires}")]
    Held {
        /// The stream.
        stream: StreamId,
        /// When that lease ends unless it is renewed.
        expires: UnixMs,
    },
    /// It ended, and somebody else may have it by now.
    #[error("the lease on {0} was lost")]
    Lost(StreamId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LeaseError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Held { .. } => "LEASE_HELD",
            Self::Lost(_) => "LEASE_LOST",
            Self::Store(error) => error.code(),
        }
    }
}
