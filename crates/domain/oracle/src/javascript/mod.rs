//! What a patch does to JavaScript and TypeScript, read from the trees of both sides.

mod access;
mod calls;
mod chain;
mod compared;
mod declare;
mod detect;
mod ends;
mod found;
mod lines;
mod matching;
mod names;
mod narrow;
mod narrow_names;
#[cfg(test)]
mod narrow_tests;
mod noted;
mod pairing;
mod relation;
mod said;
mod strength;
mod suites;
mod tenancy;
mod text;
mod told;
mod vacuous;
mod walk;
mod words;

use ambit_ids::RepoPath;
use tree_sitter::{Language, Tree};

use crate::change::Unreadable;
use crate::tree;
pub(crate) use compared::Sides;
use found::Found;
use names::Names;
use text::Text;
pub(crate) use told::Trees;

/// The deepest tree that is walked. Deeper ones are not written by people.
const DEPTH: usize = 300;

/// How many bytes may be looked at for the ends of regular expressions. Whatever follows a slash may be one, up to the end
/// of its line.
const SOUGHT_BYTES: usize = 200_000_000;

/// Whether runners take the file for one of tests by its name.
pub(crate) fn is_named_as_test(path: &RepoPath) -> bool {
    let name = path.file_name();
    let has = |part: &[u8]| name.windows(part.len()).any(|window| window == part);
    has(b".test.") || has(b".spec.") || has(b".cy.") || path.components().any(|part| part == b"__tests__")
}

/// The tree of a source, with the number of places in it that could not be parsed.
fn parsed(source: &str, grammar: &Language) -> Option<(Tree, usize)> {
    let tree = tree::parsed(grammar, source)?;
    let errors = if tree.root_node().has_error() { errors(&tree) } else { 0 };
    Some((tree, errors))
}

/// The tree by the grammar that reads the file best: in `.js` there may be types.
fn tree_of(path: &RepoPath, source: &str) -> Option<(Tree, usize)> {
    let name = path.file_name();
    let typescript = || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into();
    let tsx = || tree_sitter_typescript::LANGUAGE_TSX.into();
    if name.ends_with(b".tsx") {
        return parsed(source, &tsx());
    }
    if name.ends_with(b"ts") {
        return parsed(source, &typescript());
    }
    let plain = parsed(source, &tree_sitter_javascript::LANGUAGE.into())?;
    if plain.1 == 0 {
        return Some(plain);
    }
    parsed(source, &tsx()).filter(|typed| typed.1 < plain.1).or(Some(plain))
}

fn errors(tree: &Tree) -> usize {
    let mut cursor = tree.walk();
    let mut found = 0;
    loop {
        let node = cursor.node();
        found += usize::from(node.is_error() || node.is_missing());
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

/// Whether looking for the ends of regular expressions would keep a parser busy.
fn is_laborious(source: &str) -> bool {
    let sought = |line: &str| line.len().saturating_mul(line.matches('/').count());
    source.lines().map(sought).fold(0, usize::saturating_add) > SOUGHT_BYTES
}

/// The tree of one side, and how many places of it could not be parsed.
fn bounded(path: &RepoPath, source: &str) -> Result<(Tree, usize), Unreadable> {
    if is_laborious(source) {
        return Err(Unreadable::Laborious);
    }
    let (tree, errors) = tree_of(path, source).ok_or(Unreadable::Laborious)?;
    if tree::is_deeper(tree.root_node(), DEPTH) { Err(Unreadable::Nested) } else { Ok((tree, errors)) }
}

/// What one side holds, and how many places of it could not be parsed.
fn read((tree, errors): &(Tree, usize), source: &str) -> (Found, usize) {
    let text = Text(source);
    let names = Names::of(tree.root_node(), text);
    (walk::Walk::through(tree.root_node(), text, &names), *errors)
}

/// Both sides of a file. Fails where the side after has more places than the one before that cannot be parsed.
pub(crate) fn sides<'a>(
    path: &'a RepoPath,
    before: &str,
    after: &str,
    is_test: bool,
) -> Result<Sides<'a>, Unreadable> {
    let is = bounded(path, after);
    if let Ok((tree, 0)) = &is
        && let Some((before, after)) = narrow::read((before, after), tree, is_test)
    {
        return Ok(Sides { path, before, after, is_test });
    }
    whole(path, before, after, is, is_test)
}

/// Both sides as they are where nothing is left out.
#[cfg(test)]
pub(crate) fn whole_sides<'a>(
    path: &'a RepoPath,
    before: &str,
    after: &str,
    is_test: bool,
) -> Result<Sides<'a>, Unreadable> {
    whole(path, before, after, bounded(path, after), is_test)
}

/// Both sides, the whole of them.
fn whole<'a>(
    path: &'a RepoPath,
    before: &str,
    after: &str,
    is: Result<(Tree, usize), Unreadable>,
    is_test: bool,
) -> Result<Sides<'a>, Unreadable> {
    let (before, known) = bounded(path, before).map(|was| read(&was, before)).unwrap_or_default();
    let (after, errors) = read(&is?, after);
    if errors > known {
        return Err(Unreadable::Syntax);
    }
    Ok(Sides { path, before, after, is_test })
}
