//! How far an observation is believed.

use ambit_gates::{Ending, ResourceLimit};
use ambit_ids::DurationMs;
use ambit_ports::sandbox::ExecutionObservation;

/// How much longer than its command may take a backend is waited for: to begin, to keep the outputs, and to answer. It is
/// the second of two deadlines; the first is the backend's own.
pub const GRACE_MS: DurationMs = DurationMs::new(30_000);
/// How much of a wait that was longer than the command's time may not be the command's own: it was begun, and its outputs
/// were kept.
const AROUND_MS: u64 = 10_000;

/// What is believed of an observation of a command that could take `wall_ms`, and was waited for `waited_ms` by the clock
/// of the control plane.
///
/// A command cannot have ended by itself after its time was over, whatever the backend says: it reached its limit. Nor
/// can so much of the wait be left over that it is more than keeping the outputs takes: then nobody knows what happened.
/// Only an ending by itself is doubted; nothing is ever made a success.
#[must_use]
pub fn believed(
    mut observation: ExecutionObservation,
    wall_ms: DurationMs,
    waited_ms: DurationMs,
) -> ExecutionObservation {
    if !matches!(observation.ending, Ending::Exited { .. }) {
        return observation;
    }
    let took_ms = observation.duration_ms;
    if took_ms > wall_ms {
        observation.ending = Ending::LimitReached { limit: ResourceLimit::Timeout };
        observation.breaches.insert(ResourceLimit::Timeout);
    } else if waited_ms > wall_ms && waited_ms.get().saturating_sub(took_ms.get()) > AROUND_MS {
        observation.ending = Ending::Indeterminate;
    }
    observation
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ambit_ids::{ByteCount, Digest, EffectKey, Incarnation};
    use ambit_ports::sandbox::OutputCapture;

    use super::*;

    const EXIT_0: Ending = Ending::Exited { code: 0 };
    const TIMEOUT: Ending = Ending::LimitReached { limit: ResourceLimit::Timeout };
    const WALL_MS: u64 = 20_000;

    fn seen(ending: Ending, took_ms: u64) -> ExecutionObservation {
        let capture = || OutputCapture {
            head: String::new(),
            tail: String::new(),
            truncated: false,
            bytes: ByteCount::new(0),
            redactions: None,
            artifact: Digest::of(b""),
        };
        ExecutionObservation {
            incarnation: Incarnation::new("inc_000001").unwrap(),
            effect: EffectKey::new("effect-1").unwrap(),
            ending,
            breaches: BTreeSet::new(),
            stdout: capture(),
            stderr: capture(),
            outputs: Vec::new(),
            refused_outputs: Vec::new(),
            duration_ms: DurationMs::new(took_ms),
            cpu_ms: None,
            peak_memory_bytes: None,
            killed_processes: 0,
            signs: None,
            written: None,
            protected: None,
        }
    }

    fn ending(ending: Ending, took_ms: u64, waited_ms: u64) -> Ending {
        believed(seen(ending, took_ms), DurationMs::new(WALL_MS), DurationMs::new(waited_ms)).ending
    }

    #[test]
    fn keeping_the_outputs_takes_no_verdict_away() {
        assert_eq!(ending(EXIT_0, 19_000, 28_500), EXIT_0, "the outputs took long");
        assert_eq!(ending(EXIT_0, 1_000, 11_000), EXIT_0);
        assert_eq!(ending(EXIT_0, 100, 19_999), EXIT_0, "its time was not over when the answer came");
    }

    #[test]
    fn an_exit_after_the_time_is_a_limit_whatever_its_code() {
        for code in [0, 1, 255] {
            assert_eq!(ending(Ending::Exited { code }, WALL_MS + 1, WALL_MS + 2), TIMEOUT);
            assert_eq!(ending(Ending::Exited { code }, WALL_MS, WALL_MS + 2), Ending::Exited { code });
        }
        assert_eq!(ending(EXIT_0, 0, WALL_MS + 1), Ending::Indeterminate);
    }

    #[test]
    fn nothing_is_made_a_success() {
        for told in [TIMEOUT, Ending::Aborted, Ending::Indeterminate, Ending::Signalled { signal: 9 }] {
            for (took, waited) in [(0, 0), (WALL_MS, WALL_MS), (WALL_MS * 9, WALL_MS * 9), (0, WALL_MS * 9)] {
                assert_eq!(ending(told, took, waited), told);
            }
        }
    }
}
