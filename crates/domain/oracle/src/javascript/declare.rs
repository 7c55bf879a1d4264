//! Calls that declare tests and groups of them.

use tree_sitter::Node;

use super::chain::{Chain, Link};
use super::names::{Names, Role};
use super::said::arguments;
use super::text::Text;

/// A word or an option that keeps a test from running or from counting.
pub(super) struct Word<'t> {
    pub(super) marker: &'static str,
    pub(super) node: Node<'t>,
    /// Whether a condition decides.
    pub(super) depends: bool,
}

/// What a call declares.
pub(super) struct Declared<'t> {
    /// Whether it is a group of tests.
    pub(super) is_group: bool,
    /// The title, as it is written.
    pub(super) title: String,
    /// What is run.
    pub(super) body: Option<Node<'t>>,
    /// The arguments of `each`, where it has them.
    pub(super) table: Option<Node<'t>>,
    /// Words and options that keep it from running or from counting.
    pub(super) markers: Vec<Word<'t>>,
}

/// Words after a test function, and the markers that they are.
const MODIFIERS: [(&str, &str); 12] = [
    ("skip", ".skip("),
    ("skipIf", ".skip("),
    ("runIf", ".skip("),
    ("skipUnless", ".skip("),
    ("fixme", ".skip("),
    ("ignore", ".skip("),
    ("only", ".only("),
    ("todo", ".todo("),
    ("failing", ".failing("),
    ("fails", ".failing("),
    ("fail", ".failing("),
    ("skipping", ".skip("),
];
/// Words between a test function and its call that change nothing of what is tested.
const BETWEEN: [&str; 14] = [
    "each",
    "for",
    "concurrent",
    "sequential",
    "serial",
    "parallel",
    "describe",
    "test",
    "it",
    "step",
    "extend",
    "shuffle",
    "before",
    "after",
];
/// Keys of options of a test, and the markers that they are.
const OPTIONS: [(&str, &str); 6] = [
    ("skip", ".skip("),
    ("todo", ".todo("),
    ("only", ".only("),
    ("ignore", ".skip("),
    ("fails", ".failing("),
    ("expectFailure", ".failing("),
];

/// The marker of a word after a test function.
pub(super) fn modifier(word: &str) -> Option<&'static str> {
    MODIFIERS.iter().find(|(name, _)| *name == word).map(|(_, marker)| *marker)
}

/// The name at the runner of the function that a chain begins with, and how many links name it.
fn declaring<'t>(chain: &Chain<'t>, names: &Names<'t>, objects: &[&'t str]) -> Option<(&'t str, usize)> {
    let root = chain.root();
    match names.role(root.name) {
        Some(Role::Declares(name)) => return Some((name, 1)),
        Some(Role::Runner) => {}
        _ if objects.contains(&root.name) => {}
        _ => return None,
    }
    let method = chain.links.get(1)?;
    let declares = ["test", "it", "describe", "suite", "module", "skip", "todo", "only", "bench", "step"];
    declares.contains(&method.name).then_some((method.name, 2))
}

/// What the call at the end of the chain declares.
pub(super) fn declared<'t>(
    chain: &Chain<'t>,
    names: &Names<'t>,
    objects: &[&'t str],
    text: Text<'t>,
) -> Option<Declared<'t>> {
    let (name, length) = declaring(chain, names, objects)?;
    let mut markers: Vec<Word<'t>> = Vec::new();
    let (opening, rest) = chain.links.split_at(length);
    if length == 2 || renamed(name).is_some() {
        let link = &opening[length - 1];
        markers.extend(modifier(link.name).or_else(|| renamed(name)).map(|marker| Word {
            marker,
            node: link.node,
            depends: false,
        }));
    }
    let mut is_group = name.ends_with("describe")
        || name.ends_with("suite")
        || name.ends_with("context")
        || name == "module";
    for link in rest {
        match modifier(link.name) {
            Some(marker) => {
                let condition = link
                    .calls
                    .first()
                    .filter(|_| link.name.ends_with("If"))
                    .and_then(|call| call.named_child(0));
                let depends =
                    condition.is_some_and(|condition| super::vacuous::truth(text, condition).is_none());
                markers.push(Word { marker, node: link.node, depends });
            }
            None if BETWEEN.contains(&link.name) => is_group |= link.name == "describe",
            None => return None,
        }
    }
    let last = chain.last();
    let given = arguments(*last.calls.last()?);
    let title = given.first().filter(|first| is_title(**first)).map(|first| text.normal(*first));
    let body = given.iter().rev().find(|argument| is_function(**argument)).copied();
    let named = given.first().is_some_and(|first| matches!(first.kind(), "string" | "template_string"));
    if body.is_none() && !(named && given.len() <= 3) {
        return None;
    }
    let options = given.iter().filter(|argument| argument.kind() == "object");
    markers.extend(options.flat_map(|options| of_options(*options, text)));
    Some(Declared { is_group, title: title.unwrap_or_default(), body, table: table(rest, last), markers })
}

/// `xit` and `fit`, and the markers that they are.
fn renamed(name: &str) -> Option<&'static str> {
    let plain = name.get(1..)?;
    if !["it", "test", "specify", "describe", "context", "suite"].contains(&plain) {
        return None;
    }
    match name.as_bytes()[0] {
        b'x' => Some(".skip("),
        b'f' => Some(".only("),
        _ => None,
    }
}

fn table<'t>(rest: &[Link<'t>], last: &Link<'t>) -> Option<Node<'t>> {
    let each = rest.iter().find(|link| matches!(link.name, "each" | "for"))?;
    let is_last = std::ptr::eq(each, last);
    (!is_last || each.calls.len() > 1).then(|| each.calls.first().copied()).flatten()
}

fn is_title(node: Node<'_>) -> bool {
    !is_function(node) && !matches!(node.kind(), "object" | "array")
}

/// Whether the expression is a function that is written here.
pub(super) fn is_function(node: Node<'_>) -> bool {
    matches!(node.kind(), "arrow_function" | "function_expression" | "generator_function")
}

fn of_options<'t>(options: Node<'t>, text: Text<'t>) -> Vec<Word<'t>> {
    let mut cursor = options.walk();
    let mut found = Vec::new();
    for part in options.named_children(&mut cursor) {
        let key = part.child_by_field_name("key").unwrap_or(part);
        let value = part.child_by_field_name("value");
        let off =
            value.is_some_and(|value| matches!(text.of(value), "false" | "undefined" | "null" | "''" | "0"));
        let marker = OPTIONS.iter().find(|(name, _)| *name == text.unquoted(key)).map(|(_, marker)| *marker);
        if let Some(marker) = marker.filter(|_| !off) {
            let depends = value.is_some_and(|value| super::vacuous::truth(text, value).is_none());
            found.push(Word { marker, node: part, depends });
        }
    }
    found
}

/// The rows of a table that is written as a template: as many values as its heading has names, at the first of them.
fn template_rows<'t>(table: Node<'t>, text: Text<'t>) -> Vec<(String, Node<'t>)> {
    let heading = text.unquoted(table).trim_start().lines().next().unwrap_or("");
    let width = heading.split('|').count();
    let mut cursor = table.walk();
    let cells: Vec<Node<'t>> =
        table.named_children(&mut cursor).filter(|part| part.kind() == "template_substitution").collect();
    cells
        .chunks(width)
        .map(|row| (row.iter().map(|cell| text.normal(*cell)).collect::<String>(), row[0]))
        .collect()
}

/// The rows of the table of a test, or the whole of it where its rows cannot be told.
pub(super) fn rows<'t>(table: Node<'t>, text: Text<'t>) -> Result<Vec<(String, Node<'t>)>, String> {
    match table.kind() {
        // The rows of a template, after its heading.
        "template_string" => Ok(template_rows(table, text)),
        "arguments" => {
            let given = arguments(table);
            let Some(first) = given.first().map(|first| super::vacuous::plain(*first)) else {
                return Ok(Vec::new());
            };
            if first.kind() != "array" {
                return Err(text.normal(first));
            }
            let mut cursor = first.walk();
            let parts = first.named_children(&mut cursor).filter(|part| part.kind() != "comment");
            Ok(parts.map(|part| (text.normal(part), part)).collect())
        }
        _ => Err(text.normal(table)),
    }
}
