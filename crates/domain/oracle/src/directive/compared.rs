//! Which directives a patch adds, told from both sides of all its files.

use std::collections::BTreeSet;

use ambit_ids::{Excerpt, RepoPath};
use ambit_policy::{Fact, Side, Weakening};

use super::code::{self, Code};
use super::{Directive, Reach};
use crate::source::Source;

/// The most directives that are told of one file. One is enough for any policy.
const TOLD_PER_FILE: usize = 32;

/// The directives on both sides of one file.
pub(crate) struct Sides<'a> {
    path: &'a RepoPath,
    /// The texts; empty where the file is not there.
    texts: (&'a str, &'a str),
    /// The lines of both sides, by their words, where a directive of the other side asks for them.
    lines: (BTreeSet<Vec<String>>, BTreeSet<Vec<String>>),
    /// Those that are not taken for one of the side after yet.
    before: Vec<Directive>,
    after: Vec<Directive>,
}

/// The directives of all files of a patch.
#[derive(Default)]
pub(crate) struct Directives<'a>(Vec<Sides<'a>>);

impl<'a> Sides<'a> {
    pub(crate) fn of(
        path: &'a RepoPath,
        (before, after): (&Source<'a>, &Source<'a>),
        find: impl Fn(&Source<'a>) -> Vec<Directive>,
    ) -> Self {
        let texts = (before.text, after.text);
        let lines = |source: &Source<'a>, asked: &[Directive]| {
            if asked.is_empty() { BTreeSet::new() } else { Code::of(source).lines() }
        };
        let found = (find(before), find(after));
        let lines = (lines(before, &found.1), lines(after, &found.0));
        Self { path, texts, lines, before: found.0, after: found.1 }
    }

    /// Whether the code of a directive of the side before is gone.
    fn has_lost(&self, directive: &Directive) -> bool {
        !self.lines.1.contains(&directive.code)
    }

    /// Whether the code of a directive of the side after is new.
    fn has_gained(&self, directive: &Directive) -> bool {
        !self.lines.0.contains(&directive.code)
    }
}

impl<'a> Directives<'a> {
    pub(crate) fn add(&mut self, sides: Sides<'a>) {
        if !sides.after.is_empty() || !sides.before.is_empty() {
            self.0.push(sides);
        }
    }

    /// What is added. One stays that acts on the same code as before, on its edited line, or on what became of it in another
    /// file of the patch; so does one that silences less there than was silenced.
    pub(crate) fn told(mut self) -> Vec<Fact> {
        let mut facts = Vec::new();
        self.keep(|was, is| was.code == is.code, Within::File);
        self.keep(|was, is| was.code == is.code, Within::Patch);
        let is_edited = |was: &Directive, is: &Directive| code::is_mostly(&was.code, &is.code);
        self.keep(is_edited, Within::File);
        self.keep(is_edited, Within::Patch);
        for sides in &self.0 {
            let added = sides.after.iter().take(TOLD_PER_FILE);
            facts.extend(added.filter_map(|directive| {
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
        for at in 0..self.0.len() {
            for is in std::mem::take(&mut self.0[at].after) {
                let from = match within {
                    Within::File => self.found(at, at, &is, &is_same_code),
                    Within::Patch => (0..self.0.len())
                        .filter(|of| *of != at)
                        .find_map(|of| self.found(of, at, &is, &is_same_code)),
                };
                match from {
                    // What held for a whole file covers any number.
                    Some((of, which)) if self.0[of].before[which].reach == Reach::Place => {
                        self.0[of].before.swap_remove(which);
                    }
                    Some(_) => {}
                    None => self.0[at].after.push(is),
                }
            }
        }
    }

    /// The directive of the side before of the file `of` that this one of the file `at` was.
    fn found(
        &self,
        of: usize,
        at: usize,
        is: &Directive,
        is_same_code: &impl Fn(&Directive, &Directive) -> bool,
    ) -> Option<(usize, usize)> {
        let (from, to) = (&self.0[of], &self.0[at]);
        let which = from.before.iter().position(|was| {
            was.covers(is)
                && match was.reach {
                    Reach::File => of == at || is_renamed(from, to),
                    Reach::Place if was.code == is.code => is_same_code(was, is),
                    Reach::Place => is_same_code(was, is) && from.has_lost(was) && to.has_gained(is),
                }
        });
        which.map(|which| (of, which))
    }
}

/// Where the other side of a directive is looked for.
#[derive(Clone, Copy)]
enum Within {
    File,
    Patch,
}

/// Whether the one file is gone, the other one new, and half of its lines those of the first.
fn is_renamed(from: &Sides<'_>, to: &Sides<'_>) -> bool {
    if !from.texts.1.is_empty() || !to.texts.0.is_empty() {
        return false;
    }
    let lines: BTreeSet<&str> = from.texts.0.lines().map(str::trim).collect();
    let kept = to.texts.1.lines().filter(|line| lines.contains(line.trim())).count();
    2 * kept >= to.texts.1.lines().count()
}

fn told(path: &RepoPath, directive: &Directive, was: &str) -> Option<Fact> {
    let (path, line) = (path.clone(), directive.line);
    if directive.in_tests {
        return Some(Fact::SkipMarkerAdded { path, line, marker: directive.name.to_owned() });
    }
    let place =
        Weakening { path, line, side: Side::After, was: Excerpt::of(was), is: Excerpt::of(&directive.shown) };
    Some(if directive.is_blanket() {
        Fact::BlanketDirectiveAdded(place)
    } else {
        Fact::DirectiveAdded(place)
    })
}
