//! Bounds that hold for every run, whatever its documents say.

use ambit_ids::DurationMs;

/// How long a question to a person stays open, and how long the receipt of an approval can be used.
pub const APPROVAL_MS: DurationMs = DurationMs::new(15 * 60_000);

/// The most sandboxes that one run is given, one after the other.
pub const SANDBOX_ALLOCATIONS: u32 = 3;

/// Tries of one cleanup step before it is given up, and the cleanup thereby unproven.
pub const CLEANUP_TRIES: u32 = 5;
