use ambit_gates::{Ending, Objection};
use ambit_ids::Digest;
use ambit_run::{Dossier, GateRecord, Stage, State};
use serde::Serialize;

/// Where a gate stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GateView {
    /// The gate.
    pub gate: String,
    /// `not-run`, `passed`, `failed` or `flaky`, on the current tree.
    pub status: String,
    /// Whether it runs now.
    pub running: bool,
    /// Every execution of it, oldest first; none is ever taken away.
    pub attempts: Vec<AttemptView>,
}

/// One execution of a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptView {
    /// Which one, counted from 1.
    pub attempt: u32,
    /// The digest of the tree that it ran on.
    pub tree: Digest,
    /// How it ended, in a few words.
    pub ended: String,
    /// Whether it passed.
    pub passed: bool,
    /// The digest of everything that was seen.
    pub artifact: Digest,
    /// From start to end, in milliseconds.
    pub duration_ms: u64,
}

/// Every gate of a run, from cheap to dear, with its executions.
pub(super) fn gate_views(state: &State, dossier: &Dossier) -> Vec<GateView> {
    let running = match state {
        State::Open(open) => match &open.stage {
            Stage::Call(flight) => match &flight.call {
                ambit_run::ToolCall::RunNamedGate { gate_id, .. } => Some(gate_id),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    dossier
        .pins
        .gates
        .iter()
        .map(|pin| GateView {
            gate: pin.id.to_string(),
            status: dossier.gates.status(&pin.id, dossier.head).as_str().to_owned(),
            running: running == Some(&pin.id),
            attempts: dossier
                .gates
                .records()
                .iter()
                .filter(|record| record.gate == pin.id)
                .map(|record| AttemptView {
                    attempt: record.attempt,
                    tree: record.tree,
                    ended: ended(record),
                    passed: record.passed(),
                    artifact: record.artifact,
                    duration_ms: record.duration.get(),
                })
                .collect(),
        })
        .collect()
}

/// How an execution ended, in a few words, with the limits that it met on the way: what ended it may be the consequence.
#[must_use]
pub fn ended(record: &GateRecord) -> String {
    let ending = match record.ending {
        Ending::Exited { code: 0 } if record.objections.is_empty() => "passed".to_owned(),
        Ending::Exited { code: 0 } => {
            let codes: Vec<&str> = record.objections.iter().map(Objection::code).collect();
            format!("exit 0, but {}", codes.join(", "))
        }
        Ending::Exited { code } => format!("exit {code}"),
        Ending::Signalled { signal } => format!("signal {signal}"),
        Ending::LimitReached { limit } => format!("{} limit", limit.as_str()),
        Ending::Aborted => "aborted".to_owned(),
        Ending::NotStarted { why } => format!("not started: {why:?}").to_lowercase(),
        Ending::Indeterminate => "indeterminate".to_owned(),
    };
    let others =
        record.breaches.iter().filter(|limit| record.ending != Ending::LimitReached { limit: **limit });
    others.fold(ending, |told, limit| format!("{told}, {} limit met", limit.as_str()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ambit_gates::ResourceLimit;
    use ambit_ids::{ByteCount, DurationMs};

    use super::*;

    fn record(ending: Ending, breaches: &[ResourceLimit]) -> GateRecord {
        GateRecord {
            gate: "tests".parse().unwrap(),
            attempt: 1,
            key: "key".parse().unwrap(),
            tree: Digest::of(b"tree"),
            ending,
            breaches: breaches.iter().copied().collect::<BTreeSet<_>>(),
            fingerprint: None,
            artifact: Digest::of(b"seen"),
            output: ByteCount::ZERO,
            redactions: None,
            duration: DurationMs::ZERO,
            objections: Vec::new(),
            tests: None,
        }
    }

    // proves E-J07
    // break crates/control-plane/orchestrator/src/view/gates.rs: `others.fold(ending, |told, limit|` -> `others.take(0).fold(ending, |told, limit|`
    #[test]
    fn a_limit_that_was_met_is_told_with_the_ending() {
        use ResourceLimit::{Disk, Memory, Timeout};
        let failed = Ending::Exited { code: 1 };
        assert_eq!(ended(&record(failed, &[])), "exit 1");
        assert_eq!(ended(&record(failed, &[Disk])), "exit 1, disk limit met");
        let late = Ending::LimitReached { limit: Timeout };
        assert_eq!(ended(&record(late, &[Timeout, Memory])), "timeout limit, memory limit met");
        let mut passed = record(Ending::Exited { code: 0 }, &[]);
        assert_eq!(ended(&passed), "passed");
        passed.objections = vec![Objection::NoTests, Objection::ReportMissing];
        assert_eq!(ended(&passed), "exit 0, but GATE_NO_TESTS, GATE_REPORT_MISSING");
    }
}
