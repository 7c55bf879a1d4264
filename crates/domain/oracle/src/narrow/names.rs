//! Which functions neither name nor are named by anything that changed.

use std::collections::BTreeSet;

use super::matching::{Matched, gaps};
use crate::source::Language;

/// How often what is kept is looked through for what it names.
const ROUNDS: usize = 8;

/// Words that tell a reader something about the whole of a file, wherever they stand.
const OF_THE_FILE: [&str; 9] = [
    "await",
    "asyncio",
    "anyio",
    "trio",
    "tornado",
    "gen_test",
    "run_until_complete",
    "pytestmark",
    "IsolatedAsyncioTestCase",
];
/// Words between which and a bracket no method of Java is declared.
const NO_TYPES: [&str; 8] = ["return", "new", "throw", "else", "case", "yield", "assert", "instanceof"];

/// What stands in the places that changed.
#[derive(Default)]
struct Changed<'t> {
    /// All words.
    named: BTreeSet<&'t str>,
    /// Functions that are declared there.
    declared: BTreeSet<&'t str>,
    /// What is bound there for the whole module.
    constants: BTreeSet<&'t str>,
    /// Whether any of them may check something for others.
    may_check: bool,
}

/// The functions that can be left out. `None` where what changed bears on all of them.
pub(super) fn unrelated<'t>(
    language: Language,
    matched: &[Matched<'t>],
    (before, after): (&'t str, &'t str),
    is_test: bool,
) -> Option<Vec<Matched<'t>>> {
    let mut kept = vec![false; matched.len()];
    let mut changed = Changed::default();
    for (place, (was, is)) in gaps(matched, before.len(), after.len()).into_iter().enumerate() {
        if before[was.clone()] == after[is.clone()] {
            continue;
        }
        for text in [&before[was], &after[is]] {
            if bears_on_all(language, text, is_test) {
                return None;
            }
            changed.read(language, text);
        }
        // What stands beside a change may be taken for a part of it.
        kept.iter_mut().take(place + 1).skip(place.saturating_sub(1)).for_each(|kept| *kept = true);
    }
    let text = |at: usize| &after[matched[at].in_after.clone()];
    for (at, kept) in kept.iter_mut().enumerate() {
        *kept = *kept || changed.bears_on(language, matched[at].name, text(at), is_test);
    }
    // What is kept is read in the light of the functions that it names.
    let mut seen = vec![false; matched.len()];
    for _ in 0..ROUNDS {
        let fresh: Vec<usize> = (0..matched.len()).filter(|at| kept[*at] && !seen[*at]).collect();
        if fresh.is_empty() {
            let left = matched.iter().zip(kept).filter(|(_, is_kept)| !is_kept);
            return Some(left.map(|(item, _)| item.clone()).collect());
        }
        for at in fresh {
            seen[at] = true;
            changed.named.extend(words(text(at)));
        }
        for (at, kept) in kept.iter_mut().enumerate() {
            *kept = *kept || changed.names(language, matched[at].name, text(at), is_test);
        }
    }
    None
}

impl<'t> Changed<'t> {
    fn read(&mut self, language: Language, text: &'t str) {
        self.named.extend(words(text));
        self.may_check |= may_check(language, text);
        match language {
            Language::Python => {
                declared_behind(&["def", "class"], text, &mut self.declared);
                for line in text.lines().filter(|line| !line.starts_with([' ', '\t'])) {
                    let is_bound = |name: &&str| {
                        line.split_once(*name)
                            .is_some_and(|(_, rest)| rest.trim_start().starts_with(['=', ':']))
                    };
                    self.constants.extend(words(line).next().filter(is_bound));
                }
            }
            Language::Rust => {
                declared_behind(&["fn", "macro_rules"], text, &mut self.declared);
                for keyword in ["const", "static"] {
                    for (at, _) in text.match_indices(keyword) {
                        let rest = text[at + keyword.len()..].trim_start();
                        let rest = rest.strip_prefix("mut ").unwrap_or(rest).trim_start();
                        let after = rest.trim_start_matches(is_word);
                        let is_bound = after.trim_start().starts_with(':');
                        self.constants.extend(is_bound.then(|| &rest[..rest.len() - after.len()]));
                    }
                }
            }
            Language::Go => {
                for (at, keyword) in text.match_indices("func ") {
                    let rest = text[at + keyword.len()..].trim_start();
                    let name = words(rest).next().filter(|_| !rest.starts_with('('));
                    self.declared.extend(name);
                }
            }
            Language::Java => self.methods(text),
            Language::JavaScript { .. } => {}
        }
    }

    fn methods(&mut self, text: &'t str) {
        for (at, _) in text.match_indices('(') {
            let before = text[..at].trim_end();
            let owner = before.trim_end_matches(is_word);
            let (name, owner) = (&before[owner.len()..], owner.trim_end());
            let is_typed = owner.ends_with(|c: char| is_word(c) || matches!(c, '>' | ']'));
            if is_typed && !NO_TYPES.iter().any(|word| owner.ends_with(word)) {
                self.declared.insert(name);
            }
        }
    }

    /// Whether a function by this name is read in the light of what changed, or what changed in its light.
    fn bears_on(&self, language: Language, name: &str, text: &str, is_test: bool) -> bool {
        match language {
            Language::Python => {
                let is_concerned = |word: &str| self.constants.contains(word) || OF_THE_FILE.contains(&word);
                is_test && (self.declared.contains(name) || words(text).any(is_concerned))
            }
            Language::Rust | Language::Go | Language::Java if is_test || language == Language::Rust => {
                // Functions of one name are told apart by their order.
                let is_one_of_many = self.declared.contains(name)
                    && (is_test || text.contains("test") || may_check(language, text));
                let calls = |word| word != name && self.declared.contains(word);
                is_one_of_many
                    || words(text).any(|word| self.constants.contains(word))
                    || (self.may_check && words(text).any(calls))
                    || self.names(language, name, text, is_test)
            }
            Language::Rust | Language::Go | Language::Java => false,
            Language::JavaScript { .. } => true,
        }
    }

    /// Whether what is kept may call the function to check something.
    fn names(&self, language: Language, name: &str, text: &str, is_test: bool) -> bool {
        let is_read = is_test || language == Language::Rust;
        is_read && language != Language::Python && self.named.contains(name) && may_check(language, text)
    }
}

/// Whether a function may be one that checks something for others, or one that stands for another.
fn may_check(language: Language, text: &str) -> bool {
    let words: &[&str] = match language {
        Language::Rust => &["assert", "panic!", "macro_rules!", "cfg"],
        Language::Java => &["assert", "verify", "fail"],
        _ => return true,
    };
    words.iter().any(|word| text.contains(word))
}

/// Whether what stands here decides about functions that neither name it nor are named by it.
fn bears_on_all(language: Language, text: &str, is_test: bool) -> bool {
    match language {
        Language::Python => is_test && words(text).any(|word| matches!(word, "__test__" | "__init__")),
        Language::Rust => text.contains("#!["),
        _ => false,
    }
}

/// The words that follow one of some others.
pub(super) fn declared_behind<'t>(keywords: &[&str], text: &'t str, names: &mut BTreeSet<&'t str>) {
    let mut words = words(text).peekable();
    while let Some(word) = words.next() {
        if keywords.contains(&word) {
            names.extend(words.peek());
        }
    }
}

pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}
