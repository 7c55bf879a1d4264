use ambit_ids::Digest;

use super::draft::Draft;
use crate::event::Event;
use crate::state::{Cleanup, State};
use crate::{Phase, StopReason};

pub(super) fn destroyed(draft: &mut Draft, receipt: Digest) {
    draft.push(Event::SandboxDestroyed { receipt });
    settle(draft);
}

pub(super) fn failed(draft: &mut Draft, code: String) {
    draft.push(Event::CleanupFailed { code });
    settle(draft);
}

/// Once the sandbox is gone or given up: settles the revision and ends the run.
///
/// A run whose cleanup is not proven never completes, whatever its gates say.
fn settle(draft: &mut Draft) {
    let State::Closing(closing) = &draft.state else { return };
    let Cleanup::Settle { proven } = closing.cleanup else { return };
    let reason = if closing.reason == StopReason::GatesPassed && !proven {
        StopReason::InfrastructureFailure("DESTRUCTION_UNPROVEN".to_owned())
    } else {
        closing.reason.clone()
    };
    let phase = reason.final_phase();
    let (revision, tree) = (closing.dossier.pins.revision, closing.dossier.head);
    draft.push(Event::RevisionMarked { revision, tree, preview_ready: phase == Phase::Completed });
    draft.push(Event::Ended { phase, reason });
}
