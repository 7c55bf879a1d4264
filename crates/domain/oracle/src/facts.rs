//! Everything that is true of a patch.

use ambit_ids::RepoPath;
use ambit_policy::Fact;

use crate::change::{FileChange, Guard, Unreadable, text};
use crate::collection::Collection;
use crate::config;
use crate::dependencies::additions;
use crate::directive::{self, Directives};
use crate::javascript::{self, Trees};
use crate::marker::{self, Markers, Place, Sides};
use crate::outline::{self, Outline, compare};
use crate::protected::is_protected_by_default;
use crate::source::{Language, Source};
use crate::{assertions, python, runner, shadow, tree};

/// Directories of copies of other people's code.
const VENDORED: [&[u8]; 6] =
    [b"vendor", b"vendored", b"third_party", b"third-party", b"node_modules", b"site-packages"];

/// What is true of the patch that consists of these changes: sorted, each fact once.
///
/// - *Protected path touched*: a path that the guard protects, or that is protected by default, is created, changed or
///   deleted, and no blueprint opens it; likewise the part of a shared file that a runner reads, such as the scripts of
///   a `package.json`.
/// - *Scope left*: a path is neither in scope nor opened.
/// - *Assertion count fell*: a test file has fewer assertions after the patch. Assertions may move between the test
///   files of one patch: only where all of them together have fewer is each that has fewer told. A deleted test file
///   has none. It is told of languages whose trees are not read.
/// - *Weakenings* of the other kinds: as the trees of both sides of a file of Rust, Go or Java tell. Tests and what they
///   check may move between the files of one patch. Source files of Rust are read with their test modules.
/// - *Skip marker added*: told with its line. A marker that moves with its test is not added; one that moves to another
///   test is. A directive that silences a check where tests lie, or in a protected file, is one.
/// - *Directive added*: one that silences a check elsewhere in source. One that stays on its code, moves with it, or silences
///   less than before is not added. A *blanket* one names no check or holds for a whole file.
/// - *Dependency added*: as [`added_dependencies`](crate::added_dependencies) tells, without those that are approved.
/// - *Unclassified*: a test file, a manifest or a source file cannot be read: too large, not UTF-8, malformed, ended
///   within a string, or a test in a language that is not read.
#[must_use]
pub fn facts(changes: &[FileChange<'_>], guard: &Guard) -> Vec<Fact> {
    let mut facts: Vec<Fact> = changes.iter().flat_map(|change| about_path(change, guard)).collect();
    let mut tests = Vec::new();
    let mut outlines = Vec::new();
    let mut markers = Markers::default();
    let mut directives = Directives::default();
    let mut trees = Trees::default();
    for change in changes {
        match sides_of_tree(change, guard) {
            Ok(sides) => sides.into_iter().for_each(|sides| trees.add(sides)),
            Err(why) => facts.push(unclassified(change.path, why)),
        }
        match read(change, guard) {
            Ok(Some(read)) => {
                markers.compare(change.path, &read.sides);
                read.directives.into_iter().for_each(|sides| directives.add(sides));
                outlines.extend(read.outlines);
                tests.extend(read.counts.map(|(before, after)| (change.path, before, after)));
            }
            Ok(None) => {}
            Err(why) => facts.push(unclassified(change.path, why)),
        }
    }
    facts.extend(fallen(&tests));
    facts.extend(markers.added());
    facts.extend(directives.told());
    facts.extend(trees.facts());
    let collection = Collection::of(changes);
    facts.extend(compare(&outlines, &collection));
    facts.extend(collection.moved(guard));
    facts.extend(shadow::facts(changes, guard));
    facts.extend(dependencies(changes, guard));
    facts.extend(config::facts(changes, guard));
    facts.sort();
    facts.dedup();
    facts
}

fn unclassified(path: &RepoPath, why: Unreadable) -> Fact {
    Fact::Unclassified { why: format!("{path} {why}") }
}

fn about_path(change: &FileChange<'_>, guard: &Guard) -> Vec<Fact> {
    let path = change.path;
    if guard.opened.contains(path) {
        return Vec::new();
    }
    let mut facts = Vec::new();
    if guard.protected.contains(path) || is_protected_by_default(path) {
        facts.push(Fact::ProtectedPathTouched { path: path.clone() });
    } else {
        match runner::is_touched(change) {
            Ok(Some(true)) => facts.push(Fact::ProtectedPathTouched { path: path.clone() }),
            Ok(_) => {}
            Err(why) => facts.push(unclassified(path, why)),
        }
    }
    if !guard.scope.contains(path) {
        facts.push(Fact::ScopeLeft { path: path.clone() });
    }
    facts
}

/// Both sides of a file of a language whose trees are read.
fn sides_of_tree<'a>(
    change: &FileChange<'a>,
    guard: &Guard,
) -> Result<Option<javascript::Sides<'a>>, Unreadable> {
    let Some(Language::JavaScript { .. }) = Language::of(change.path) else { return Ok(None) };
    if change.path.components().any(|part| VENDORED.contains(&part)) {
        return Ok(None);
    }
    let is_test = guard.tests.contains(change.path) || javascript::is_named_as_test(change.path);
    let before = match text(change.before) {
        Err(why) if is_test => return Err(why),
        side => side.unwrap_or_default(),
    };
    javascript::sides(change.path, before, text(change.after)?, is_test).map(Some)
}

/// What both sides of a source file hold.
struct Read<'a> {
    sides: Sides<'a>,
    /// The directives of both sides, unless the file is a copy of other people's code.
    directives: Option<directive::Sides<'a>>,
    /// The outlines of both sides, for a language whose trees are read.
    outlines: Option<outline::Sides<'a>>,
    /// Assertions on both sides, where the file holds tests of another language.
    counts: Option<(u32, u32)>,
}

/// Reads both sides of a change. `None` for a file that is no source.
fn read<'a>(change: &FileChange<'a>, guard: &Guard) -> Result<Option<Read<'a>>, Unreadable> {
    let is_test = guard.tests.contains(change.path);
    let Some(language) = Language::of(change.path) else {
        let was_test = is_test && change.before.is_some() && Language::is_foreign(change.path);
        return if was_test { Err(Unreadable::Language) } else { Ok(None) };
    };
    let is_vendored = change.path.components().any(|part| VENDORED.contains(&part));
    let may_hold_tests = is_test || language == Language::Rust;
    let before = match text(change.before) {
        Err(why) if may_hold_tests => return Err(why),
        // What cannot be read held no marker, so that every marker after it is new.
        side => Source::read(language, side.unwrap_or_default()),
    };
    let after = Source::read(language, text(change.after)?);
    if language == Language::Python && !python::is_in_a_known_coding(after.text) {
        return Err(Unreadable::Coding);
    }
    let grammar = tree::grammar(change.path, language);
    let trees = grammar
        .map(|grammar| tree::Sides::of(language, &grammar, (before.text, after.text), is_test))
        .transpose()?;
    if is_test || (may_hold_tests && [before.text, after.text].into_iter().any(speaks_of_tests)) {
        trees.as_ref().map_or(Ok(()), tree::Sides::legible)?;
    }
    let outlines = trees.and_then(|trees| outlines(change.path, language, &trees, is_test));
    let place = Place { is_test };
    let count = |source: &Source<'_>| if is_test { assertions::count(language, source) } else { 0 };
    let in_trees = matches!(language, Language::JavaScript { .. });
    let is_counted = is_test && outlines.is_none() && !in_trees;
    let counts = if is_counted { (count(&before), count(&after)) } else { (0, 0) };
    if is_test && !in_trees && !after.is_whole {
        return Err(Unreadable::Unended);
    }
    let sides = Sides::of(&before, &after, |source| marker::find(language, source, place));
    let is_named_as_test =
        matches!(language, Language::JavaScript { .. }) && javascript::is_named_as_test(change.path);
    let decides = is_test
        || is_named_as_test
        || guard.protected.contains(change.path)
        || is_protected_by_default(change.path);
    let directives = (!is_vendored).then(|| {
        directive::Sides::of(change.path, (&before, &after), |source| {
            directive::find(language, source, decides)
        })
    });
    Ok(Some(Read { sides, directives, outlines, counts: is_counted.then_some(counts) }))
}

/// Whether source of Rust says anything of tests: attributes and conditions that name them, and macros that make them.
fn speaks_of_tests(text: &str) -> bool {
    ["test]", "(test", "test(", "test!", ", test", ",test", "quickcheck", "proptest"]
        .iter()
        .any(|word| text.contains(word))
}

/// The outlines of both sides of a file, where its language is one whose trees are told in outlines.
pub(crate) fn outlines<'a>(
    path: &'a RepoPath,
    language: Language,
    trees: &tree::Sides<'_>,
    is_test: bool,
) -> Option<outline::Sides<'a>> {
    let each = |read: fn(&tree::Side<'_>, bool) -> Outline| {
        (read(&trees.before, is_test), read(&trees.after, is_test))
    };
    let (before, after) = match language {
        Language::Python => python::outlines(trees, is_test),
        Language::Rust => each(crate::rust::outline),
        Language::Go => each(crate::go::outline),
        Language::Java => each(crate::java::outline),
        Language::JavaScript { .. } => return None,
    };
    Some(outline::Sides { path, before, after })
}

/// The test files that lost assertions, where all test files together did.
fn fallen(tests: &[(&RepoPath, u32, u32)]) -> Vec<Fact> {
    let total =
        |side: fn(&(&RepoPath, u32, u32)) -> u32| tests.iter().map(|test| u64::from(side(test))).sum::<u64>();
    if total(|test| test.2) >= total(|test| test.1) {
        return Vec::new();
    }
    let lost = tests.iter().filter(|(_, before, after)| after < before);
    lost.map(|(path, before, after)| Fact::AssertionCountFell {
        path: (*path).clone(),
        before: *before,
        after: *after,
    })
    .collect()
}

fn dependencies(changes: &[FileChange<'_>], guard: &Guard) -> Vec<Fact> {
    let additions = additions(changes, &guard.manifests);
    let news = additions.added.into_iter().filter(|new| {
        let approved = |name: &String| new.ecosystem.normal(name) == new.name;
        !guard.approved_dependencies.iter().any(approved)
    });
    let mut facts: Vec<Fact> =
        news.map(|new| Fact::DependencyAdded { manifest: new.manifest, name: new.name }).collect();
    facts.extend(additions.unreadable.iter().map(|(path, why)| unclassified(path, *why)));
    facts
}
