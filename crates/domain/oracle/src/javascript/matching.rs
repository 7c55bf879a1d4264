//! Which test after is which before.

use std::collections::{BTreeMap, BTreeSet};

use super::compared::{Comparison, Sides, Unit};
use super::found::{Assertion, Found, Owner, Test};
use super::pairing::likeness;
use super::relation::Relation;

/// How much of its assertions a test shares with one of another name that is the same test.
const SAME_TEST: f64 = 0.5;

/// A test: the number of its file, and its own in it.
pub(super) type At = (usize, usize);
/// By what a test is found again.
type Key = (Option<usize>, Vec<String>);

impl<'a, 'p> Comparison<'a, 'p> {
    /// The test after for each test before that is found again.
    pub(super) fn matched_tests(&self) -> BTreeMap<At, At> {
        let list = |of: fn(&'a Sides<'p>) -> &'a Found| -> Vec<(usize, usize)> {
            let all = self.files.iter().enumerate();
            all.flat_map(|(file, sides)| (0..of(sides).tests.len()).map(move |test| (file, test))).collect()
        };
        let (were, mut free) = (list(|file| &file.before), list(|file| &file.after));
        let mut matched = BTreeMap::new();
        let by_all = |file: usize, test: &Test| (Some(file), test.titles.clone());
        let by_titles = |_: usize, test: &Test| (None, test.titles.clone());
        let by_title =
            |file: usize, test: &Test| (Some(file), test.titles.last().cloned().into_iter().collect());
        let rounds: [fn(usize, &Test) -> Key; 3] = [by_all, by_titles, by_title];
        for key in rounds {
            let mut places: BTreeMap<_, Vec<(usize, usize)>> = BTreeMap::new();
            for place in free.iter().rev() {
                places
                    .entry(key(place.0, &self.files[place.0].after.tests[place.1]))
                    .or_default()
                    .push(*place);
            }
            for was in &were {
                let test = &self.files[was.0].before.tests[was.1];
                if !matched.contains_key(was)
                    && let Some(found) = places.get_mut(&key(was.0, test)).and_then(Vec::pop)
                {
                    matched.insert(*was, found);
                    free.retain(|place| *place != found);
                }
            }
        }
        self.match_by_content(&were, &mut free, &mut matched);
        matched
    }

    pub(super) fn match_by_content(
        &self,
        were: &[(usize, usize)],
        free: &mut Vec<(usize, usize)>,
        matched: &mut BTreeMap<At, At>,
    ) {
        let keys = |found: &Found, test: usize| -> BTreeSet<String> {
            let own = found.assertions.iter().filter(|assertion| {
                assertion.owner == Owner::Test(test) && assertion.relation != Relation::Plan
            });
            own.map(Assertion::key).collect()
        };
        let mut scored = Vec::new();
        let lost: Vec<_> = were.iter().filter(|was| !matched.contains_key(was)).collect();
        let news: Vec<_> =
            free.iter().map(|place| (*place, keys(&self.files[place.0].after, place.1))).collect();
        for was in lost {
            let wanted = keys(&self.files[was.0].before, was.1);
            for (place, has) in news.iter().filter(|(_, has)| !has.is_empty()) {
                // One that asserts all of it and more is the same as well.
                let holds_all = !wanted.is_empty() && wanted.is_subset(has);
                let alike = if holds_all { 1.0 } else { likeness(&wanted, has) };
                let score = alike + if place.0 == was.0 { 0.1 } else { 0.0 };
                if score >= SAME_TEST + 0.1 {
                    scored.push((score, *was, *place));
                }
            }
        }
        scored.sort_by(|one, other| {
            other.0.total_cmp(&one.0).then_with(|| (one.1, one.2).cmp(&(other.1, other.2)))
        });
        for (_, was, place) in scored {
            if !matched.contains_key(&was) && free.contains(&place) {
                free.retain(|other| *other != place);
                matched.insert(was, place);
            }
        }
    }

    /// The owners of assertions that are the same on both sides.
    pub(super) fn units(&self, tests: &BTreeMap<At, At>) -> Vec<(Unit, Unit)> {
        let mut units: Vec<(Unit, Unit)> =
            tests.iter().map(|(was, is)| ((was.0, Owner::Test(was.1)), (is.0, Owner::Test(is.1)))).collect();
        for (at, file) in self.files.iter().enumerate() {
            units.push(((at, Owner::File), (at, Owner::File)));
            let mut free: Vec<usize> = (0..file.after.functions.len()).collect();
            for (was, function) in file.before.functions.iter().enumerate() {
                let found = free.iter().position(|is| file.after.functions[*is].name == function.name);
                if let Some(is) = found.map(|found| free.remove(found)) {
                    units.push(((at, Owner::Function(was)), (at, Owner::Function(is))));
                }
            }
        }
        let known: BTreeSet<Unit> = units.iter().map(|(before, _)| *before).collect();
        for (at, file) in self.files.iter().enumerate() {
            let owners: BTreeSet<Owner> =
                file.before.assertions.iter().map(|assertion| assertion.owner).collect();
            for owner in owners.into_iter().filter(|owner| !known.contains(&(at, *owner))) {
                // Nothing stands for it: all of its assertions must be found elsewhere.
                units.push(((at, owner), (at, Owner::Function(usize::MAX))));
            }
        }
        units
    }
}
