use ambit_ids::{Digest, GateId};

use super::{Change, Judged, Side, names};
use crate::gate_book::{GateRecord, GateStatus};
use crate::pins::GatePin;
use crate::state::Dossier;

/// A gate under two revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateComparison {
    /// The gate.
    pub gate: GateId,
    /// Where it stands on the tree before.
    pub before: Side<GateStanding>,
    /// Where it stands on the tree after.
    pub after: Side<GateStanding>,
    /// What became of it.
    pub change: Change,
    /// Whether its name resolves to another command, so that its results are no results of the same thing.
    pub is_other_command: bool,
}

/// Where a gate stands on the tree of a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateStanding {
    /// Its verdict on exactly that tree.
    pub status: GateStatus,
    /// How often it ran on that tree.
    pub runs: u32,
    /// How often it ran in all, on earlier trees of the run too.
    pub attempts: u32,
    /// The newest execution on that tree.
    pub newest: Option<GateRecord>,
    /// The digest of the command that its id resolves to.
    pub command: Digest,
    /// Its hidden check, where it has one.
    pub hidden: Option<HiddenStanding>,
}

/// Where a hidden check stands on the tree of a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenStanding {
    /// The command.
    pub check: GateId,
    /// Its verdict on exactly that tree.
    pub status: GateStatus,
}

impl GateStanding {
    /// Whether it speaks for its acceptance cases: it passes, and so does its hidden check.
    #[must_use]
    pub fn speaks(&self) -> bool {
        let passed = |status| status == GateStatus::Passed;
        passed(self.status) && self.hidden.as_ref().is_none_or(|hidden| passed(hidden.status))
    }

    fn of(dossier: &Dossier, pin: &GatePin) -> Self {
        let of_gate = || dossier.gates.records().iter().filter(|record| record.gate == pin.id);
        let on_tree = || of_gate().filter(|record| record.tree == dossier.head);
        let counted = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            status: dossier.gates.status(&pin.id, dossier.head),
            runs: counted(on_tree().count()),
            attempts: counted(of_gate().count()),
            newest: on_tree().next_back().cloned(),
            command: pin.command,
            hidden: pin.hidden_check.clone().map(|check| {
                let records = dossier.hidden.iter().filter(|record| record.gate == check);
                let on_tree = records.filter(|record| record.tree == dossier.head);
                let status = GateStatus::of(on_tree.map(GateRecord::passed));
                HiddenStanding { check, status }
            }),
        }
    }
}

impl Judged<'_> {
    pub(super) fn gate(self, id: &GateId) -> Side<GateStanding> {
        let Some(dossier) = self.dossier() else { return Side::Imported };
        dossier.pins.gate(id).map_or(Side::NotNamed, |pin| Side::Stands(GateStanding::of(dossier, pin)))
    }
}

/// Every gate of two revisions, in the order of the blueprint after, from cheap to dear; those of the blueprint before
/// alone come last.
#[must_use]
pub fn compare_gates(before: Judged<'_>, after: Judged<'_>) -> Vec<GateComparison> {
    names(before.gate_ids(), after.gate_ids())
        .into_iter()
        .map(|id| {
            let (one, other) = (before.gate(id), after.gate(id));
            let commands = [&one, &other].map(|side| side.standing().map(|standing| standing.command));
            GateComparison {
                gate: id.clone(),
                change: change(&one, &other),
                is_other_command: matches!(commands, [Some(one), Some(other)] if one != other),
                before: one,
                after: other,
            }
        })
        .collect()
}

fn change(before: &Side<GateStanding>, after: &Side<GateStanding>) -> Change {
    let verdicts = |side: &Side<GateStanding>| {
        side.standing().map(|it| (it.status, it.hidden.as_ref().map(|hidden| hidden.status)))
    };
    match before.change(after, GateStanding::speaks) {
        Change::Same if verdicts(before) != verdicts(after) && !is_nothing(before, after) => {
            Change::Otherwise
        }
        change => change,
    }
}

/// An import and a gate that did not run have the same to show: nothing.
fn is_nothing(before: &Side<GateStanding>, after: &Side<GateStanding>) -> bool {
    [before, after].iter().all(|side| side.standing().is_none_or(|it| it.status == GateStatus::NotRun))
}
