//! What two revisions have to show for themselves, side by side.

use std::collections::BTreeSet;

use ambit_blueprint::AcceptanceCase;
use ambit_gates::Ending;
use ambit_ids::{ByteCount, CaseId, DurationMs};
use ambit_run::{
    CaseComparison, Change, Dossier, Event, Evidence, GateComparison, GateRecord, GateStatus, Judged, Pins,
    Side, State, compare_cases, compare_gates, evolve,
};

use crate::world::{START, digest, gate, pins};

const HEAD: &str = "tree-head";

/// Executions as `GATE+` for one that passes and `GATE-` for one that fails, on the head; `~` before it for one on an
/// earlier tree. What begins with `hidden` is a hidden check.
fn ran(pins: Pins, executions: &str) -> Dossier {
    let State::Open(open) = evolve(State::Vacant, &Event::Admitted { pins: Box::new(pins), at: START })
    else {
        panic!("no run")
    };
    let mut dossier = open.dossier;
    dossier.head = digest(HEAD);
    for (number, told) in executions.split_whitespace().enumerate() {
        let (id, code) = match told.strip_suffix('+') {
            Some(id) => (id, 0),
            None => (told.strip_suffix('-').unwrap(), 1),
        };
        let record = GateRecord {
            gate: gate(id.trim_start_matches('~')),
            attempt: dossier.gates.next_attempt(&gate(id.trim_start_matches('~'))),
            key: format!("key-{number}").parse().unwrap(),
            tree: if id.starts_with('~') { digest("tree-earlier") } else { digest(HEAD) },
            ending: Ending::Exited { code },
            breaches: BTreeSet::new(),
            fingerprint: None,
            artifact: digest(told),
            output: ByteCount::ZERO,
            redactions: None,
            duration: DurationMs::new(12),
            objections: Vec::new(),
            tests: None,
        };
        if id.contains("hidden") {
            dossier.hidden.push(record);
        } else {
            dossier.gates = dossier.gates.with(record);
        }
    }
    dossier
}

/// Gates with the cases that they speak for: `unit:AC-1,AC-2 slow:AC-2`; with `!` behind it, one with a hidden check.
fn with_gates(gates: &str) -> Pins {
    let mut pins = pins();
    let pattern = pins.gates[0].clone();
    pins.gates = Vec::new();
    pins.cases = BTreeSet::new();
    for told in gates.split_whitespace() {
        let (id, cases) = told.split_once(':').unwrap();
        let (id, hidden) = id.strip_suffix('!').map_or((id, false), |id| (id, true));
        let mut pin = pattern.clone();
        pin.id = gate(id);
        pin.command = digest(id);
        pin.cases = cases.split(',').map(|case| CaseId::new(case).unwrap()).collect();
        pin.hidden_check = hidden.then(|| gate(&format!("hidden.{id}")));
        pins.cases.extend(pin.cases.iter().cloned());
        pins.gates.push(pin);
    }
    pins
}

fn stated(of: &[(&str, &str)]) -> Vec<AcceptanceCase> {
    let case = |(id, statement): &(&str, &str)| AcceptanceCase {
        id: CaseId::new(*id).unwrap(),
        statement: (*statement).to_owned(),
    };
    of.iter().map(case).collect()
}

fn judged(dossier: Option<&Dossier>) -> Judged<'_> {
    dossier.map_or(Judged::Imported, |dossier| Judged::ByRun { dossier, cases: &[] })
}

fn gates_of(before: Option<&Dossier>, after: Option<&Dossier>) -> String {
    let status = |side: &Side<ambit_run::GateStanding>| match side {
        Side::Imported => "imported",
        Side::NotNamed => "none",
        Side::Stands(standing) => standing.status.as_str(),
    };
    let told: Vec<String> = compare_gates(judged(before), judged(after))
        .iter()
        .map(|it| format!("{} {}>{} {}", it.gate, status(&it.before), status(&it.after), it.change.as_str()))
        .collect();
    told.join("; ")
}

fn cases_of(before: Option<&Dossier>, after: Option<&Dossier>) -> String {
    let evidence = |side: &Side<ambit_run::CaseStanding>| match side {
        Side::Imported => "imported",
        Side::NotNamed => "none",
        Side::Stands(standing) => standing.evidence().as_str(),
    };
    let told: Vec<String> = compare_cases(judged(before), judged(after))
        .iter()
        .map(|it| {
            format!("{} {}>{} {}", it.case, evidence(&it.before), evidence(&it.after), it.change.as_str())
        })
        .collect();
    told.join("; ")
}

// proves E-G03
// break crates/domain/run/src/compare/mod.rs: `std::cmp::Ordering::Greater => Change::Lost,` -> `std::cmp::Ordering::Greater => Change::Same,`
// break crates/domain/run/src/compare/gates.rs: `let on_tree = || of_gate().filter(|record| record.tree == dossier.head);` -> `let on_tree = of_gate;`
#[test]
fn what_became_of_a_gate_follows_from_its_results_on_the_two_trees() {
    let pins = || with_gates("unit:AC-1");
    for (before, after, told) in [
        ("unit-", "unit+", "unit failed>passed gained"),
        ("unit+", "unit-", "unit passed>failed lost"),
        ("unit+", "", "unit passed>not-run lost"),
        ("unit+", "unit+ unit-", "unit passed>flaky lost"),
        ("unit+ ~unit-", "unit+", "unit passed>passed same"),
        ("unit-", "unit-", "unit failed>failed same"),
        ("", "unit-", "unit not-run>failed otherwise"),
        ("unit- unit+", "unit-", "unit flaky>failed otherwise"),
        ("~unit+", "unit+", "unit not-run>passed gained"),
        ("", "", "unit not-run>not-run same"),
    ] {
        let (one, other) = (ran(pins(), before), ran(pins(), after));
        assert_eq!(gates_of(Some(&one), Some(&other)), told, "{before:?} to {after:?}");
    }
    let (failed, passed) = (ran(pins(), "~unit+ unit-"), ran(pins(), "unit+"));
    assert_eq!(gates_of(None, Some(&passed)), "unit imported>passed gained");
    assert_eq!(gates_of(None, Some(&failed)), "unit imported>failed otherwise");
    assert_eq!(gates_of(Some(&passed), None), "unit passed>imported lost");
    assert_eq!(gates_of(None, Some(&ran(pins(), "~unit+"))), "unit imported>not-run same");
    assert_eq!(gates_of(None, None), "");
    let found = compare_gates(judged(Some(&failed)), judged(Some(&passed)));
    let [GateComparison { before: Side::Stands(before), .. }] = &found[..] else { panic!("{found:?}") };
    assert_eq!((before.runs, before.attempts, before.status), (1, 2, GateStatus::Failed));
    assert_eq!(
        before.newest.as_ref().map(|record| record.attempt),
        Some(2),
        "a result of another tree is none"
    );
}

#[test]
fn a_gate_that_one_blueprint_lacks_and_one_with_another_command_are_told() {
    let one = ran(with_gates("build:AC-1 unit:AC-1"), "build+ unit+");
    let mut pins = with_gates("unit:AC-1 slow:AC-1");
    pins.gates[0].command = digest("something else");
    let other = ran(pins, "unit+");
    let told = "unit passed>passed same; slow none>not-run new; build passed>none dropped";
    assert_eq!(gates_of(Some(&one), Some(&other)), told, "in the order of the blueprint after");
    let found = compare_gates(judged(Some(&one)), judged(Some(&other)));
    assert_eq!(found.iter().map(|gate| gate.is_other_command).collect::<Vec<_>>(), [true, false, false]);
}

// proves E-G03
// break crates/domain/run/src/compare/cases.rs: `(speaking, all) if speaking == all => Evidence::Whole,` -> `(speaking, all) if speaking <= all => Evidence::Whole,`
// break crates/domain/run/src/compare/gates.rs: `passed(self.status) && self.hidden.as_ref()` -> `passed(self.status) || self.hidden.as_ref()`
#[test]
fn a_case_gains_and_loses_evidence_with_the_gates_that_speak_for_it() {
    let both = "quick:AC-1 slow:AC-1,AC-2";
    let hidden = "quick!:AC-1";
    for (gates, before, after, told) in [
        (both, "", "quick+ slow+", "AC-1 missing>whole gained; AC-2 missing>whole gained"),
        (both, "quick+ slow+", "quick+ slow-", "AC-1 whole>partial lost; AC-2 whole>missing lost"),
        (both, "quick+", "slow+", "AC-1 partial>partial otherwise; AC-2 missing>whole gained"),
        (both, "quick+ slow-", "quick+", "AC-1 partial>partial same; AC-2 missing>missing same"),
        (hidden, "quick+ hidden.quick+", "quick+ hidden.quick-", "AC-1 whole>missing lost"),
        (hidden, "quick+", "quick+ hidden.quick+", "AC-1 missing>whole gained"),
        (hidden, "quick+ ~hidden.quick+", "quick+ hidden.quick+", "AC-1 missing>whole gained"),
    ] {
        let (one, other) = (ran(with_gates(gates), before), ran(with_gates(gates), after));
        assert_eq!(cases_of(Some(&one), Some(&other)), told, "{before:?} to {after:?}");
    }
    let passed = ran(with_gates(both), "quick+ slow+");
    assert_eq!(cases_of(None, Some(&passed)), "AC-1 imported>whole gained; AC-2 imported>whole gained");
    assert_eq!(cases_of(Some(&passed), None), "AC-1 whole>imported lost; AC-2 whole>imported lost");
    assert_eq!(cases_of(None, Some(&ran(with_gates("quick:AC-1"), ""))), "AC-1 imported>missing same");
}

#[test]
fn a_case_that_differs_because_the_blueprint_does_is_told_apart() {
    let (one, other) = (
        ran(with_gates("unit:AC-1,AC-2"), "unit+"),
        ran(with_gates("unit:AC-1,AC-3 slow:AC-1"), "unit+ slow+"),
    );
    let told = "AC-1 whole>whole otherwise; AC-3 none>whole new; AC-2 whole>none dropped";
    assert_eq!(cases_of(Some(&one), Some(&other)), told);

    let pins = || with_gates("unit:AC-1,AC-2");
    let (one, other) = (ran(pins(), "unit+"), ran(pins(), "unit+"));
    let (said, says) = (
        stated(&[("AC-2", "It greets."), ("AC-1", "It greets by name."), ("AC-9", "Nobody pinned it.")]),
        stated(&[("AC-2", "It greets."), ("AC-1", "It greets by any name.")]),
    );
    let before = Judged::ByRun { dossier: &one, cases: &said };
    let after = Judged::ByRun { dossier: &other, cases: &says };
    let found = compare_cases(before, after);
    let told: Vec<_> =
        found.iter().map(|it| (it.case.as_str(), it.is_reworded, it.is_checked_otherwise)).collect();
    assert_eq!(told, [("AC-2", false, false), ("AC-1", true, false)], "in the order of the blueprint");
    let [_, CaseComparison { after: Side::Stands(standing), change: Change::Same, .. }] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(standing.statement.as_deref(), Some("It greets by any name."));
    assert_eq!(standing.evidence(), Evidence::Whole);

    let mut elsewhere = pins();
    elsewhere.gates[0].command = digest("something else");
    let elsewhere = ran(elsewhere, "unit+");
    let found = compare_cases(judged(Some(&one)), judged(Some(&elsewhere)));
    assert!(found.iter().all(|it| it.is_checked_otherwise && it.change == Change::Same), "{found:?}");
}
