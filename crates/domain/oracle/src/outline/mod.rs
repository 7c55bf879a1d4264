//! What a file holds for tests, told in the same words for every language, and what became of it.
//!
//! A reader of a language makes an [`Outline`] of each side of a file. [`compare`](compared::compare) holds the outlines of all
//! files of a patch against each other: tests are found again by name and else by what they check, checks by what they
//! say and else by what they look at.

mod check;
mod compared;
mod pairing;
mod spelling;
mod table;
mod terms;
mod weaker;

pub(crate) use check::{Check, Obstacle, Relation};
pub(crate) use compared::{Sides, compare};
pub(crate) use terms::{Bindings, alternatives, is_literal, squeezed, top_level};
pub(crate) use weaker::number as amount;

use std::collections::BTreeSet;

use ambit_policy::FactKind;

/// What one side of a file holds for tests.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// Tests, and functions of test code that check something.
    pub(crate) units: Vec<Unit>,
    /// Things that weaken by being there, wherever they stand.
    pub(crate) findings: Vec<Finding>,
}

/// A test, or a function of test code.
#[derive(Debug, Default)]
pub(crate) struct Unit {
    /// Its name, without the modules or classes around it.
    pub(crate) name: String,
    /// The line of its declaration, from 1.
    pub(crate) line: u32,
    /// Its declaration, as it is shown.
    pub(crate) shown: String,
    /// Whether the runner finds it.
    pub(crate) is_collected: bool,
    /// What it checks, in order.
    pub(crate) checks: Vec<Check>,
    /// What keeps the whole of it from being built or run.
    pub(crate) obstacles: Vec<Obstacle>,
    /// The values that it runs for.
    pub(crate) cases: Vec<Case>,
    /// Limits that bind the run itself: how many values a generator makes, after how long a test fails.
    pub(crate) limits: Vec<Limit>,
    /// The words of its body, where it checks nothing that is known: by them it is found again under another name.
    pub(crate) words: BTreeSet<String>,
    /// Calls whose failure fails it.
    pub(crate) asked: BTreeSet<String>,
    /// Calls whose outcome it drops: each is a weakening where its failure failed the test before.
    pub(crate) dropped: Vec<Obstacle>,
}

impl Unit {
    /// Keeps the words of a body that checks nothing.
    pub(crate) fn keep_words(&mut self, body: &str) {
        if self.checks.is_empty() {
            let words = body.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            self.words = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
        }
    }
}

/// One value of a parametrised test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    /// The line, from 1.
    pub(crate) line: u32,
    /// Its cells, without white space.
    pub(crate) cells: Vec<String>,
    /// Its text, as it is shown.
    pub(crate) shown: String,
}

/// The rows of one table without those that it says twice.
pub(crate) fn distinct(mut rows: Vec<Case>) -> Vec<Case> {
    let mut seen = BTreeSet::new();
    rows.retain(|row| seen.insert(row.cells.clone()));
    rows
}

/// A number that says how hard a test tries.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limit {
    /// What it limits.
    pub(crate) name: &'static str,
    /// The line, from 1.
    pub(crate) line: u32,
    /// Its text, as it is shown.
    pub(crate) shown: String,
    /// The number; a smaller one tests less.
    pub(crate) value: f64,
    /// What is told where it is lower.
    pub(crate) kind: FactKind,
}

/// Something that weakens by being there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// What is told.
    pub(crate) kind: FactKind,
    /// Told where it comes, or where it goes.
    pub(crate) told: Told,
    /// The line, from 1.
    pub(crate) line: u32,
    /// By what it is found again on the other side.
    pub(crate) key: String,
    /// Its text, as it is shown.
    pub(crate) shown: String,
}

/// Which of both sides of a patch a finding weakens on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Where it is there after and was not before.
    WhereAdded,
    /// Where it was there before and is not after.
    WhereDropped,
}
