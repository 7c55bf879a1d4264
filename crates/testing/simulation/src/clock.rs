use std::future::Future;
use std::time::Duration;

use ambit_ids::UnixMs;
use ambit_ports::runtime::Clock;
use async_trait::async_trait;
use tokio::time::Instant;

/// When every world begins.
pub const EPOCH: UnixMs = UnixMs::new(1_800_000_000_000);

/// The longest sleep, in seconds: a hundred years. Whoever waits longer waits for ever.
const LONGEST: Duration = Duration::from_secs(100 * 366 * 86_400);

/// The virtual clock. It moves only while everything waits, and then at once to the next moment that somebody waits for.
#[derive(Clone, Copy, Debug)]
pub struct SimClock {
    began: Instant,
}

impl SimClock {
    /// A clock that stands at [`EPOCH`]. It needs a runtime whose time is paused, as that of [`simulate`] is.
    #[must_use]
    pub fn start() -> Self {
        Self { began: Instant::now() }
    }

    /// Lets time pass. Whatever is due on the way happens.
    pub async fn pass(&self, span: ambit_ids::DurationMs) {
        self.sleep_until(self.now().saturating_add(span)).await;
    }
}

#[async_trait]
impl Clock for SimClock {
    fn now(&self) -> UnixMs {
        let passed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        UnixMs::new(EPOCH.get().saturating_add(passed))
    }

    async fn sleep_until(&self, moment: UnixMs) {
        let after = Duration::from_millis(moment.since(EPOCH).get()).min(LONGEST);
        tokio::time::sleep_until(self.began + after).await;
    }
}

/// Runs a history to its end: on this thread alone, and in virtual time.
///
/// # Panics
/// Where the history does, or where no runtime can be made.
pub fn simulate<F: Future>(history: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime of one thread").block_on(history)
}
