//! Records of a check that is silenced in source, whose kinds and capability came after the others.

use ambit_ids::RevisionId;
use ambit_policy::{Capability, FactKind, Verdict};
use ambit_run::{CallOutcome, Event};

use crate::samples::{patch_calls, weakened};

/// Kinds of facts with a place that came later.
pub(crate) const LATER: [FactKind; 2] = [FactKind::DirectiveAdded, FactKind::BlanketDirectiveAdded];

/// A patch with a fact of each, and one that is held back for its own capability.
pub(crate) fn events() -> Vec<Event> {
    let [_, mut held, ..] = patch_calls(RevisionId::new(1));
    if let Event::CallDecided(decided) = &mut held {
        decided.decision.verdict = Verdict::NeedsApproval(Capability::CheckSilence);
        if let CallOutcome::Held(proposal) = &mut decided.outcome {
            proposal.capability = Capability::CheckSilence;
        }
    }
    vec![weakened(LATER.into_iter()), held]
}
