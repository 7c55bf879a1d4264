//! Asking again.

use ambit_ids::DurationMs;
use ambit_ports::runtime::Clock;

use crate::SandboxesError;

/// How often a verb is asked for in all.
const TRIES: u64 = 4;
/// How long the first pause is; every later one is that much longer.
const PAUSE_MS: u64 = 250;

/// Asks for a verb, and again a little later each time where that [may help](SandboxesError::may_pass). Only for verbs that
/// can be asked for twice: a command is never one of them.
///
/// # Errors
/// What the verb answered last.
pub async fn patiently<T, F>(clock: &dyn Clock, verb: impl Fn() -> F) -> Result<T, SandboxesError>
where
    F: Future<Output = Result<T, SandboxesError>>,
{
    let mut tries = 0;
    loop {
        tries += 1;
        match verb().await {
            Err(error) if error.may_pass() && tries < TRIES => {
                clock.sleep_until(clock.now().saturating_add(DurationMs::new(tries * PAUSE_MS))).await;
            }
            answer => return answer,
        }
    }
}
