use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ambit_ids::UnixMs;
use ambit_ports::runtime::Clock;
use async_trait::async_trait;

/// The longest sleep without a look at the clock: it may be set, and a machine may be suspended, while timers that
/// count only what passes stand still.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The clock of this machine, in UTC. Waiting needs a tokio runtime with its timer.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> UnixMs {
        system_now()
    }

    async fn sleep_until(&self, moment: UnixMs) {
        sleep_until(system_now, moment).await;
    }
}

/// A clock before 1970 reads as 1970.
pub(crate) fn system_now() -> UnixMs {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMs::new(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

async fn sleep_until(now: impl Fn() -> UnixMs, moment: UnixMs) {
    loop {
        let left = moment.since(now());
        if left.get() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(left.get()).min(LOOK_AGAIN)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use tokio::time::Instant;

    use super::*;

    #[tokio::test]
    async fn a_moment_that_came_is_not_before_its_time() {
        let clock = SystemClock;
        let started = clock.now();
        clock.sleep_until(UnixMs::new(started.get() + 30)).await;
        assert!(clock.now().since(started).get() >= 30);
        clock.sleep_until(started).await;
        clock.sleep_until(UnixMs::ZERO).await;
    }

    /// Runs `sleep_until` for `wait_ms` against a clock that jumps by `jump_ms` after a second and a half, and answers
    /// how long it slept by a clock that does not jump. Time passes by itself while everything waits.
    async fn slept(wait_ms: u64, jump_ms: i64) -> Duration {
        let began = Instant::now();
        let reads = AtomicU64::new(0);
        let clock = || {
            reads.fetch_add(1, Ordering::Relaxed);
            let passed = u64::try_from(began.elapsed().as_millis()).unwrap();
            let jump = if passed > 1_500 { jump_ms } else { 0 };
            UnixMs::new((1_000_000 + passed).checked_add_signed(jump).unwrap())
        };
        sleep_until(clock, UnixMs::new(1_000_000 + wait_ms)).await;
        assert!(reads.into_inner() <= 2 + began.elapsed().as_secs() + 1, "it looks once a second");
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_jumps_is_followed() {
        let second = Duration::from_secs(1);
        let steady = slept(10_000, 0).await;
        assert!((10 * second..=11 * second).contains(&steady), "{steady:?}");
        let forward = slept(3_600_000, 7_200_000).await;
        assert!((second..=3 * second).contains(&forward), "{forward:?}");
        let backward = slept(10_000, -5_000).await;
        assert!((15 * second..=16 * second).contains(&backward), "{backward:?}");
    }
}
