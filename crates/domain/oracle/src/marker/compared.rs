//! Which markers a patch adds, told from both sides of all its files.

use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::RepoPath;
use ambit_policy::Fact;

use super::found::Marker;
use crate::source::Source;

/// The most markers that are told of one file. One is enough for any policy.
const MARKERS_PER_FILE: usize = 32;

/// By what a marker is recognised: its name, and the test that it acts on or else its line.
type Identity<'a> = (&'static str, &'a str);

/// The markers on both sides of one file, with their lines.
pub(crate) struct Sides<'a> {
    before: Vec<(Marker, &'a str)>,
    after: Vec<(Marker, &'a str, u32)>,
    /// The words before, where a marker asks whether its test was there.
    known: BTreeSet<String>,
}

/// The markers that a patch adds to some files and takes from others.
#[derive(Default)]
pub(crate) struct Markers {
    gained: Vec<(RepoPath, u32, &'static str, String)>,
    lost: BTreeMap<(&'static str, String), u32>,
}

impl<'a> Sides<'a> {
    pub(crate) fn of(
        before: &Source<'a>,
        after: &Source<'a>,
        find: impl Fn(&Source<'a>) -> Vec<Marker>,
    ) -> Self {
        let with_line = |marker: Marker| {
            let (text, line) = (after.line_text(marker.offset), after.line(marker.offset));
            (marker, text, line)
        };
        let found: Vec<_> = find(after).into_iter().map(with_line).collect();
        let asks = found.iter().any(|(marker, ..)| marker.fits_new_tests);
        let words = before.code.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let known = if asks { words.map(str::to_owned).collect() } else { BTreeSet::new() };
        let before = find(before).into_iter().map(|marker| {
            let text = before.line_text(marker.offset);
            (marker, text)
        });
        Self { before: before.collect(), after: found, known }
    }

    /// Whether the marker is where it belongs: on a test that the patch brings.
    fn is_at_home(&self, marker: &Marker) -> bool {
        marker.fits_new_tests && !marker.anchor.is_empty() && !self.known.contains(&marker.anchor)
    }
}

impl Markers {
    /// Compares both sides of one file: a marker stays where as many of its kind act on the same test as before.
    pub(crate) fn compare(&mut self, path: &RepoPath, sides: &Sides<'_>) {
        let mut left: BTreeMap<Identity<'_>, BTreeMap<&str, u32>> = BTreeMap::new();
        for (marker, line_text) in &sides.before {
            let lines = left.entry((marker.name, &marker.anchor)).or_default();
            *lines.entry(line_text).or_default() += 1;
        }
        // Those on the same line first, so that of several the new one is told.
        let moved: Vec<_> = sides
            .after
            .iter()
            .filter(|(marker, line_text, _)| {
                let lines = left.get_mut(&(marker.name, marker.anchor.as_str()));
                !lines.is_some_and(|lines| take(lines, line_text))
            })
            .collect();
        let mut told = 0;
        for (marker, line_text, line) in moved {
            let lines = left.get_mut(&(marker.name, marker.anchor.as_str()));
            let stays = lines.is_some_and(|lines| {
                let any = lines.keys().next().copied();
                any.is_some_and(|any| take(lines, any))
            });
            if !stays && !sides.is_at_home(marker) && told < MARKERS_PER_FILE {
                told += 1;
                let by = if marker.anchor.is_empty() { line_text } else { marker.anchor.as_str() };
                self.gained.push((path.clone(), *line, marker.name, by.to_owned()));
            }
        }
        for ((name, anchor), lines) in left {
            for (line_text, count) in lines {
                let by = if anchor.is_empty() { line_text } else { anchor };
                *self.lost.entry((name, by.to_owned())).or_default() += count;
            }
        }
    }

    /// What is added, without what only moved from one file to another.
    pub(crate) fn added(mut self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (path, line, name, by) in self.gained {
            match self.lost.get_mut(&(name, by)).filter(|left| **left > 0) {
                Some(left) => *left -= 1,
                None => facts.push(Fact::SkipMarkerAdded { path, line, marker: name.to_owned() }),
            }
        }
        facts
    }
}

/// Takes one from the count of a line; whether there was one.
fn take(lines: &mut BTreeMap<&str, u32>, line_text: &str) -> bool {
    let Some(count) = lines.get_mut(line_text) else { return false };
    *count -= 1;
    if *count == 0 {
        lines.remove(line_text);
    }
    true
}
