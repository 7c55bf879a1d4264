//! Which assertion after is which before.

use std::collections::BTreeSet;

use super::found::Assertion;

/// The assertions of one test that are found again, and those that are not.
pub(super) struct Pairing {
    pub(super) pairs: Vec<(usize, usize)>,
    pub(super) lost: Vec<usize>,
    pub(super) gained: Vec<usize>,
}

/// More pairs than this are not looked at by the words of their subjects.
const WORDED: usize = 20_000;

/// An assertion with what it is found by.
struct Sought<'a> {
    assertion: &'a Assertion,
    key: String,
    words: BTreeSet<String>,
}

impl<'a> Sought<'a> {
    fn of(assertion: &'a Assertion) -> Self {
        Self { assertion, key: assertion.key(), words: words(&assertion.subject) }
    }

    fn expects_the_same(&self, other: &Sought<'_>) -> bool {
        let (one, other) = (self.assertion, other.assertion);
        one.relation == other.relation
            && one.negated == other.negated
            && one.expected == other.expected
            && !one.expected.is_empty()
    }

    fn is_part_of(&self, other: &Sought<'_>) -> bool {
        let (one, other) = (&self.assertion.subject, &other.assertion.subject);
        other.len() > 2 && one.len() > 2 && (one.contains(other.as_str()) || other.contains(one.as_str()))
    }
}

/// Pairs the assertions of both sides: first those that say the same, then those of the same subject, then those that
/// expect the same, then those whose subjects are alike.
pub(super) fn pair(were: &[Assertion], are: &[Assertion]) -> Pairing {
    let (were, are): (Vec<_>, Vec<_>) =
        (were.iter().map(Sought::of).collect(), are.iter().map(Sought::of).collect());
    let mut lost: Vec<usize> = (0..were.len()).collect();
    let mut gained: Vec<usize> = (0..are.len()).collect();
    let mut pairs = Vec::new();
    let rounds: [fn(&Sought<'_>, &Sought<'_>) -> bool; 5] = [
        |one, other| one.key == other.key,
        |one, other| one.assertion.subject == other.assertion.subject,
        |one, other| one.expects_the_same(other),
        |one, other| one.is_part_of(other),
        |one, other| likeness(&one.words, &other.words) > 0.6,
    ];
    for (round, same) in rounds.into_iter().enumerate() {
        if round > 2 && lost.len() * gained.len() > WORDED {
            break;
        }
        lost.retain(|was| {
            let (was_here, fits) =
                (&were[*was], |is: &Sought<'_>| comparable(were[*was].assertion, is.assertion));
            let found = gained.iter().position(|is| fits(&are[*is]) && same(was_here, &are[*is]));
            if let Some(at) = found {
                pairs.push((*was, gained.remove(at)));
            }
            found.is_none()
        });
    }
    Pairing { pairs, lost, gained }
}

/// A plan stands for no assertion, and neither does what only fails where it is reached.
pub(super) fn comparable(one: &Assertion, other: &Assertion) -> bool {
    use super::relation::Relation::{Never, Plan};
    [Plan, Never].into_iter().all(|kind| (one.relation == kind) == (other.relation == kind))
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// How much two sets share, of one.
pub(super) fn likeness(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    2.0 * count(one.intersection(other).count()) / count(one.len() + other.len()).max(1.0)
}
