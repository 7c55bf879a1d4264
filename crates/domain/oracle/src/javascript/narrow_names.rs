//! Names that are declared as functions or with values that are written out: what one statement may know of another by.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tree_sitter::{Language, Node};

use super::declare::is_function;
use super::text::Text;
use super::vacuous;

/// As many nodes as what declares a name is made of at least: itself, the name, a sign and the value.
const NODES: usize = 4;

/// A name that is declared.
#[derive(Clone, Copy)]
struct Name<'t> {
    at: usize,
    name: &'t str,
    /// What it stands for, as it is written.
    value: &'t str,
    is_function: bool,
    /// Whether it may be a list of nothing.
    may_be_empty: bool,
}

impl Name<'_> {
    /// Whether it can be looked for among words.
    fn is_word(&self) -> bool {
        self.name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
    }
}

/// Every name of a tree, in order.
fn survey<'t>(root: Node<'t>, text: Text<'t>) -> Vec<Name<'t>> {
    let language = root.language();
    let [declarator, functions @ ..] = kinds(&language);
    let mut found = Vec::new();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let kind = node.kind_id();
        if kind == declarator {
            found.extend(declared(node, text));
        } else if functions.contains(&kind)
            && let Some(name) = node.child_by_field_name("name")
        {
            let (name, value) = (text.of(name), text.of(node));
            found.push(Name { at: node.start_byte(), name, value, is_function: true, may_be_empty: false });
        }
        if node.descendant_count() >= NODES && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

/// The kinds of nodes that declare: with a value first, then functions.
fn kinds(language: &Language) -> [u16; 6] {
    [
        "variable_declarator",
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
    ]
    .map(|kind| language.id_for_node_kind(kind, true))
}

/// The name that is declared here, where its value says more than that it is one.
fn declared<'t>(declarator: Node<'t>, text: Text<'t>) -> Option<Name<'t>> {
    let (name, value) = (declarator.child_by_field_name("name")?, declarator.child_by_field_name("value")?);
    let may_be_empty = match value.kind() {
        "array" => value.named_child_count() == 0,
        kind => kind == "identifier",
    };
    let is_function = is_function(value);
    (is_function || may_be_empty || vacuous::is_literal(value)).then(|| Name {
        at: declarator.start_byte(),
        name: text.of(name),
        value: text.of(value),
        is_function,
        may_be_empty,
    })
}

/// What the statements of a file declare.
pub(super) struct Declares<'t>(Vec<Name<'t>>);

impl<'t> Declares<'t> {
    pub(super) fn of(root: Node<'t>, text: Text<'t>) -> Self {
        Self(survey(root, text))
    }

    /// Whether what is declared in a place is named elsewhere, or may be.
    pub(super) fn is_named(&self, place: &Range<usize>, named: &BTreeSet<&str>) -> bool {
        let from = self.0.partition_point(|name| name.at < place.start);
        let here = self.0[from..].iter().take_while(|name| name.at < place.end);
        here.into_iter().any(|name| !name.is_word() || named.contains(name.name))
    }
}

/// What is declared in a text of which some places were left out, and behind how many of these.
pub(super) struct Kept<'t>(BTreeMap<&'t str, Vec<(usize, Name<'t>)>>);

impl<'t> Kept<'t> {
    pub(super) fn of(root: Node<'t>, text: &'t str, left_out: &[Range<usize>]) -> Self {
        let mut names: BTreeMap<&str, Vec<(usize, Name<'t>)>> = BTreeMap::new();
        for name in survey(root, Text(text)) {
            let behind = left_out.partition_point(|place| place.start < name.at);
            names.entry(name.name).or_default().push((behind, name));
        }
        Self(names)
    }

    /// Whether what was left out, which says some words, is told alike in the light of both sides, and they in its light.
    /// A name that both declare alike bears on it alike. Whether a function is used is known where it is used on both sides,
    /// and of no account where it is the same on both and used on neither.
    pub(super) fn bears_alike(
        &self,
        after: &Self,
        left_out: &BTreeSet<&str>,
        (used_before, used_after): (&BTreeMap<String, u32>, &BTreeMap<String, u32>),
    ) -> bool {
        let names: BTreeSet<&str> = self.0.keys().chain(after.0.keys()).copied().collect();
        names.into_iter().all(|name| {
            let all = |side: &Self| side.0.get(name).cloned().unwrap_or_default();
            let (were, are) = (all(self), all(after));
            let is_word = were.iter().chain(&are).all(|(_, name)| name.is_word());
            if is_word && !left_out.contains(name) {
                return true;
            }
            let said = |names: &[(usize, Name<'_>)]| -> Vec<(usize, String)> {
                names.iter().map(|(behind, name)| (*behind, name.value.to_owned())).collect()
            };
            let is_quiet = were.iter().all(|(_, name)| {
                !name.may_be_empty
                    && (!name.is_function
                        || used_before.contains_key(name.name) == used_after.contains_key(name.name))
            });
            is_quiet && said(&were) == said(&are)
        })
    }
}
