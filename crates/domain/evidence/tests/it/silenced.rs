//! Records of weakenings, and of a check that is silenced in source, whose kinds and capability came after the others.

use ambit_ids::{ByteCount, Excerpt, RevisionId};
use ambit_policy::{Capability, DenialKind, FactKind, Side, Verdict, Weakening};
use ambit_run::{CallOutcome, Event, ToolCall};

use crate::samples::{decided, digest, patch_calls, path};

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

/// A denied patch with a fact of each of these kinds, which have a place.
pub(crate) fn weakened(kinds: impl Iterator<Item = FactKind>) -> Event {
    let call = ToolCall::ApplyProjectPatch {
        revision_id: RevisionId::new(1),
        expected_base_sha: digest("tree-0"),
        patch: digest("patch"),
        patch_bytes: ByteCount::new(300),
    };
    let ends =
        CallOutcome::Ends { rules: vec!["forbid-weakened-test".parse().unwrap()], instead: String::new() };
    let mut event = decided(call, Verdict::Deny(DenialKind::Terminating), ends);
    if let Event::CallDecided(decided) = &mut event {
        let place = Weakening {
            path: path("tests/test_order.py"),
            line: 7,
            side: Side::After,
            was: Excerpt::of("assert total == 3"),
            is: Excerpt::default(),
        };
        decided.facts = kinds.filter_map(|kind| place.clone().told_as(kind)).collect();
    }
    event
}
