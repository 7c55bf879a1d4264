//! Everything that is true of a patch's files of JavaScript and TypeScript.

use std::collections::BTreeMap;

use ambit_ids::RepoPath;
use ambit_policy::{Fact, FactKind, Side};

use super::access;
use super::compared::{Comparison, Sides, told};
use super::found::{Found, Marker, Place};

/// The most facts that are told of one file. One is enough for any policy.
const FACTS_PER_FILE: usize = 64;

/// The files of a patch from both sides.
#[derive(Default)]
pub(crate) struct Trees<'a> {
    tests: Vec<Sides<'a>>,
    sources: Vec<Sides<'a>>,
}

impl<'a> Trees<'a> {
    pub(crate) fn add(&mut self, sides: Sides<'a>) {
        if sides.is_test { self.tests.push(sides) } else { self.sources.push(sides) }
    }

    pub(crate) fn facts(&self) -> Vec<Fact> {
        let mut facts = Comparison::of(&self.tests);
        for sides in &self.tests {
            facts.extend(stand_ins(sides));
            facts.extend(judged(sides));
            facts.extend(repeated(sides));
        }
        for sides in &self.sources {
            facts.extend(detected(sides));
            facts.extend(widened(sides));
            facts.extend(access::facts(sides));
        }
        facts.extend(self.markers());
        bounded(facts)
    }

    /// Markers that the patch adds. One that moves with its test is not added.
    fn markers(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        let mut left: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        let all = || self.tests.iter().chain(&self.sources);
        for marker in all().flat_map(|sides| &sides.before.markers) {
            *left.entry((marker.name, by(marker))).or_default() += 1;
        }
        let mut added: Vec<(&Sides<'_>, &Marker)> = Vec::new();
        for sides in all() {
            // In a source file the other words have other meanings.
            for marker in sides.after.markers.iter().filter(|marker| sides.is_test || marker.is_declared) {
                match left.get_mut(&(marker.name, by(marker))).filter(|left| **left > 0) {
                    Some(left) => *left -= 1,
                    None => added.push((sides, marker)),
                }
            }
        }
        for (sides, marker) in added {
            let is_known = sides.before.tests.iter().any(|test| test.titles.contains(&marker.anchor));
            if marker.depends && !marker.anchor.is_empty() && !is_known {
                continue;
            }
            // A test that is called otherwise keeps its marker.
            let renamed = sides.before.markers.iter().find(|was| {
                let gone = |found: &Found| !found.tests.iter().any(|test| test.titles.contains(&was.anchor));
                was.name == marker.name
                    && !was.anchor.is_empty()
                    && left.get(&(was.name, by(was))).is_some_and(|left| *left > 0)
                    && gone(&sides.after)
            });
            if let Some(was) = renamed {
                left.entry((was.name, by(was))).and_modify(|left| *left -= 1);
                continue;
            }
            let (path, line) = (sides.path.clone(), marker.place.line);
            facts.push(Fact::SkipMarkerAdded { path, line, marker: marker.name.to_owned() });
        }
        facts
    }
}

/// By what a marker is found again.
pub(super) fn by(marker: &Marker) -> &str {
    if marker.anchor.is_empty() { &marker.place.shown } else { &marker.anchor }
}

/// What stands in for the very thing that the file tests.
fn stand_ins(sides: &Sides<'_>) -> Vec<Fact> {
    let name = String::from_utf8_lossy(sides.path.file_name()).to_lowercase();
    let subject =
        name.split('.').next().unwrap_or("").trim_start_matches("test_").trim_end_matches("_test").to_owned();
    let asserted = |of: &str| {
        let call = format!("{of}(");
        sides.after.assertions.iter().any(|assertion| assertion.subject.contains(&call))
    };
    let is_subject = |module: &str| {
        let base = module.rsplit('/').next().unwrap_or("").split('.').next().unwrap_or("");
        module.starts_with('.') && base.to_lowercase() == subject
    };
    let news =
        sides.after.mocks.iter().filter(|mock| !sides.before.mocks.iter().any(|was| was.of == mock.of));
    news.filter(|mock| match mock.is_module {
        true => is_subject(&mock.of),
        false => {
            mock.of.split('.').next().is_some_and(|of| of.to_lowercase() == subject) || asserted(&mock.of)
        }
    })
    .filter_map(|mock| {
        told(FactKind::AssertionTautological, sides.path, mock.place.line, Side::After, "", &mock.place.shown)
    })
    .collect()
}

/// A model that a test asks, which it did not ask before.
fn judged(sides: &Sides<'_>) -> Option<Fact> {
    let first = sides.after.models.first().filter(|_| sides.before.models.is_empty())?;
    told(FactKind::GateJudgedByModel, sides.path, first.line, Side::After, "", &first.shown)
}

/// A test that is run again more often than before where it fails.
fn repeated(sides: &Sides<'_>) -> Option<Fact> {
    let most = |found: &Found| found.retries.iter().map(|(number, _)| *number).max().unwrap_or_default();
    let (number, place) = sides.after.retries.iter().max_by_key(|(number, _)| *number)?;
    if *number <= most(&sides.before) {
        return None;
    }
    told(FactKind::AssertionSwallowed, sides.path, place.line, Side::After, "", &place.shown)
}

/// Places that the side before does not have.
pub(super) fn added<'f>(before: &[Place], after: &'f [Place]) -> Vec<&'f Place> {
    let mut known: Vec<&str> = before.iter().map(|place| place.shown.as_str()).collect();
    let is_new = |place: &&Place| match known.iter().position(|shown| *shown == place.shown) {
        Some(at) => {
            known.swap_remove(at);
            false
        }
        None => true,
    };
    after.iter().filter(is_new).collect()
}

fn detected(sides: &Sides<'_>) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (kind, before, after) in [
        (FactKind::TestDetected, &sides.before.detections, &sides.after.detections),
        (FactKind::RunnerChanged, &sides.before.endings, &sides.after.endings),
    ] {
        let news = added(before, after).into_iter();
        facts.extend(
            news.filter_map(|place| told(kind, sides.path, place.line, Side::After, "", &place.shown)),
        );
    }
    facts
}

/// Queries that are no longer held to a tenant.
fn widened(sides: &Sides<'_>) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut left: Vec<&str> =
        sides.after.predicates.iter().map(|(predicate, _)| predicate.as_str()).collect();
    for (predicate, place) in &sides.before.predicates {
        if let Some(at) = left.iter().position(|other| other == predicate) {
            left.swap_remove(at);
            continue;
        }
        let within = predicate.rsplit_once(' ').map_or("", |(within, _)| within);
        let (within, is_open) = match predicate.strip_suffix(" or another") {
            Some(plain) => (plain.rsplit_once(' ').map_or("", |(within, _)| within), true),
            None => (within, false),
        };
        let asks = |found: &Found| found.queries.iter().filter(|query| *query == within).count();
        if !is_open && asks(&sides.after) >= asks(&sides.before) {
            facts.extend(told(
                FactKind::TenancyWidened,
                sides.path,
                place.line,
                Side::Before,
                &place.shown,
                "",
            ));
        }
    }
    facts
}

/// So many facts of each file that no patch drowns what is told.
fn bounded(facts: Vec<Fact>) -> Vec<Fact> {
    let mut count: BTreeMap<RepoPath, usize> = BTreeMap::new();
    let path = |fact: &Fact| match fact {
        Fact::SkipMarkerAdded { path, .. } => Some(path.clone()),
        other => other.weakening().map(|told| told.path.clone()),
    };
    facts
        .into_iter()
        .filter(|fact| {
            path(fact).is_none_or(|path| {
                let told = count.entry(path).or_default();
                *told += 1;
                *told <= FACTS_PER_FILE
            })
        })
        .collect()
}
