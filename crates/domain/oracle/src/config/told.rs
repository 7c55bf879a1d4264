//! What was found, each with its place.

use std::collections::BTreeMap;

use ambit_ids::{Excerpt, RepoPath};
use ambit_policy::{Fact, FactKind, Side, Weakening};

/// The most facts of one kind that are told about one file: more of them say nothing more.
const MOST_OF_A_KIND: usize = 32;

/// A place in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot<'a> {
    pub(super) path: &'a RepoPath,
    pub(super) line: u32,
    pub(super) side: Side,
}

impl<'a> Spot<'a> {
    pub(super) const fn before(path: &'a RepoPath, line: u32) -> Self {
        Self { path, line, side: Side::Before }
    }

    pub(super) const fn after(path: &'a RepoPath, line: u32) -> Self {
        Self { path, line, side: Side::After }
    }
}

/// Facts as they are found.
#[derive(Default)]
pub(super) struct Told {
    facts: Vec<Fact>,
    counts: BTreeMap<(RepoPath, FactKind), usize>,
}

impl Told {
    pub(super) fn tell(&mut self, kind: FactKind, spot: Spot<'_>, was: &str, is: &str) {
        let count = self.counts.entry((spot.path.clone(), kind)).or_default();
        *count += 1;
        if *count > MOST_OF_A_KIND {
            return;
        }
        let Spot { path, line, side } = spot;
        let weakening =
            Weakening { path: path.clone(), line, side, was: Excerpt::of(was), is: Excerpt::of(is) };
        self.facts.extend(weakening.told_as(kind));
    }

    pub(super) fn unclassified(&mut self, why: String) {
        self.facts.push(Fact::Unclassified { why });
    }

    pub(super) fn into_facts(self) -> Vec<Fact> {
        self.facts
    }
}
