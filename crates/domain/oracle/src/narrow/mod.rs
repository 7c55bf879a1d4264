//! Leaves out of both sides of a file the functions that are the same on both and bear on nothing that is not.
//!
//! What a function tells is its own text, seen in the light of the names that the rest of the file declares. One whose text
//! stands unchanged in the same scope, and which neither names nor is named by anything that changed, tells the same on both
//! sides; and what is the same on both sides is no fact. Of such functions nothing but the ends of their lines is
//! left, so that every other place keeps its line, and what is left is parsed and read. Wherever any of that is in doubt the
//! whole of both sides is read.

mod items;
mod matching;
mod names;

use std::collections::BTreeSet;
use std::ops::Range;

use tree_sitter::Tree;

use crate::source::Language;
pub(crate) use items::Item;
use items::Kinds;
pub(crate) use matching::{Matched, gaps, matched};
pub(crate) use names::words;

/// The share of a text that is worth leaving out: what is left is parsed once more.
pub(crate) const WORTH_IT: (usize, usize) = (2, 5);

/// Both texts without what is the same.
pub(crate) struct Narrowed {
    pub(crate) before: Shorter,
    pub(crate) after: Shorter,
    /// What functions of Python were called that were left out.
    pub(crate) functions: BTreeSet<String>,
    kinds: Kinds,
}

/// A text of which nothing but ends of lines is left in some places.
pub(crate) struct Shorter {
    pub(crate) text: String,
    pub(crate) places: Vec<Range<usize>>,
}

/// Both sides without what is the same. `None` where too little is, or where it cannot be told.
pub(crate) fn narrowed(
    language: Language,
    (before, after): (&str, &str),
    tree: &Tree,
    is_test: bool,
) -> Option<Narrowed> {
    let kinds = Kinds::of(language)?;
    if before.is_empty() || tree.root_node().has_error() {
        return None;
    }
    let items = items::collect(&kinds, tree, after);
    let matched = matched(&items, before, after)?;
    let left_out = names::unrelated(language, &matched, (before, after), is_test)?;
    let bytes: usize = left_out.iter().map(|item| item.in_after.len()).sum();
    if bytes * WORTH_IT.1 < after.len() * WORTH_IT.0 {
        return None;
    }
    let was = left_out.iter().map(|item| &item.in_before);
    let is = left_out.iter().map(|item| &item.in_after);
    let mut functions = BTreeSet::new();
    for item in left_out.iter().filter(|_| language == Language::Python) {
        names::declared_behind(&["def"], &after[item.in_after.clone()], &mut functions);
    }
    Some(Narrowed {
        functions: functions.into_iter().map(str::to_owned).collect(),
        before: Shorter::without(before, was, kinds.filler),
        after: Shorter::without(after, is, kinds.filler),
        kinds,
    })
}

impl Narrowed {
    /// Whether what was left out stood in the same scopes on both sides, and in the middle of nothing else.
    pub(crate) fn is_sound(&self, before: &Tree, after: &Tree) -> bool {
        let scopes = |tree: &Tree, side: &Shorter| {
            let is_read = !tree.root_node().has_error();
            is_read.then(|| items::scopes(&self.kinds, tree, &side.text, &side.places))?
        };
        let before = scopes(before, &self.before);
        before.is_some() && before == scopes(after, &self.after)
    }
}

impl Shorter {
    /// The text without what stands in some places. Every line keeps its number, and a block what it may need to hold.
    pub(crate) fn without<'r>(
        text: &str,
        places: impl Iterator<Item = &'r Range<usize>>,
        filler: &str,
    ) -> Self {
        let mut shorter = Self { text: String::with_capacity(text.len()), places: Vec::new() };
        let mut rest = 0;
        for place in places {
            shorter.text.push_str(&text[rest..place.start]);
            let start = shorter.text.len();
            shorter.text.push_str(filler);
            shorter.text.extend(text[place.clone()].chars().filter(|c| *c == '\n'));
            shorter.places.push(start..shorter.text.len());
            rest = place.end;
        }
        shorter.text.push_str(&text[rest..]);
        shorter
    }
}

#[cfg(test)]
#[allow(dead_code, reason = "the same files are measured")]
#[path = "../../examples/cost/file.rs"]
mod file;

#[cfg(test)]
mod tests;
