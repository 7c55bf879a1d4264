//! What gates and cases are told to be, in words.

use ambit_orchestrator::ended;
use ambit_run::{
    CaseComparison, CaseStanding, Change, Evidence, GateComparison, GateStanding, GateStatus, Side,
};

use super::{Compared, Seen};
use crate::ink::Ink;

/// The verdict of a gate in a few words, with that of its hidden check where that one takes its word away.
pub(super) fn verdict(side: &Side<GateStanding>) -> String {
    let status = |status| match status {
        GateStatus::NotRun => "not run",
        other => other.as_str(),
    };
    match side {
        Side::Imported => "not run".to_owned(),
        Side::NotNamed => "no such gate".to_owned(),
        Side::Stands(standing) => match &standing.hidden {
            Some(hidden) if standing.status == GateStatus::Passed && !standing.speaks() => {
                format!("passed with its hidden check {}", status(hidden.status))
            }
            _ => status(standing.status).to_owned(),
        },
    }
}

/// Why a gate stands where it does under a revision; `None` where its verdict says all.
pub(super) fn why(side: &Side<GateStanding>) -> Option<String> {
    let standing = match side {
        Side::Imported => return None,
        Side::NotNamed => return Some("its blueprint has no such gate".to_owned()),
        Side::Stands(standing) => standing,
    };
    let hidden = standing.hidden.as_ref().map(|hidden| match hidden.status {
        GateStatus::NotRun => format!("; its hidden check {} did not run", hidden.check),
        status => format!("; its hidden check {} {}", hidden.check, status.as_str()),
    });
    let told = match (&standing.newest, standing.attempts) {
        (Some(newest), _) => {
            let flaky = match standing.status {
                GateStatus::Flaky => {
                    format!("passed and failed in {} runs on one tree; the newest: ", standing.runs)
                }
                _ => String::new(),
            };
            format!("{flaky}{} in {}, attempt {}", ended(newest), newest.duration, newest.attempt)
        }
        (None, 0) => "it did not run".to_owned(),
        (None, 1) => "it ran once, on an earlier tree".to_owned(),
        (None, times) => format!("it ran {times} times, on earlier trees alone"),
    };
    Some(told + &hidden.unwrap_or_default())
}

/// The command that shows what a gate said of the tree of a revision.
pub(super) fn look(
    compared: &Compared,
    seen: &Seen,
    gate: &GateComparison,
    side: &Side<GateStanding>,
) -> Option<String> {
    let standing = side.standing()?;
    let newest = standing.newest.as_ref()?;
    let mut command = format!("{} gate show {} {}", compared.ambit, seen.named.as_deref()?, gate.gate);
    if newest.attempt != standing.attempts {
        command.push_str(&format!(" --attempt {}", newest.attempt));
    }
    Some(command)
}

/// How a change of a gate is called, and looks.
pub(super) fn gate_label(gate: &GateComparison) -> (Ink, &'static str) {
    match gate.change {
        Change::Same => (Ink::Quiet, "same"),
        change => changed(change),
    }
}

/// How a change of a case is called, and looks. What stays as it was is called by what that is.
pub(super) fn case_label(case: &CaseComparison) -> (Ink, &'static str) {
    match (case.change, evidence(&case.after)) {
        (Change::Same, Evidence::Whole) => (Ink::Quiet, "kept"),
        (Change::Same, evidence) => (Ink::Notable, evidence.as_str()),
        (change, _) => changed(change),
    }
}

const fn changed(change: Change) -> (Ink, &'static str) {
    let ink = match change {
        Change::Lost => Ink::Bad,
        Change::Gained => Ink::Good,
        Change::Dropped | Change::Otherwise | Change::New => Ink::Notable,
        Change::Same => Ink::Quiet,
    };
    (ink, change.as_str())
}

/// How much speaks for a case.
pub(super) fn evidence(side: &Side<CaseStanding>) -> Evidence {
    side.standing().map_or(Evidence::Missing, CaseStanding::evidence)
}

/// The evidence of a case before and after, and which of its gates made the difference.
pub(super) fn evidence_told(case: &CaseComparison, gates: &[GateComparison]) -> String {
    let word = |side: &Side<CaseStanding>| match side {
        Side::Imported => "none",
        Side::NotNamed => "no such case",
        Side::Stands(standing) => standing.evidence().as_str(),
    };
    let of_case = |gate: &&GateComparison| {
        let names = |side: &Side<CaseStanding>| {
            side.standing().is_some_and(|standing| standing.gates.iter().any(|(id, _)| *id == gate.gate))
        };
        names(&case.before) || names(&case.after)
    };
    let told: Vec<String> =
        gates.iter().filter(of_case).map(|gate| format!("{} {}", gate.gate, step(gate))).collect();
    let (before, after) = (word(&case.before), word(&case.after));
    let evidence = if before == after { after.to_owned() } else { format!("{before} -> {after}") };
    if told.is_empty() { evidence } else { format!("{evidence}: {}", told.join(", ")) }
}

/// The verdicts of a gate before and after, once where they are the same.
pub(super) fn step(gate: &GateComparison) -> String {
    let (before, after) = (verdict(&gate.before), verdict(&gate.after));
    if before == after { after } else { format!("{before} -> {after}") }
}
