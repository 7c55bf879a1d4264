//! What a patch took from the tests of its files.

use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::{Excerpt, RepoPath};
use ambit_policy::{Fact, FactKind, Side, Weakening};

use super::found::{Assertion, Found, Owner, Place, Reach, Test};
use super::pairing::{Pairing, comparable, pair};
use super::relation::Relation;
use super::strength;

/// One file from both sides.
pub(crate) struct Sides<'a> {
    pub(super) path: &'a RepoPath,
    pub(super) before: Found,
    pub(super) after: Found,
    /// Whether it is a file of tests.
    pub(super) is_test: bool,
}

/// An owner of assertions in one of the files.
pub(super) type Unit = (usize, Owner);

/// A comparison of the tests of some files.
pub(super) struct Comparison<'a, 'p> {
    pub(super) files: &'a [Sides<'p>],
    facts: Vec<Fact>,
    /// Assertions that came, by what they say.
    came: BTreeMap<String, Vec<(usize, usize)>>,
    /// Those of them that took the place of another.
    taken: BTreeSet<(usize, usize)>,
}

/// What is lost within the test that is the same on both sides, and what came instead.
struct Lost {
    file: usize,
    lost: Vec<usize>,
    after_file: usize,
    gained: Vec<usize>,
    waits_more: bool,
}

impl<'a, 'p> Comparison<'a, 'p> {
    pub(super) fn of(files: &'a [Sides<'p>]) -> Vec<Fact> {
        let mut comparison = Self { files, facts: Vec::new(), came: BTreeMap::new(), taken: BTreeSet::new() };
        comparison.run();
        comparison.facts
    }

    fn run(&mut self) {
        let tests = self.matched_tests();
        let units = self.units(&tests);
        let mut open = Vec::new();
        let mut met: BTreeSet<Unit> = BTreeSet::new();
        for (before, after) in &units {
            met.insert(*after);
            open.push(self.within(*before, *after, &tests));
        }
        for (at, file) in self.files.iter().enumerate() {
            for (place, assertion) in file.after.assertions.iter().enumerate() {
                if !met.contains(&(at, assertion.owner)) {
                    self.offer(at, place);
                }
            }
        }
        for lost in &open {
            for place in &lost.gained {
                self.offer(lost.after_file, *place);
            }
        }
        for lost in open {
            self.settle(lost);
        }
        self.tests(&tests);
    }

    fn offer(&mut self, file: usize, place: usize) {
        let assertion = &self.files[file].after.assertions[place];
        for key in [assertion.key(), assertion.skeleton()] {
            self.came.entry(key).or_default().push((file, place));
        }
    }

    /// The assertion elsewhere that says the same.
    fn takes(&mut self, key: &str, may: impl Fn(&Assertion) -> bool) -> Option<(usize, usize)> {
        let files = self.files;
        let found =
            self.came.get(key)?.iter().copied().find(|place| {
                !self.taken.contains(place) && may(&files[place.0].after.assertions[place.1])
            })?;
        self.taken.insert(found);
        Some(found)
    }

    /// Compares what one owner asserts on both sides.
    fn within(
        &mut self,
        before: Unit,
        after: Unit,
        tests: &BTreeMap<(usize, usize), (usize, usize)>,
    ) -> Lost {
        let files = self.files;
        let places = |assertions: &[Assertion], owner: Owner| -> Vec<usize> {
            (0..assertions.len()).filter(|place| assertions[*place].owner == owner).collect()
        };
        let (were, are) = (&files[before.0].before.assertions, &files[after.0].after.assertions);
        let (was_here, is_here) = (places(were, before.1), places(are, after.1));
        let pick = |from: &[Assertion], places: &[usize]| {
            places.iter().map(|place| from[*place].clone()).collect::<Vec<_>>()
        };
        let Pairing { pairs, lost, gained } = pair(&pick(were, &was_here), &pick(are, &is_here));
        let waits_more = match (before.1, after.1) {
            (Owner::Test(was), Owner::Test(is)) if tests.get(&(before.0, was)) == Some(&(after.0, is)) => {
                files[after.0].after.tests[is].awaits > files[before.0].before.tests[was].awaits
            }
            _ => false,
        };
        for (one, other) in pairs {
            let (was, is) = (&were[was_here[one]], &are[is_here[other]]);
            // Fewer callbacks, fewer errors that they are asked for.
            if !(waits_more && was.relation == Relation::Plan) {
                self.changed(after.0, was, is);
            }
        }
        Lost {
            file: before.0,
            lost: lost.into_iter().map(|place| was_here[place]).collect(),
            after_file: after.0,
            gained: gained.into_iter().map(|place| is_here[place]).collect(),
            waits_more,
        }
    }

    /// What is told of an assertion that is the same, or took the place of one.
    fn changed(&mut self, file: usize, before: &Assertion, after: &Assertion) {
        let mut kinds: Vec<FactKind> = strength::told(before, after).into_iter().collect();
        if !after.is_vacuous {
            // `if (err) t.error(err)` is as good as `t.error(err)`.
            let is_asked = after.reach == Reach::Sometimes && is_error(after);
            if after.reach > before.reach && !is_asked {
                kinds.push(FactKind::AssertionUnreachable);
            }
            if after.is_swallowed && !before.is_swallowed {
                kinds.push(FactKind::AssertionSwallowed);
            }
            if before.is_awaited && !after.is_awaited {
                kinds.push(FactKind::TestNotAwaited);
            }
        }
        for kind in kinds {
            self.tell(kind, file, &after.place, Side::After, &before.place.shown, &after.place.shown);
        }
    }

    /// What is lost here and came elsewhere is not lost; of what came here instead each stands for one.
    fn settle(&mut self, lost: Lost) {
        let files = self.files;
        let mut left = Vec::new();
        for place in lost.lost {
            let was = &files[lost.file].before.assertions[place];
            if was.is_vacuous || was.relation == Relation::Never {
                continue;
            }
            let found = self.takes(&was.key(), |_| true).or_else(|| {
                // Another name for what it looks at, in a function that came with the patch.
                self.takes(&was.skeleton(), |after| {
                    matches!(after.owner, Owner::Function(_)) && !after.is_vacuous
                })
            });
            match found {
                Some((file, place)) => self.changed(file, was, &files[file].after.assertions[place]),
                None => left.push(was),
            }
        }
        let free = |taken: &BTreeSet<(usize, usize)>| -> Vec<usize> {
            lost.gained.iter().copied().filter(|place| !taken.contains(&(lost.after_file, *place))).collect()
        };
        for was in left {
            // A callback's error is thrown by what is awaited instead.
            if lost.waits_more && is_error(was) {
                continue;
            }
            let news = free(&self.taken);
            let after = &files[lost.after_file].after.assertions;
            let stands = |place: &usize| comparable(was, &after[*place]);
            let instead = news.into_iter().find(stands);
            match instead {
                Some(place) => {
                    self.taken.insert((lost.after_file, place));
                    self.changed(lost.after_file, was, &after[place]);
                }
                None if was.relation == Relation::Plan && lost.waits_more => {}
                None => {
                    let kind = if was.relation == Relation::Plan {
                        FactKind::AssertionLoosened
                    } else {
                        FactKind::AssertionRemoved
                    };
                    self.tell(kind, lost.file, &was.place, Side::Before, &was.place.shown, "");
                }
            }
        }
    }

    /// Tests that are gone, hidden, doubled, not waited for, or run for fewer values.
    fn tests(&mut self, matched: &BTreeMap<(usize, usize), (usize, usize)>) {
        let files = self.files;
        for (at, file) in files.iter().enumerate() {
            for (place, test) in file.before.tests.iter().enumerate() {
                match matched.get(&(at, place)) {
                    Some(is) => {
                        self.same_test(test, is.0, &files[is.0].after.tests[is.1]);
                        self.end_not_waited_for(test, *is);
                    }
                    None => self.gone(at, place, test),
                }
            }
            self.doubled(at);
        }
    }

    /// A test that was ended by its own callback, ends by itself, and is called back later.
    fn end_not_waited_for(&mut self, before: &Test, (file, place): (usize, usize)) {
        let sides = &self.files[file].after;
        let after = &sides.tests[place];
        let is_late = |assertion: &&Assertion| {
            assertion.owner == Owner::Test(place) && assertion.is_called_back && !assertion.is_vacuous
        };
        if before.takes_end && !after.waits && sides.assertions.iter().any(|assertion| is_late(&assertion)) {
            let (was, is) = (&before.place.shown, &after.place.shown);
            self.tell(FactKind::TestNotAwaited, file, &after.place, Side::After, was, is);
        }
    }

    fn same_test(&mut self, before: &Test, file: usize, after: &Test) {
        if before.is_awaited == Some(true) && after.is_awaited == Some(false) {
            self.tell(
                FactKind::TestNotAwaited,
                file,
                &after.place,
                Side::After,
                &before.place.shown,
                &after.place.shown,
            );
        }
        let fewer_by_table = !before.rows.is_empty() && after.rows.is_empty() && after.table != before.table;
        if fewer_by_table && before.table.is_empty() {
            let is = after.table.clone();
            self.tell(FactKind::ParameterDropped, file, &after.place, Side::After, &before.place.shown, &is);
            return;
        }
        let missing = |of: &[(String, Place)], others: &[(String, Place)]| -> Vec<(String, Place)> {
            let mut others: Vec<&String> = others.iter().map(|(row, _)| row).collect();
            of.iter()
                .filter(|(row, _)| match others.iter().position(|other| *other == row) {
                    Some(at) => {
                        others.swap_remove(at);
                        false
                    }
                    None => true,
                })
                .cloned()
                .collect()
        };
        let (lost, gained) = (missing(&before.rows, &after.rows), missing(&after.rows, &before.rows));
        let changed = if after.rows.len() > before.rows.len() { 0 } else { lost.len().min(gained.len()) };
        for ((was, _), (is, place)) in lost.iter().zip(&gained).take(changed) {
            self.tell(FactKind::ExpectationChanged, file, place, Side::After, was, is);
        }
        let fewer = before.rows.len().saturating_sub(after.rows.len());
        if !after.rows.is_empty() || after.table.is_empty() {
            for (row, place) in lost.iter().rev().take(fewer) {
                self.tell(FactKind::ParameterDropped, file, place, Side::Before, row, "");
            }
        }
    }

    fn gone(&mut self, file: usize, place: usize, test: &Test) {
        let sides = &self.files[file];
        let title = test.titles.last().map_or("", String::as_str);
        let plain = title.trim_matches('\'');
        let is_hidden =
            !title.is_empty() && (sides.after.named.contains(title) || sides.after.named.contains(plain));
        if is_hidden {
            return self.tell(
                FactKind::TestUncollected,
                file,
                &test.place,
                Side::Before,
                &test.place.shown,
                "",
            );
        }
        let path = sides.path;
        let own: Vec<&Assertion> = sides
            .before
            .assertions
            .iter()
            .filter(|assertion| assertion.owner == Owner::Test(place))
            .collect();
        let is_lost = |was: &&&Assertion| {
            self.facts.iter().any(|fact| {
                fact.weakening().is_some_and(|told| {
                    told.line == was.place.line && told.side == Side::Before && told.path == *path
                })
            })
        };
        if (own.is_empty() && test.has_body) || own.iter().any(|was| is_lost(&was)) {
            self.tell(FactKind::TestRemoved, file, &test.place, Side::Before, &test.place.shown, "");
        }
    }

    /// Tests of one name that were fewer before.
    fn doubled(&mut self, file: usize) {
        let sides = &self.files[file];
        let count =
            |tests: &[Test], titles: &[String]| tests.iter().filter(|test| test.titles == titles).count();
        let mut told = BTreeSet::new();
        for test in sides
            .after
            .tests
            .iter()
            .rev()
            .filter(|test| test.titles.last().is_some_and(|title| title.starts_with('\'')))
        {
            let (was, is) =
                (count(&sides.before.tests, &test.titles), count(&sides.after.tests, &test.titles));
            if is > 1 && was == 1 && told.insert(test.titles.clone()) {
                self.tell(FactKind::TestShadowed, file, &test.place, Side::After, "", &test.place.shown);
            }
        }
    }

    fn tell(&mut self, kind: FactKind, file: usize, place: &Place, side: Side, was: &str, is: &str) {
        self.facts.extend(told(kind, self.files[file].path, place.line, side, was, is));
    }
}

/// Whether the assertion only holds that a callback was given no error.
fn is_error(assertion: &Assertion) -> bool {
    let subject = matches!(assertion.subject.as_str(), "err" | "error" | "er" | "e");
    subject
        && (assertion.negated
            || matches!(assertion.expected.first().map(String::as_str), Some("null" | "undefined")))
}

/// The fact of a kind, at its place.
pub(super) fn told(
    kind: FactKind,
    path: &RepoPath,
    line: u32,
    side: Side,
    was: &str,
    is: &str,
) -> Option<Fact> {
    Weakening { path: path.clone(), line, side, was: Excerpt::of(was), is: Excerpt::of(is) }.told_as(kind)
}

/// Whether an assertion may be reached at all, for functions that nothing calls.
pub(super) fn mark_unused(found: &mut Found, written: &BTreeMap<String, u32>) {
    let unused = |owner: Owner| match owner {
        Owner::Function(at) => {
            let function = &found.functions[at];
            !function.is_open && !function.name.is_empty() && !written.contains_key(&function.name)
        }
        _ => false,
    };
    let never: Vec<usize> =
        (0..found.assertions.len()).filter(|at| unused(found.assertions[*at].owner)).collect();
    for at in never {
        found.assertions[at].reach = Reach::Never;
    }
}
