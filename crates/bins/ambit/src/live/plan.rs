use ambit_run::{Dossier, GateStatus, PlanStep};

/// Where a step of the plan stands, as far as it is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// No patch that cites it was applied.
    Open,
    /// A patch that cites it was applied, and not every gate of its cases passes on the current tree.
    Begun,
    /// A patch that cites it was applied, each of its cases has a gate, and all of those pass on the current tree.
    Done,
}

/// Where a step stands, and what says so.
pub(super) fn standing(step: &PlanStep, is_patched: bool, dossier: &Dossier) -> (Standing, String) {
    if !is_patched {
        return (Standing::Open, String::new());
    }
    let gates = || dossier.pins.gates.iter();
    if let Some(case) = step.cases.iter().find(|case| !gates().any(|gate| gate.cases.contains(case))) {
        return (Standing::Begun, format!("patched; no gate checks {case}"));
    }
    let of_step = gates().filter(|gate| !gate.cases.is_disjoint(&step.cases));
    let stands = of_step.map(|gate| (&gate.id, dossier.gates.status(&gate.id, dossier.head)));
    match stands.clone().find(|(_, status)| *status != GateStatus::Passed) {
        None => {
            (Standing::Done, stands.map(|(gate, _)| format!("{gate} passed")).collect::<Vec<_>>().join(", "))
        }
        Some((gate, GateStatus::NotRun)) => (Standing::Begun, format!("patched; {gate} has not run on it")),
        Some((gate, status)) => (Standing::Begun, format!("patched; {gate} {}", status.as_str())),
    }
}
