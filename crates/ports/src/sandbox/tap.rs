//! The output of a command as it arrives, for whoever watches. It is a view and no evidence: what a command wrote, and how
//! it ended, is told by its observation alone.

mod waiting;
mod watcher;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use waiting::Waiting;
pub use watcher::{Sight, Watcher};

/// A stream that a command writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl OutputStream {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Stdout, Self::Stderr];

    /// Its name, as it is written everywhere.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// The side of a backend: where it pours what a command writes, as it arrives. It serves one execution.
///
/// Nothing that the [`Watcher`] does or leaves undone reaches the backend: pouring never waits and never fails. What is not
/// read waits, up to 256 KiB of each stream; of more, the oldest is dropped, and the watcher is told of how many bytes.
#[derive(Clone)]
pub struct Tap(Arc<Pouring>);

/// As long as this is held by anyone, more may come.
struct Pouring(Arc<Pool>);

/// Where output waits for its watcher.
#[derive(Default)]
struct Pool {
    waiting: Mutex<Waiting>,
    news: Notify,
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        change(&mut self.lock());
        self.news.notify_one();
    }
}

impl Tap {
    /// A tap and whoever watches it.
    #[must_use]
    pub fn new() -> (Self, Watcher) {
        let pool = Arc::new(Pool::default());
        (Self(Arc::new(Pouring(Arc::clone(&pool)))), Watcher::of(pool))
    }

    /// The flow of a stream; `None` where it was taken before.
    #[must_use]
    pub fn flow(&self, stream: OutputStream) -> Option<Flow> {
        let is_first = self.0.0.lock().take(stream);
        is_first.then(|| Flow { pouring: Arc::clone(&self.0), stream })
    }
}

/// The same tap is the same.
impl PartialEq for Tap {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Tap {}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tap")
    }
}

impl Drop for Pouring {
    fn drop(&mut self) {
        self.0.change(Waiting::end_every);
    }
}

/// One stream of an execution. The stream ends for the watcher when this is dropped.
pub struct Flow {
    pouring: Arc<Pouring>,
    stream: OutputStream,
}

impl Flow {
    /// Pours the next bytes of the stream.
    pub fn pour(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.pouring.0.change(|waiting| waiting.add(self.stream, bytes));
        }
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.pouring.0.change(|waiting| waiting.end(self.stream));
    }
}

#[cfg(test)]
mod tests;
