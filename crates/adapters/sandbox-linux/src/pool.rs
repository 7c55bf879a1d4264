//! Guests that are ready before a run asks for one.
//!
//! Making namespaces and joining control groups is most of the time that a sandbox takes, and needs nothing of the run.
//! A guest serves one run at most and is never returned.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ambit_ports::runtime::IdGenerator;
use ambit_ports::sandbox::SandboxError;

use crate::guest::{Guest, Nursery};

/// How long the run that took a guest has the machine for itself before the next one is made.
const REFILL_PAUSE: Duration = Duration::from_millis(20);

/// Guests that wait.
pub(crate) struct Pool {
    nursery: Nursery,
    ids: Arc<dyn IdGenerator>,
    size: usize,
    waiting: Mutex<Vec<Guest>>,
    made: AtomicU64,
}

impl Pool {
    pub(crate) fn new(nursery: Nursery, ids: Arc<dyn IdGenerator>, size: usize) -> Self {
        Self { nursery, ids, size, waiting: Mutex::default(), made: AtomicU64::new(0) }
    }

    pub(crate) fn nursery(&self) -> &Nursery {
        &self.nursery
    }

    /// A guest that nobody had before.
    pub(crate) async fn take(self: &Arc<Self>) -> Result<Guest, SandboxError> {
        let guest = loop {
            let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match waiting {
                Some(guest) if guest.process.has_ended() => {}
                Some(guest) => break guest,
                None => break self.make().await?,
            }
        };
        Ok(guest)
    }

    /// Makes guests in the background until enough wait.
    pub(crate) fn refill(self: &Arc<Self>) {
        let pool = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(REFILL_PAUSE).await;
            while let Some(pool) = pool.upgrade().filter(|pool| pool.is_short()) {
                match pool.make().await {
                    Ok(guest) => pool.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(guest),
                    // The next allocation meets the same failure, and reports it.
                    Err(_) => return,
                }
            }
        });
    }

    fn is_short(&self) -> bool {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).len() < self.size
    }

    async fn make(&self) -> Result<Guest, SandboxError> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}-{}", std::process::id(), self.ids.next());
        let pick = ambit_ids::Digest::of(name.as_bytes());
        let [a, b, c, d, ..] = *pick.as_bytes();
        self.nursery.make(&name, u32::from_le_bytes([a, b, c, d])).await
    }
}
