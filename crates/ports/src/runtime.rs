//! Time, identifiers, chance and processes: whatever would make two runs of one program differ.

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

/// Tells one life of one process from every other, so that what a dead one held can be taken over at once.
pub trait Processes: Send + Sync {
    /// The name of this process: 1 to 200 bytes of visible ASCII without `#`, another one for every life of every process
    /// that can be told apart.
    fn own(&self) -> String;

    /// Whether the process of this name is proven to live no longer. `false` wherever nothing is proven: a process of
    /// another machine, one that this process cannot see, or a name that is none.
    fn is_gone(&self, name: &str) -> bool;
}
