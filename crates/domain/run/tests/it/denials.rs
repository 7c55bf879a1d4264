//! What every denial says.

use std::collections::BTreeSet;

use ambit_policy::Verdict;
use ambit_run::{CallOutcome, Denial, DenialCode, Event, Rules};

use crate::world::{CALL_DENIAL, END, World, decided, pins};

// proves C9 E-E12
// break crates/domain/run/src/denial.rs: `let instead = code.instead().to_owned();` -> `let instead = String::new();`
#[test]
fn every_denial_says_what_is_possible_instead_whatever_its_code() {
    let mut told = BTreeSet::new();
    for code in DenialCode::ALL {
        let denial = Denial::new(*code, "detail");
        assert!(denial.instead.len() > 10, "{code}: {denial:?}");
        assert_eq!(
            denial.clone().instead("").instead,
            denial.instead,
            "{code}: nothing said changes nothing"
        );
        assert_eq!(denial.instead("this").instead, "this", "{code}");
        assert_eq!(code.as_str().parse(), Ok(*code));
        told.insert(code.as_str());
    }
    assert_eq!(told.len(), DenialCode::ALL.len(), "no two denials share a code");
}

fn outcome(events: &[Event]) -> &CallOutcome {
    let decided = events.iter().find_map(|event| match event {
        Event::CallDecided(decided) => Some(&decided.outcome),
        _ => None,
    });
    decided.unwrap()
}

// proves C9 D2
// break crates/domain/run/src/step/judge.rs: `let instead = if tells { denial.instead } else { String::new() };` -> `let instead = String::new();`
#[test]
fn both_kinds_of_denial_are_events_with_their_rule_and_what_is_possible_instead() {
    let call = |world: &World, verdict: Verdict, instead: &str| {
        let mut call = decided(world.patch_call("tree-1"), verdict, Vec::new());
        call.instead = instead.to_owned();
        call
    };
    for (said, expected) in [("change the code", "change the code"), ("", DenialCode::PolicyDenied.instead())]
    {
        let mut world = World::planned(pins());
        let events = world.call(call(&world, CALL_DENIAL, said));
        let CallOutcome::Denied(denial) = outcome(&events) else { panic!("{events:?}") };
        assert_eq!((denial.code, denial.instead.as_str()), (DenialCode::PolicyDenied, expected));
        assert_eq!(denial.rules[0].as_str(), "a.rule");
        assert_eq!(world.stop_code(), None, "the run goes on");

        let events = world.call(call(&world, END, said));
        let CallOutcome::Ends { rules, instead } = outcome(&events) else { panic!("{events:?}") };
        assert_eq!((rules[0].as_str(), instead.as_str()), ("a.rule", expected));
        assert_eq!(world.stop_code(), Some("policy-denied"));
    }
    let mut first = pins();
    first.rules = Rules::Repeats;
    let mut world = World::planned(first);
    let events = world.call(call(&world, END, "change the code"));
    assert!(matches!(outcome(&events), CallOutcome::Ends { instead, .. } if instead.is_empty()), "as it was");
}
