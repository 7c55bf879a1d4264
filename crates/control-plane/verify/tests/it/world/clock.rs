use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ambit_ids::{DurationMs, UnixMs};
use ambit_ports::runtime::Clock;
use ambit_runtime_system::SystemClock;
use async_trait::async_trait;

/// The machine's clock, which a test can set forward.
#[derive(Default)]
pub(crate) struct TestClock {
    ahead_ms: AtomicU64,
}

impl TestClock {
    pub(crate) fn set_forward(&self, span: DurationMs) {
        self.ahead_ms.fetch_add(span.get(), Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for TestClock {
    fn now(&self) -> UnixMs {
        let ahead = DurationMs::new(self.ahead_ms.load(Ordering::SeqCst));
        SystemClock.now().saturating_add(ahead)
    }

    async fn sleep_until(&self, moment: UnixMs) {
        while self.now() < moment {
            let left = moment.since(self.now());
            tokio::time::sleep(Duration::from_millis(left.get().min(5))).await;
        }
    }
}
