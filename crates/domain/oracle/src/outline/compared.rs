//! What a patch took from the tests of its files.

use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::{Excerpt, RepoPath};
use ambit_policy::{Fact, FactKind, Side, Weakening};

use super::check::{Check, Obstacle};
use super::pairing::{self, Pairing, pair};
use super::table::{Table, is_in_a_pattern, is_other_value_of, is_same_row, missing};
use super::weaker::weaker;
use super::{Finding, Outline, Told, Unit};
use crate::collection::Collection;

/// The most facts that are told of one file. One is enough for any policy.
const FACTS_PER_FILE: usize = 64;
/// How many of its checks a test shares with one of another name that is the same test.
const SAME_TEST: f64 = 0.5;

/// How many of the words of its checks a test shares with one of another name that is the same test rewritten.
const SAME_WORDS: f64 = 0.75;
/// How many of the words of its body a test that checks nothing known shares with one of another name.
const SAME_BODY: f64 = 0.8;
/// The most pairs of tests that are held against each other.
const PAIRS: usize = 250_000;

/// One file from both sides.
#[derive(Debug)]
pub(crate) struct Sides<'a> {
    pub(crate) path: &'a RepoPath,
    pub(crate) before: Outline,
    pub(crate) after: Outline,
}

/// A unit with its file.
#[derive(Clone, Copy)]
struct Placed<'a> {
    path: &'a RepoPath,
    unit: &'a Unit,
}

/// What became of the tests of these files. Tests and checks may move between them.
pub(crate) fn compare(files: &[Sides<'_>], collection: &Collection<'_>) -> Vec<Fact> {
    let mut comparison = Comparison {
        collection,
        before: files.iter().flat_map(|file| placed(file.path, &file.before)).collect(),
        after: files.iter().flat_map(|file| placed(file.path, &file.after)).collect(),
        facts: Vec::new(),
        pool: BTreeMap::new(),
    };
    comparison.run();
    let mut facts = comparison.facts;
    facts.extend(findings(files));
    bounded(facts)
}

fn placed<'a>(path: &'a RepoPath, outline: &'a Outline) -> impl Iterator<Item = Placed<'a>> {
    outline.units.iter().map(move |unit| Placed { path, unit })
}

struct Comparison<'a> {
    collection: &'a Collection<'a>,
    before: Vec<Placed<'a>>,
    after: Vec<Placed<'a>>,
    facts: Vec<Fact>,
    /// Checks that came, by what they say, and how many of each.
    pool: BTreeMap<String, u32>,
}

impl<'a> Comparison<'a> {
    fn run(&mut self) {
        let matched = self.matched();
        let taken: BTreeSet<usize> = matched.values().copied().collect();
        let mut pairings: Vec<(Placed<'a>, Placed<'a>, Pairing)> = Vec::new();
        for (one, other) in &matched {
            let (before, after) = (self.before[*one], self.after[*other]);
            pairings.push((before, after, pair(&before.unit.checks, &after.unit.checks)));
        }
        for (_, after, pairing) in &pairings {
            pairing.gained.iter().for_each(|place| self.offer(&after.unit.checks[*place]));
        }
        for (place, placed) in self.after.clone().iter().enumerate() {
            if !taken.contains(&place) {
                placed.unit.checks.iter().for_each(|check| self.offer(check));
            }
        }
        for (before, after, pairing) in pairings {
            self.unit(before, after, &pairing);
        }
        for (place, placed) in self.before.clone().iter().enumerate() {
            if !matched.contains_key(&place) && placed.unit.is_collected {
                self.removed(*placed);
            }
        }
    }

    /// The unit after for each unit before that is found again.
    fn matched(&self) -> BTreeMap<usize, usize> {
        let mut matched = BTreeMap::new();
        let mut free: BTreeSet<usize> = (0..self.after.len()).collect();
        for with_path in [true, false] {
            let mut places: BTreeMap<(Option<&RepoPath>, &str), Vec<usize>> = BTreeMap::new();
            for place in free.iter().rev() {
                let placed = self.after[*place];
                places.entry((with_path.then_some(placed.path), &placed.unit.name)).or_default().push(*place);
            }
            for (place, placed) in self.before.iter().enumerate() {
                let key = (with_path.then_some(placed.path), placed.unit.name.as_str());
                if !matched.contains_key(&place)
                    && let Some(found) = places.get_mut(&key).and_then(Vec::pop)
                {
                    matched.insert(place, found);
                    free.remove(&found);
                }
            }
        }
        self.match_by_checks(&mut matched, &mut free);
        matched
    }

    /// Tests of another name: those that check the same, then those of one file whose checks share most of their words.
    fn match_by_checks(&self, matched: &mut BTreeMap<usize, usize>, free: &mut BTreeSet<usize>) {
        let keys =
            |unit: &Unit| -> BTreeSet<String> { unit.checks.iter().map(Check::resolved_key).collect() };
        let words =
            |unit: &Unit| -> BTreeSet<String> { unit.checks.iter().flat_map(pairing::words).collect() };
        let in_file = |before: Placed<'_>, after: Placed<'_>| before.path == after.path;
        // Of one name, in another class.
        let last = |placed: Placed<'_>| placed.unit.name.rsplit('.').next().map(str::to_owned);
        let namesake = |before, after| in_file(before, after) && last(before) == last(after);
        self.match_alike(matched, free, keys, SAME_TEST, |_, _| true);
        self.match_alike(matched, free, words, SAME_TEST, namesake);
        self.match_alike(matched, free, words, SAME_WORDS, in_file);
        self.match_alike(matched, free, |unit| unit.words.clone(), SAME_BODY, in_file);
    }

    fn match_alike(
        &self,
        matched: &mut BTreeMap<usize, usize>,
        free: &mut BTreeSet<usize>,
        of: impl Fn(&Unit) -> BTreeSet<String>,
        least: f64,
        fits: impl Fn(Placed<'a>, Placed<'a>) -> bool,
    ) {
        let is_lost = |place: &usize| !matched.contains_key(place) && self.before[*place].unit.is_collected;
        let lost: Vec<usize> = (0..self.before.len()).filter(is_lost).collect();
        if lost.len().saturating_mul(free.len()) > PAIRS {
            return;
        }
        let found: Vec<(usize, BTreeSet<String>)> =
            free.iter().map(|place| (*place, of(self.after[*place].unit))).collect();
        let mut scored = Vec::new();
        for place in lost {
            let (before, wanted) = (self.before[place], of(self.before[place].unit));
            for (other, held) in found.iter().filter(|(_, held)| !held.is_empty()) {
                let score = pairing::likeness(&wanted, held);
                if score >= least && fits(before, self.after[*other]) {
                    scored.push((score, place, *other));
                }
            }
        }
        scored.sort_by(|one, other| {
            other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)).then(one.2.cmp(&other.2))
        });
        for (_, place, other) in scored {
            if free.contains(&other) && !matched.contains_key(&place) {
                free.remove(&other);
                matched.insert(place, other);
            }
        }
    }

    fn offer(&mut self, check: &Check) {
        *self.pool.entry(check.resolved_key()).or_default() += 1;
    }

    /// Whether a check that is gone here came elsewhere.
    fn takes(&mut self, check: &Check) -> bool {
        match self.pool.get_mut(&check.resolved_key()).filter(|left| **left > 0) {
            Some(left) => {
                *left -= 1;
                true
            }
            None => false,
        }
    }

    fn unit(&mut self, before: Placed<'a>, after: Placed<'a>, pairing: &Pairing) {
        let has_left = before.path != after.path && self.collection.loses(before.path, after.path);
        if before.unit.is_collected && (has_left || !after.unit.is_collected) {
            let (line, was, is) = (after.unit.line, &before.unit.shown, &after.unit.shown);
            self.tell(FactKind::TestUncollected, after.path, line, Side::After, was, is);
        }
        let (were, are) = (&before.unit.checks, &after.unit.checks);
        let table = Table::that_came(before.unit, after.unit);
        for (one, other) in &pairing.pairs {
            if !table.says(&were[*one], &are[*other]) {
                self.pair(after.path, &were[*one], &are[*other]);
            }
        }
        let mut gained = pairing.gained.iter().map(|place| &are[*place]);
        for check in pairing.lost.iter().map(|place| &were[*place]).filter(|check| !check.is_vacuous()) {
            if self.takes(check) || table.holds(check, are) || is_in_a_pattern(check, are) {
                continue;
            }
            // Another check took its place; whether as a weaker one is told by how much it asks.
            match gained.next() {
                Some(instead) => self.pair(after.path, check, instead),
                None => self.tell(
                    FactKind::AssertionRemoved,
                    before.path,
                    check.line,
                    Side::Before,
                    &check.shown,
                    "",
                ),
            }
        }
        self.obstacles(after.path, &before.unit.obstacles, &after.unit.obstacles, &before.unit.shown);
        for dropped in after.unit.dropped.iter().filter(|dropped| {
            before.unit.asked.contains(&dropped.key) && !after.unit.asked.contains(&dropped.key)
        }) {
            let was = format!("{}?", dropped.key);
            self.tell(dropped.kind, after.path, dropped.line, Side::After, &was, &dropped.shown);
        }
        self.cases(before, after);
        for limit in &before.unit.limits {
            let after_limit = after.unit.limits.iter().find(|other| other.name == limit.name);
            let lower = after_limit.filter(|other| other.value < limit.value);
            if let Some(lower) = lower {
                self.tell(lower.kind, after.path, lower.line, Side::After, &limit.shown, &lower.shown);
            }
        }
    }

    fn pair(&mut self, path: &RepoPath, before: &Check, after: &Check) {
        if let Some(kind) = weaker(before, after) {
            self.tell(kind, path, after.line, Side::After, &before.shown, &after.shown);
        }
        self.obstacles(path, &before.obstacles, &after.obstacles, &before.shown);
    }

    fn obstacles(&mut self, path: &RepoPath, before: &[Obstacle], after: &[Obstacle], was: &str) {
        let mut were: Vec<(FactKind, &str)> =
            before.iter().map(|found| (found.kind, found.key.as_str())).collect();
        for found in after {
            let known = were.iter().position(|other| *other == (found.kind, found.key.as_str()));
            match known {
                Some(place) => drop(were.swap_remove(place)),
                None => self.tell(found.kind, path, found.line, Side::After, was, &found.shown),
            }
        }
    }

    /// A test that is gone, unless all that it checked is checked elsewhere.
    fn removed(&mut self, gone: Placed<'a>) {
        let checks: Vec<&Check> = gone.unit.checks.iter().filter(|check| !check.is_vacuous()).collect();
        let lost = checks.iter().filter(|check| !self.takes(check)).count();
        // One test for each of several builds that became one for all of them.
        let is_left = |other: &Placed<'_>| other.path == gone.path && other.unit.name == gone.unit.name;
        if lost > 0 || (checks.is_empty() && !self.after.iter().any(is_left)) {
            self.tell(FactKind::TestRemoved, gone.path, gone.unit.line, Side::Before, &gone.unit.shown, "");
        }
    }

    fn cases(&mut self, before: Placed<'a>, after: Placed<'a>) {
        let (were, are) = (&before.unit.cases, &after.unit.cases);
        let (lost, gained) = (missing(were, are), missing(are, were));
        if lost.len().saturating_mul(gained.len()) > PAIRS {
            let why = format!("{} changes more rows than are held against each other", after.path);
            self.facts.push(Fact::Unclassified { why });
            return;
        }
        let (mut left, mut gained) = (Vec::new(), gained);
        for case in lost {
            if let Some(place) = gained.iter().position(|other| is_same_row(case, other)) {
                gained.remove(place);
                continue;
            }
            match gained.iter().position(|other| is_other_value_of(case, other)) {
                Some(place) => {
                    let other = gained.remove(place);
                    self.tell(
                        FactKind::ExpectationChanged,
                        after.path,
                        other.line,
                        Side::After,
                        &case.shown,
                        &other.shown,
                    );
                }
                None => left.push(case),
            }
        }
        // The one value that a test ran for may as well stand in it.
        if were.len() == 1 && are.is_empty() {
            return;
        }
        let fewer = left.len().saturating_sub(gained.len());
        for case in left.into_iter().take(fewer) {
            self.tell(FactKind::ParameterDropped, before.path, case.line, Side::Before, &case.shown, "");
        }
    }

    fn tell(&mut self, kind: FactKind, path: &RepoPath, line: u32, side: Side, was: &str, is: &str) {
        self.facts.extend(fact(kind, path, line, side, was, is));
    }
}

fn fact(kind: FactKind, path: &RepoPath, line: u32, side: Side, was: &str, is: &str) -> Option<Fact> {
    if kind == FactKind::SkipMarkerAdded {
        return Some(Fact::SkipMarkerAdded { path: path.clone(), line, marker: is.to_owned() });
    }
    Weakening { path: path.clone(), line, side, was: Excerpt::of(was), is: Excerpt::of(is) }.told_as(kind)
}

/// What came or went that weakens by it. What only moved, from one file to another too, did neither.
fn findings(files: &[Sides<'_>]) -> Vec<Fact> {
    let mut balance: BTreeMap<(FactKind, &str), i64> = BTreeMap::new();
    for file in files {
        for finding in &file.before.findings {
            *balance.entry((finding.kind, &finding.key)).or_default() -= 1;
        }
        for finding in &file.after.findings {
            *balance.entry((finding.kind, &finding.key)).or_default() += 1;
        }
    }
    let mut facts = Vec::new();
    for file in files {
        // Where nothing was before, nothing is taken from what is collected.
        let is_new = file.before.units.is_empty() && file.before.findings.is_empty();
        let sides: [(&[Finding], Told, i64, Side); 2] = [
            (&file.after.findings, Told::WhereAdded, 1, Side::After),
            (&file.before.findings, Told::WhereDropped, -1, Side::Before),
        ];
        for (found, told, sign, side) in sides {
            // The last ones first, so that of several the new one is likelier told.
            for finding in found.iter().rev().filter(|finding| finding.told == told) {
                let Some(left) =
                    balance.get_mut(&(finding.kind, finding.key.as_str())).filter(|left| **left * sign > 0)
                else {
                    continue;
                };
                *left -= sign;
                if is_new && finding.kind == FactKind::TestUncollected {
                    continue;
                }
                let (was, is) = if side == Side::Before {
                    (finding.shown.as_str(), "")
                } else {
                    ("", finding.shown.as_str())
                };
                facts.extend(fact(finding.kind, file.path, finding.line, side, was, is));
            }
        }
    }
    facts
}

fn bounded(mut facts: Vec<Fact>) -> Vec<Fact> {
    facts.sort();
    facts.dedup();
    let mut told: BTreeMap<RepoPath, usize> = BTreeMap::new();
    facts.retain(|fact| {
        let path = match fact {
            Fact::SkipMarkerAdded { path, .. } => Some(path),
            other => other.weakening().map(|weakening| &weakening.path),
        };
        let Some(path) = path else { return true };
        let count = told.entry(path.clone()).or_default();
        *count += 1;
        *count <= FACTS_PER_FILE
    });
    facts
}
