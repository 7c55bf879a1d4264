//! The readers of runner output and the fingerprint, against what real runners write.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test ends where something is not there")]

mod executed;
mod hostile;
mod objected;
mod recorded;
mod reports;
mod sightings;

use std::collections::BTreeSet;

use ambit_gates::{Ending, FailureFingerprint, GateOutput, Summary, fingerprint, summarize};
use ambit_ids::GateId;

const FAILED: Ending = Ending::Exited { code: 1 };

fn gate() -> GateId {
    GateId::new("unit.cart").unwrap()
}

fn seen(stdout: &str) -> FailureFingerprint {
    let output = GateOutput { stdout: stdout.as_bytes(), stderr: b"" };
    fingerprint(&gate(), FAILED, &BTreeSet::new(), output).unwrap()
}

fn told(stdout: &str) -> Summary {
    summarize(FAILED, GateOutput { stdout: stdout.as_bytes(), stderr: b"" }).unwrap()
}
