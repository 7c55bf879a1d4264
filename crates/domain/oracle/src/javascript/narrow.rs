//! Reads both sides without the statements that are the same on both and bear on nothing that is not.
//!
//! Only statements at the top of a file are left out: of tests those that declare tests and nothing beside, of source functions,
//! classes and what is exported. A block stands for each, so that what stands around it cannot become one with it. What is
//! compared beyond the owner of an assertion is the same with such statements and without them as long as what changed adds
//! no mark and takes no test; wherever it does, or any of that is in doubt, the whole of both sides is read.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::chain::Chain;
use super::declare::{self, Declared};
use super::found::Found;
use super::names::{Names, Role};
use super::narrow_names::{Declares, Kept};
use super::text::Text;
use super::told::by;
use super::walk::Walk;
use super::{DEPTH, is_laborious};
use crate::narrow::{Item, Matched, Shorter, WORTH_IT, gaps, matched, words};
use crate::tree;

/// What stands in the place of a statement that is left out.
const FILLER: &str = "{}";
/// How deep groups of tests are followed.
const GROUPS: usize = 8;
/// How often what is kept is looked through for what it names.
const ROUNDS: usize = 8;
/// Statements at the top of a file that say nothing about how those behind them are reached.
const PASSED: [&str; 21] = [
    "import_statement",
    "lexical_declaration",
    "variable_declaration",
    "expression_statement",
    "function_declaration",
    "generator_function_declaration",
    "class_declaration",
    "abstract_class_declaration",
    "export_statement",
    "interface_declaration",
    "type_alias_declaration",
    "enum_declaration",
    "ambient_declaration",
    "internal_module",
    "module",
    "for_statement",
    "for_in_statement",
    "try_statement",
    "empty_statement",
    "comment",
    "hash_bang_line",
];
/// Statements of source that can be left out.
const ITEMS: [&str; 8] = [
    "function_declaration",
    "generator_function_declaration",
    "class_declaration",
    "abstract_class_declaration",
    "export_statement",
    "interface_declaration",
    "type_alias_declaration",
    "enum_declaration",
];

/// What both sides hold without what is the same. `None` where that would be told otherwise than from the whole.
pub(super) fn read((before, after): (&str, &str), tree: &Tree, is_test: bool) -> Option<(Found, Found)> {
    if before.is_empty() || is_laborious(before) {
        return None;
    }
    let (root, text) = (tree.root_node(), Text(after));
    let names = Names::of(root, text);
    let items = if is_test { tests(root, text, &names) } else { sources(root, text) };
    let matched = matched(&items, before, after)?;
    let declares = is_test.then(|| Declares::of(root, text));
    let left_out = unrelated(&matched, (before, after), declares.as_ref())?;
    let bytes: usize = left_out.iter().map(|item| item.in_after.len()).sum();
    if bytes * WORTH_IT.1 < after.len() * WORTH_IT.0 {
        return None;
    }
    let was = Shorter::without(before, left_out.iter().map(|item| &item.in_before), FILLER);
    let is = Shorter::without(after, left_out.iter().map(|item| &item.in_after), FILLER);
    let grammar = (*tree.language()).clone();
    let (was_tree, is_tree) = (tree::parsed(&grammar, &was.text)?, tree::parsed(&grammar, &is.text)?);
    if !stands_apart(&was_tree, &was) || !stands_apart(&is_tree, &is) {
        return None;
    }
    let names =
        (Names::of(was_tree.root_node(), Text(&was.text)), Names::of(is_tree.root_node(), Text(&is.text)));
    if names.0 != names.1 {
        return None;
    }
    let (found_before, used_before) = Walk::followed(was_tree.root_node(), Text(&was.text), &names.0);
    let (found_after, used_after) = Walk::followed(is_tree.root_node(), Text(&is.text), &names.1);
    if !is_settled(&found_before, &found_after, is_test) {
        return None;
    }
    if is_test {
        let left: BTreeSet<&str> =
            left_out.iter().flat_map(|item| words(&after[item.in_after.clone()])).collect();
        let kept_before = Kept::of(was_tree.root_node(), &was.text, &was.places);
        let kept_after = Kept::of(is_tree.root_node(), &is.text, &is.places);
        let titles: BTreeSet<&str> = left_out.iter().map(|item| item.name).collect();
        if !kept_before.bears_alike(&kept_after, &left, (&used_before, &used_after))
            || shares_a_title(&titles, &found_before)
            || shares_a_title(&titles, &found_after)
        {
            return None;
        }
    }
    Some((found_before, found_after))
}

/// The statements at the top that declare tests and nothing beside. The name of each is its title without quotation marks.
fn tests<'t>(root: Node<'t>, text: Text<'t>, names: &Names<'t>) -> Vec<Item<'t>> {
    let mut cursor = root.walk();
    let statements = root.named_children(&mut cursor);
    statements
        .filter_map(|statement| {
            let (declared, title) = declared(statement, text, names)?;
            let is_plain = title.kind() == "string" && !text.of(title).contains('\\');
            let item = Item {
                name: text.unquoted(title),
                name_at: title.start_byte(),
                place: statement.byte_range(),
            };
            (is_plain && holds_only_tests(&declared, text, names, 0)).then_some(item)
        })
        .collect()
}

/// What a statement declares, and its title.
fn declared<'t>(statement: Node<'t>, text: Text<'t>, names: &Names<'t>) -> Option<(Declared<'t>, Node<'t>)> {
    let call = statement.named_child(0).filter(|_| statement.kind() == "expression_statement")?;
    let chain = Chain::of(call, text);
    let title = chain.last().calls.last()?.named_child(0)?;
    let declared =
        declare::declared(&chain, names, &[], text).filter(|_| call.kind() == "call_expression")?;
    Some((declared, title))
}

/// Whether no assertion in it belongs to anything but a test or a function.
fn holds_only_tests<'t>(declared: &Declared<'t>, text: Text<'t>, names: &Names<'t>, depth: usize) -> bool {
    let Some(body) = declared.body else { return true };
    if !declared.is_group {
        let is_group = |word: &str| match names.role(word) {
            Some(Role::Declares(name)) => {
                name.ends_with("describe") || name.ends_with("suite") || name.ends_with("context")
            }
            Some(Role::Runner) => true,
            _ => matches!(word, "describe" | "suite" | "module"),
        };
        return !words(text.of(body)).any(is_group);
    }
    let Some(block) = body.child_by_field_name("body").filter(|block| block.kind() == "statement_block")
    else {
        return false;
    };
    let takes_none =
        body.child_by_field_name("parameters").is_some_and(|parameters| parameters.named_child_count() == 0);
    let mut cursor = block.walk();
    depth < GROUPS
        && takes_none
        && block.named_children(&mut cursor).all(|statement| {
            statement.kind() == "comment"
                || self::declared(statement, text, names)
                    .is_some_and(|(inner, _)| holds_only_tests(&inner, text, names, depth + 1))
        })
}

/// The statements at the top of source that can be left out.
fn sources<'t>(root: Node<'t>, text: Text<'t>) -> Vec<Item<'t>> {
    let mut cursor = root.walk();
    let statements = root.named_children(&mut cursor);
    statements
        .filter(|statement| {
            let mut cursor = statement.walk();
            let is_function = |declarator: Node<'_>| {
                declarator.child_by_field_name("value").is_some_and(declare::is_function)
            };
            // Other declarations may say what is imported.
            ITEMS.contains(&statement.kind())
                || (statement.kind() == "lexical_declaration"
                    && statement.named_children(&mut cursor).all(is_function))
        })
        .map(|statement| {
            let place = statement.byte_range();
            Item { name: text.at(place.start..place.start), name_at: place.start, place }
        })
        .collect()
}

/// The statements that can be left out: those beside no change and, of tests, those that declare nothing that others name.
fn unrelated<'t>(
    matched: &[Matched<'t>],
    (before, after): (&'t str, &'t str),
    declares: Option<&Declares<'t>>,
) -> Option<Vec<Matched<'t>>> {
    let mut kept = vec![false; matched.len()];
    let mut named = BTreeSet::new();
    for (place, (was, is)) in gaps(matched, before.len(), after.len()).into_iter().enumerate() {
        let (was, is) = (&before[was], &after[is]);
        if declares.is_some() {
            named.extend(words(was));
            named.extend(words(is));
        }
        if was != is {
            kept.iter_mut().take(place + 1).skip(place.saturating_sub(1)).for_each(|kept| *kept = true);
        }
    }
    let mut seen = vec![declares.is_none(); matched.len()];
    for _ in 0..ROUNDS {
        let fresh: Vec<usize> = (0..matched.len()).filter(|at| kept[*at] && !seen[*at]).collect();
        for at in &fresh {
            seen[*at] = true;
            named.extend(words(&after[matched[*at].in_after.clone()]));
        }
        let mut is_settled = true;
        for (at, item) in matched.iter().enumerate().filter(|_| declares.is_some()) {
            let is_named =
                !kept[at] && declares.is_some_and(|declares| declares.is_named(&item.in_after, &named));
            is_settled &= !is_named;
            kept[at] |= is_named;
        }
        if is_settled {
            let left = matched.iter().zip(kept).filter(|(_, is_kept)| !is_kept);
            return Some(left.map(|(item, _)| item.clone()).collect());
        }
    }
    None
}

/// Whether each place that was left out is a statement by itself, among others that let the flow pass.
fn stands_apart(tree: &Tree, side: &Shorter) -> bool {
    let root = tree.root_node();
    if root.has_error() || root.kind() != "program" || tree::is_deeper(root, DEPTH) {
        return false;
    }
    let mut places: &[Range<usize>] = &side.places;
    let mut cursor = root.walk();
    for child in root.children(&mut cursor) {
        match places.split_first() {
            Some((place, rest)) if child.start_byte() == place.start => {
                if child.end_byte() != place.start + FILLER.len() || child.kind() != "statement_block" {
                    return false;
                }
                places = rest;
            }
            Some((place, _)) if child.end_byte() > place.start => return false,
            _ => {
                let text = side.text.get(child.byte_range()).unwrap_or("");
                if !PASSED.contains(&child.kind()) || text.starts_with("process") {
                    return false;
                }
            }
        }
    }
    places.is_empty()
}

/// Whether what changed leaves nothing to be found among what was left out, or to be told by its place in the order of all.
fn is_settled(before: &Found, after: &Found, is_test: bool) -> bool {
    let marks = |found: &Found, all: bool| -> Vec<String> {
        let marks = found.markers.iter().filter(|marker| all || is_test || marker.is_declared);
        marks.map(|marker| format!("{} {}", marker.name, by(marker))).collect()
    };
    if !holds(marks(before, true), marks(after, false)) {
        return false;
    }
    if !is_test {
        let shown = |places: &[super::found::Place]| places.iter().map(|place| place.shown.clone()).collect();
        let predicates =
            |found: &Found| found.predicates.iter().map(|(predicate, _)| predicate.clone()).collect();
        let guards = |found: &Found| {
            found.guards.iter().map(|guard| format!("{:?} {}", guard.asked, guard.before)).collect()
        };
        return holds(shown(&before.detections), shown(&after.detections))
            && holds(shown(&before.doors), shown(&after.doors))
            && holds(guards(after), guards(before))
            && holds(shown(&before.endings), shown(&after.endings))
            && holds(predicates(after), predicates(before));
    }
    let titles = |found: &Found| found.tests.iter().map(|test| format!("{:?}", test.titles)).collect();
    let most = |found: &Found| found.retries.iter().map(|(number, _)| *number).max();
    holds(titles(after), titles(before))
        && after.mocks.iter().all(|mock| before.mocks.iter().any(|was| was.of == mock.of))
        && (after.models.is_empty() || !before.models.is_empty())
        && most(after) <= most(before)
}

/// Whether one list holds all of another, each as often.
fn holds(all: Vec<String>, part: Vec<String>) -> bool {
    let mut left: BTreeMap<String, usize> = BTreeMap::new();
    for one in all {
        *left.entry(one).or_default() += 1;
    }
    part.into_iter().all(|one| left.get_mut(&one).filter(|left| **left > 0).map(|left| *left -= 1).is_some())
}

/// Whether a test bears the title of a statement that was left out.
fn shares_a_title(titles: &BTreeSet<&str>, found: &Found) -> bool {
    found.tests.iter().filter_map(|test| test.titles.first()).any(|title| {
        title
            .strip_prefix('\'')
            .and_then(|title| title.strip_suffix('\''))
            .is_some_and(|title| titles.contains(title))
    })
}
