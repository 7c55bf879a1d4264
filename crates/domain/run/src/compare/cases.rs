use std::collections::BTreeSet;

use ambit_ids::{CaseId, Digest, GateId};

use super::{Change, GateStanding, Judged, Side, names};

/// An acceptance case under two revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseComparison {
    /// The case.
    pub case: CaseId,
    /// What speaks for it before.
    pub before: Side<CaseStanding>,
    /// What speaks for it after.
    pub after: Side<CaseStanding>,
    /// What became of it.
    pub change: Change,
    /// Whether the two blueprints state something else under its id.
    pub is_reworded: bool,
    /// Whether other gates, or gates with other commands, speak for it after than before.
    pub is_checked_otherwise: bool,
}

/// What speaks for an acceptance case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseStanding {
    /// What must hold; `None` where the blueprint could not be read.
    pub statement: Option<String>,
    /// The gates that the blueprint names for it, from cheap to dear, with where they stand.
    pub gates: Vec<(GateId, GateStanding)>,
}

/// How much speaks for an acceptance case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// None of its gates speaks for it.
    #[default]
    Missing,
    /// Some of its gates do.
    Partial,
    /// All of its gates do.
    Whole,
}

impl Evidence {
    /// The evidence as views spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Partial => "partial",
            Self::Whole => "whole",
        }
    }
}

impl CaseStanding {
    /// How much speaks for it: nothing less than all of its gates is whole.
    #[must_use]
    pub fn evidence(&self) -> Evidence {
        match (self.speaking().len(), self.gates.len()) {
            (0, _) => Evidence::Missing,
            (speaking, all) if speaking == all => Evidence::Whole,
            _ => Evidence::Partial,
        }
    }

    /// The gates that speak for it.
    #[must_use]
    pub fn speaking(&self) -> BTreeSet<&GateId> {
        self.gates.iter().filter(|(_, standing)| standing.speaks()).map(|(id, _)| id).collect()
    }
}

impl<'a> Judged<'a> {
    /// The cases in the order of the blueprint, or sorted where only their ids are known.
    fn case_ids(self) -> Vec<&'a CaseId> {
        let Self::ByRun { dossier, cases } = self else { return Vec::new() };
        names(
            dossier.pins.cases.iter(),
            cases.iter().map(|case| &case.id).filter(|id| dossier.pins.cases.contains(*id)),
        )
    }

    fn case(self, id: &CaseId) -> Side<CaseStanding> {
        let Self::ByRun { dossier, cases } = self else { return Side::Imported };
        if !dossier.pins.cases.contains(id) {
            return Side::NotNamed;
        }
        let gates = dossier.pins.gates.iter().filter(|gate| gate.cases.contains(id));
        let standing = |gate: &GateId| match self.gate(gate) {
            Side::Stands(standing) => Some((gate.clone(), standing)),
            Side::Imported | Side::NotNamed => None,
        };
        Side::Stands(CaseStanding {
            statement: cases.iter().find(|case| case.id == *id).map(|case| case.statement.clone()),
            gates: gates.filter_map(|gate| standing(&gate.id)).collect(),
        })
    }
}

/// Every acceptance case of two revisions, in the order of the blueprint after; those of the blueprint before alone come
/// last.
#[must_use]
pub fn compare_cases(before: Judged<'_>, after: Judged<'_>) -> Vec<CaseComparison> {
    names(before.case_ids().into_iter(), after.case_ids().into_iter())
        .into_iter()
        .map(|id| {
            let (one, other) = (before.case(id), after.case(id));
            let both = one.standing().zip(other.standing());
            let has_other = |differs: fn(&CaseStanding, &CaseStanding) -> bool| {
                both.is_some_and(|(one, other)| differs(one, other))
            };
            CaseComparison {
                case: id.clone(),
                change: change(&one, &other),
                is_reworded: has_other(|one, other| {
                    one.statement.is_some() && other.statement.is_some() && one.statement != other.statement
                }),
                is_checked_otherwise: has_other(|one, other| one.checks() != other.checks()),
                before: one,
                after: other,
            }
        })
        .collect()
}

fn change(before: &Side<CaseStanding>, after: &Side<CaseStanding>) -> Change {
    let speaking = |side: &Side<CaseStanding>| -> BTreeSet<GateId> {
        side.standing().map(CaseStanding::speaking).unwrap_or_default().into_iter().cloned().collect()
    };
    match before.change(after, CaseStanding::evidence) {
        Change::Same if speaking(before) != speaking(after) => Change::Otherwise,
        change => change,
    }
}

impl CaseStanding {
    /// What is run for it: gates, their commands, and their hidden checks.
    fn checks(&self) -> BTreeSet<(&GateId, Digest, Option<&GateId>)> {
        self.gates
            .iter()
            .map(|(id, standing)| {
                (id, standing.command, standing.hidden.as_ref().map(|hidden| &hidden.check))
            })
            .collect()
    }
}
