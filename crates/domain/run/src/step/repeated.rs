//! Proposals that were answered before: the same again gets no other answer, and is told where the first one stands.

use ambit_gates::Ending;
use ambit_ids::Digest;

use crate::denial::{Denial, DenialCode};
use crate::gate_book::{GateRecord, GateStatus};
use crate::pins::Rules;
use crate::state::{DeniedCall, Dossier};

/// The denial of a call that was denied on the current tree for the same reason before; `None` for the first time.
pub(super) fn denial(dossier: &Dossier, arguments: Digest, denial: &Denial) -> Option<Denial> {
    if dossier.pins.rules < Rules::Repeats || !is_about_the_call_alone(denial.code) {
        return None;
    }
    let turn = dossier.denied.get(&DeniedCall { head: dossier.head, arguments, code: denial.code })?;
    let instead = match denial.instead.as_str() {
        "" => "propose something else".to_owned(),
        told => format!("propose something else: {told}"),
    };
    Some(
        Denial::new(
            DenialCode::ProposalRepeated,
            format!("the same call was denied in turn {turn}, and nothing about it has changed: {denial}"),
        )
        .by(&denial.rules)
        .instead(instead),
    )
}

/// Whether a denial is about what the arguments of a call say. A step and a hypothesis are no part of them: with another one
/// it is another proposal. What is a repeat of a patch that failed stays that.
const fn is_about_the_call_alone(code: DenialCode) -> bool {
    !matches!(
        code,
        DenialCode::StepUncited
            | DenialCode::StepUnknown
            | DenialCode::HypothesisMissing
            | DenialCode::ProposalRepeated
            | DenialCode::ApprovalVoid
    )
}

/// A patch whose effect on this very tree was had before, and on which a gate failed, would fail again.
pub(super) fn not_failed(dossier: &Dossier, base: Digest, patch: Digest) -> Result<(), Denial> {
    if dossier.pins.rules < Rules::Repeats {
        return Ok(());
    }
    let failed = dossier
        .patches
        .iter()
        .filter(|applied| applied.base == base && applied.proposed == patch)
        .find_map(|applied| failure(dossier, applied.tree));
    let Some(record) = failed else { return Ok(()) };
    let detail = format!(
        "the same patch was applied to this tree before, and {} failed on what came of it (attempt {}, kept as {})",
        record.gate, record.attempt, record.artifact
    );
    Err(Denial::new(DenialCode::ProposalRepeated, detail)
        .instead("propose a patch that does something else about that failure"))
}

/// The newest failure of a gate that never passed on a tree, where the gate itself came to it.
fn failure(dossier: &Dossier, tree: Digest) -> Option<&GateRecord> {
    let came_to_it = |record: &GateRecord| {
        matches!(
            record.ending,
            Ending::Exited { .. } | Ending::Signalled { .. } | Ending::LimitReached { .. }
        )
    };
    dossier.gates.records().iter().rev().find(|record| {
        record.tree == tree
            && came_to_it(record)
            && dossier.gates.status(&record.gate, tree) == GateStatus::Failed
    })
}
