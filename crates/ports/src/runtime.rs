//! Time, identifiers and chance: whatever would make two runs of one program differ.

use ambit_ids::UnixMs;
use async_trait::async_trait;

/// The clock.
#[async_trait]
pub trait Clock: Send + Sync {
    /// The moment by the clock of this machine.
    fn now(&self) -> UnixMs;

    /// Waits until `moment`; at once where it has passed.
    async fn sleep_until(&self, moment: UnixMs);
}

/// Makes the variable part of identifiers.
pub trait IdGenerator: Send + Sync {
    /// 6 to 64 characters of `[a-zA-Z0-9-]` that no call answered before, in any process.
    fn next(&self) -> String;
}

/// Chance that nobody can predict.
pub trait Entropy: Send + Sync {
    /// Fills `bytes` from a cryptographically secure source. There is no fallback to a weaker one.
    fn fill(&self, bytes: &mut [u8]);
}
