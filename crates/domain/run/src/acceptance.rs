use ambit_ids::GateId;

use crate::gate_book::GateStatus;
use crate::state::Dossier;

/// Whether the current revision is accepted. Derived from gate records of exactly the current tree; nothing that an
/// agent can say takes part in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// Every required gate passes on the current tree, and the run changed something.
    Met,
    /// Nothing was changed yet.
    NothingChanged,
    /// The first gate, from cheap to dear, that does not pass on the current tree.
    Waiting {
        /// The gate.
        gate: GateId,
        /// Where it stands.
        status: GateStatus,
    },
}

/// Derives the acceptance of the current revision.
#[must_use]
pub fn acceptance(dossier: &Dossier) -> Acceptance {
    match current_gate(dossier) {
        Some((gate, status)) => Acceptance::Waiting { gate: gate.clone(), status },
        None if dossier.patches.is_empty() => Acceptance::NothingChanged,
        None => Acceptance::Met,
    }
}

/// The cheapest required gate that does not pass on the current tree.
#[must_use]
pub fn current_gate(dossier: &Dossier) -> Option<(&GateId, GateStatus)> {
    dossier
        .pins
        .gates
        .iter()
        .map(|gate| (&gate.id, dossier.gates.status(&gate.id, dossier.head)))
        .find(|(_, status)| *status != GateStatus::Passed)
}
