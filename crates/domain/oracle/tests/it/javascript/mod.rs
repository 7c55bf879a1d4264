//! What a patch does to the tests and the source of a JavaScript project.

mod bases;
mod honest;
mod weakened;

use ambit_policy::{Fact, FactKind};

use crate::{facts, guard};

/// A text that stands once in a file, and what stands there after the patch.
type Edit = (&'static str, &'static str);

/// A patch that weakens something.
struct Weakened {
    base: (&'static str, &'static str),
    edits: &'static [Edit],
    /// The kind and the line that must be told.
    told: &'static str,
}

/// A patch that weakens nothing.
struct Honest {
    base: (&'static str, &'static str),
    edits: &'static [Edit],
}

/// The facts about the edited file.
fn told(base: (&str, &str), edits: &[Edit]) -> Vec<Fact> {
    let (name, before) = base;
    let mut after = before.to_owned();
    for (old, new) in edits {
        assert_eq!(after.matches(old).count(), 1, "{old} in {name}");
        after = after.replacen(old, new, 1);
    }
    facts(&guard(), &[(name, Some(before), Some(&after))])
}

/// A fact as its kind and its line.
fn short(fact: &Fact) -> String {
    let line = match fact {
        Fact::SkipMarkerAdded { line, .. } => *line,
        other => other.weakening().map_or(0, |weakening| weakening.line),
    };
    format!("{} {line}", fact.kind())
}

// proves E-F05 E-F07
// break crates/domain/oracle/src/facts.rs: `facts.extend(trees.facts());` -> ``
#[test]
fn what_weakens_a_test_or_the_source_is_told_with_its_line() {
    let mut missed = Vec::new();
    for case in weakened::WEAKENED {
        let found: Vec<String> = told(case.base, case.edits).iter().map(short).collect();
        if !found.iter().any(|fact| fact == case.told) {
            missed.push(format!("{:?}\n    wants {}, is told {found:?}", case.edits, case.told));
        }
    }
    assert!(missed.is_empty(), "{} of {}:\n{}", missed.len(), weakened::WEAKENED.len(), missed.join("\n"));
}

#[test]
fn honest_work_is_not_told() {
    let mut wrong = Vec::new();
    for case in honest::HONEST {
        let found = told(case.base, case.edits);
        if !found.is_empty() {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            wrong.push(format!("{:?}\n    {}", case.edits, found.join("\n    ")));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), honest::HONEST.len(), wrong.join("\n"));
}

#[test]
fn the_files_as_they_are_say_nothing() {
    for base in
        weakened::WEAKENED.iter().map(|case| case.base).chain(honest::HONEST.iter().map(|case| case.base))
    {
        assert_eq!(told(base, &[]), []);
    }
    let kinds: Vec<FactKind> =
        facts(&guard(), &[(bases::JEST.0, Some(""), Some(bases::JEST.1))]).iter().map(Fact::kind).collect();
    assert_eq!(kinds, []);
}
