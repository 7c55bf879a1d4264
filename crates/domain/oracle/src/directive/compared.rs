//! Which directives a patch adds, told from both sides of all its files.

use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::{Excerpt, RepoPath};
use ambit_policy::{Fact, Side, Weakening};

use super::code::{self, Code};
use super::{Directive, Reach};
use crate::source::Source;

/// The most directives that are told of one file. One is enough for any policy.
const TOLD_PER_FILE: usize = 32;
/// The most directives of a patch that are looked for on edited lines and in other files; each further one is told.
const COMPARED: usize = 1_000;
/// The most directives of one file, and of all, that are taken for where others came from.
const ORIGINS_PER_FILE: usize = 500;
const ORIGINS: usize = 4_000;
/// The most pairs of files that are compared as a whole, to find those that were renamed.
const RENAMES: usize = 200;

/// The directives on both sides of one file.
pub(crate) struct Sides<'a> {
    path: &'a RepoPath,
    /// The texts; empty where the file is not there.
    texts: (&'a str, &'a str),
    /// The lines of both sides, by their words, where a directive of the other side asks for them.
    lines: (BTreeSet<Vec<String>>, BTreeSet<Vec<String>>),
    /// Those that none of the side after was taken for yet.
    before: Vec<Directive>,
    after: Vec<Directive>,
}

/// The directives of all files of a patch.
#[derive(Default)]
pub(crate) struct Directives<'a> {
    files: Vec<Sides<'a>>,
    renames: usize,
}

impl<'a> Sides<'a> {
    pub(crate) fn of(
        path: &'a RepoPath,
        (before, after): (&Source<'a>, &Source<'a>),
        find: impl Fn(&Source<'a>) -> Vec<Directive>,
    ) -> Self {
        let texts = (before.text, after.text);
        let (before_found, after_found) = changed(&find(before), &find(after));
        let lines = |source: &Source<'a>, asked: &[Directive]| {
            if asked.is_empty() { BTreeSet::new() } else { Code::of(source).lines() }
        };
        let lines = (lines(before, &after_found), lines(after, &before_found));
        Self { path, texts, lines, before: before_found, after: after_found }
    }
}

/// The directives of both sides without those that are on both.
fn changed(before: &[Directive], after: &[Directive]) -> (Vec<Directive>, Vec<Directive>) {
    let mut there: BTreeMap<_, u32> = BTreeMap::new();
    for directive in before {
        *there.entry(directive.key()).or_default() += 1;
    }
    let mut stays: BTreeMap<_, u32> = BTreeMap::new();
    let mut gained = Vec::new();
    for directive in after {
        match there.get_mut(&directive.key()).filter(|left| **left > 0) {
            Some(left) => {
                *left -= 1;
                *stays.entry(directive.key()).or_default() += 1;
            }
            None => gained.push(directive.clone()),
        }
    }
    let mut lost = Vec::new();
    for directive in before {
        let stayed = stays.get_mut(&directive.key()).filter(|left| **left > 0);
        // What holds for a file covers what comes beside it, too.
        let is_wide = directive.reach == Reach::File;
        match stayed {
            Some(left) if !is_wide => *left -= 1,
            _ if lost.len() < ORIGINS_PER_FILE => lost.push(directive.clone()),
            _ => {}
        }
    }
    (lost, gained)
}

impl<'a> Directives<'a> {
    pub(crate) fn add(&mut self, sides: Sides<'a>) {
        if !sides.after.is_empty() || !sides.before.is_empty() {
            self.files.push(sides);
        }
    }

    /// What is added. One stays that acts on the same code as before, on its edited line, or on what became of it in another
    /// file of the patch; so does one that silences less there than was silenced.
    pub(crate) fn told(mut self) -> Vec<Fact> {
        let mut room = ORIGINS;
        for sides in &mut self.files {
            sides.before.truncate(room);
            room -= sides.before.len();
        }
        let same = |was: &Directive, is: &Directive| was.code == is.code;
        let edited = |was: &Directive, is: &Directive| code::is_mostly(&was.code, &is.code);
        self.keep(same, Within::File);
        self.keep(same, Within::Patch);
        self.keep(edited, Within::File);
        self.keep(edited, Within::Patch);
        let mut facts = Vec::new();
        for sides in &self.files {
            let added = sides.after.iter().take(TOLD_PER_FILE);
            facts.extend(added.map(|directive| {
                let was = sides
                    .before
                    .iter()
                    .find(|was| was.name == directive.name && was.code == directive.code)
                    .map_or("", |was| was.shown.as_str());
                told(sides.path, directive, was)
            }));
        }
        facts
    }

    /// Takes out the pairs of directives that are the same one, and those of the side after that a wider one covered.
    fn keep(&mut self, is_same_code: impl Fn(&Directive, &Directive) -> bool, within: Within) {
        let mut room = COMPARED;
        for at in 0..self.files.len() {
            for is in std::mem::take(&mut self.files[at].after) {
                let from = match within {
                    _ if room == 0 => None,
                    Within::File => self.found(at, at, &is, &is_same_code),
                    Within::Patch => {
                        let others = (0..self.files.len()).filter(|of| *of != at);
                        others.into_iter().find_map(|of| self.found(of, at, &is, &is_same_code))
                    }
                };
                room = room.saturating_sub(1);
                match from {
                    // What held for a whole file covers any number.
                    Some((of, which)) if self.files[of].before[which].reach == Reach::Place => {
                        self.files[of].before.swap_remove(which);
                    }
                    Some(_) => {}
                    None => self.files[at].after.push(is),
                }
            }
        }
    }

    /// The directive of the side before of the file `of` that this one of the file `at` was.
    fn found(
        &mut self,
        of: usize,
        at: usize,
        is: &Directive,
        is_same_code: &impl Fn(&Directive, &Directive) -> bool,
    ) -> Option<(usize, usize)> {
        for which in 0..self.files[of].before.len() {
            let (from, to) = (&self.files[of], &self.files[at]);
            let was = &from.before[which];
            if !was.covers(is) {
                continue;
            }
            let stays = match was.reach {
                Reach::File => of == at || self.is_renamed(of, at),
                Reach::Place if was.code == is.code => is_same_code(was, is),
                // The old line is gone and the new one is new, or it is another line that is much alike.
                Reach::Place => {
                    is_same_code(was, is)
                        && !from.lines.1.contains(&was.code)
                        && !to.lines.0.contains(&is.code)
                }
            };
            if stays {
                return Some((of, which));
            }
        }
        None
    }

    /// Whether the one file is gone, the other one new, and half of its lines those of the first.
    fn is_renamed(&mut self, from: usize, to: usize) -> bool {
        let (was, is) = (&self.files[from].texts, &self.files[to].texts);
        if !was.1.is_empty() || !is.0.is_empty() || self.renames == RENAMES {
            return false;
        }
        self.renames += 1;
        let lines: BTreeSet<&str> = was.0.lines().map(str::trim).collect();
        let kept = is.1.lines().filter(|line| lines.contains(line.trim())).count();
        2 * kept >= is.1.lines().count()
    }
}

/// Where the other side of a directive is looked for.
#[derive(Clone, Copy)]
enum Within {
    File,
    Patch,
}

fn told(path: &RepoPath, directive: &Directive, was: &str) -> Fact {
    let (path, line) = (path.clone(), directive.line);
    if directive.in_tests {
        return Fact::SkipMarkerAdded { path, line, marker: directive.name.to_owned() };
    }
    let place =
        Weakening { path, line, side: Side::After, was: Excerpt::of(was), is: Excerpt::of(&directive.shown) };
    if directive.is_blanket() { Fact::BlanketDirectiveAdded(place) } else { Fact::DirectiveAdded(place) }
}
