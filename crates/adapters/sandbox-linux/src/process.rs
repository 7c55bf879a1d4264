//! A process that is held by a descriptor.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use ambit_ownership::{ended_within, kill};
use tokio::io::unix::AsyncFd;

use crate::watch::watch;

/// How long the kernel may take to end a process that was killed, before that counts as a failure.
pub(crate) const DYING: Duration = Duration::from_secs(5);

/// A process, such that no later process can be taken for it.
pub(crate) struct Process {
    descriptor: AsyncFd<OwnedFd>,
}

impl Process {
    pub(crate) fn new(descriptor: OwnedFd) -> io::Result<Self> {
        Ok(Self { descriptor: watch(descriptor)? })
    }

    /// Ends it, and every process in its namespace.
    pub(crate) fn kill(&self) -> io::Result<()> {
        kill(self.descriptor.get_ref())
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended_within(Duration::ZERO)
    }

    /// Blocks until it has ended, or the time is over; answers whether it has.
    pub(crate) fn ended_within(&self, patience: Duration) -> bool {
        ended_within(self.descriptor.get_ref(), patience)
    }

    /// Waits for its end, at most [`DYING`]. The kernel ends the first process of a namespace after all others.
    pub(crate) async fn ended(&self) -> bool {
        tokio::time::timeout(DYING, self.descriptor.readable()).await.is_ok_and(|ready| ready.is_ok())
    }
}
