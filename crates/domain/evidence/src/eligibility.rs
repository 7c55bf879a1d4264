//! Whether the revision of a run is preview-ready: derived from what its checked records say, and from nothing that any
//! of them claims about it.

use ambit_ids::{Digest, GateId};
use ambit_run::{Acceptance, GateRecord, GateStatus, Phase, State, StopReason, acceptance};

/// Why the revision of a run is not eligible for a preview. The first of them in the order of the causal chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Ineligible {
    /// The run goes on, so what it made so far is partial.
    #[error("the run is not over")]
    NotOver,
    /// The run ended for another reason than that its gates passed, so what it made is partial.
    #[error("the run ended {phase}: {reason}")]
    NotCompleted {
        /// The final phase.
        phase: Phase,
        /// Why it ended.
        reason: StopReason,
    },
    /// The phase and the reason contradict each other.
    #[error("the run ended {phase}, and {reason} does not lead there")]
    ReasonUnfit {
        /// The final phase.
        phase: Phase,
        /// The reason that is given.
        reason: StopReason,
    },
    /// No patch became part of the revision.
    #[error("the run changed nothing")]
    NothingChanged,
    /// A required gate does not pass on exactly the final tree.
    #[error("the gate {gate} does not pass on the final tree: {}", describe(*.status))]
    Gate {
        /// The gate.
        gate: GateId,
        /// Where it stands on the final tree. Results of other trees do not count.
        status: GateStatus,
    },
    /// A hidden check did not pass on exactly the final tree.
    #[error("the hidden check {0} did not pass on the final tree")]
    HiddenCheck(GateId),
    /// It is not proven that nothing of the sandbox is left.
    #[error("it is not proven that nothing of the sandbox is left")]
    CleanupUnproven,
}

const fn describe(status: GateStatus) -> &'static str {
    match status {
        GateStatus::NotRun => "it did not run",
        GateStatus::Passed => "it passed",
        GateStatus::Failed => "it failed",
        GateStatus::Flaky => "it both passed and failed",
    }
}

impl Ineligible {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotOver => "RUN_NOT_OVER",
            Self::NotCompleted { .. } => "RUN_NOT_COMPLETED",
            Self::ReasonUnfit { .. } => "STOP_REASON_UNFIT",
            Self::NothingChanged => "NOTHING_CHANGED",
            Self::Gate { .. } => "GATE_NOT_PASSED",
            Self::HiddenCheck(_) => "HIDDEN_CHECK_NOT_PASSED",
            Self::CleanupUnproven => "CLEANUP_UNPROVEN",
        }
    }
}

/// The tree of the revision that a run completed, preview-ready. That is no more than a source revision under the run's
/// own policy: not validated, not deployed, not safe for live users.
///
/// # Errors
/// [`Ineligible`] with the first part of the chain that is missing.
pub fn eligibility(state: &State) -> Result<Digest, Ineligible> {
    let State::Ended(ended) = state else { return Err(Ineligible::NotOver) };
    let (phase, reason) = (ended.phase, ended.reason.clone());
    if reason.final_phase() != phase {
        return Err(Ineligible::ReasonUnfit { phase, reason });
    }
    if phase != Phase::Completed {
        return Err(Ineligible::NotCompleted { phase, reason });
    }
    let dossier = &ended.dossier;
    match acceptance(dossier) {
        Acceptance::Met => {}
        Acceptance::NothingChanged => return Err(Ineligible::NothingChanged),
        Acceptance::Waiting { gate, status } => return Err(Ineligible::Gate { gate, status }),
    }
    let passed = |check: &GateId| {
        let on_head = |record: &&GateRecord| record.gate == *check && record.tree == dossier.head;
        let mut records = dossier.hidden.iter().filter(on_head).peekable();
        records.peek().is_some() && records.all(GateRecord::passed)
    };
    let mut checks = dossier.pins.gates.iter().filter_map(|gate| gate.hidden_check.as_ref());
    if let Some(check) = checks.find(|check| !passed(check)) {
        return Err(Ineligible::HiddenCheck(check.clone()));
    }
    if ended.cleanup_proven { Ok(dossier.head) } else { Err(Ineligible::CleanupUnproven) }
}
