//! The functions of a file, and the scopes that they stand in.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::source::Language;

/// How deep scopes are followed.
const DEPTH: usize = 12;
/// The longest head of a scope.
const HEAD_BYTES: usize = 600;

/// What the nodes of a language are.
pub(super) struct Kinds {
    /// Functions.
    items: &'static [&'static str],
    /// What has a body that functions stand in.
    scopes: &'static [&'static str],
    /// What stands before an item and belongs to it.
    attributes: &'static [&'static str],
    /// What stands in the place of an item that is left out.
    pub(super) filler: &'static str,
}

/// A function of a file.
#[derive(Clone, Debug)]
pub(crate) struct Item<'t> {
    pub(crate) name: &'t str,
    /// Where its name stands.
    pub(crate) name_at: usize,
    /// With what stands before it and belongs to it.
    pub(crate) place: Range<usize>,
}

impl Kinds {
    pub(super) const fn of(language: Language) -> Option<Self> {
        Some(match language {
            Language::Python => Self {
                items: &["function_definition"],
                scopes: &["class_definition"],
                attributes: &[],
                filler: "pass",
            },
            Language::Rust => Self {
                items: &["function_item"],
                scopes: &["mod_item", "impl_item"],
                attributes: &["attribute_item"],
                filler: "",
            },
            Language::Go => Self {
                items: &["function_declaration", "method_declaration"],
                scopes: &[],
                attributes: &[],
                filler: "",
            },
            Language::Java => Self {
                items: &["method_declaration", "constructor_declaration"],
                scopes: &["class_declaration"],
                attributes: &[],
                filler: "",
            },
            Language::JavaScript { .. } => return None,
        })
    }

    /// The body of a scope.
    fn body<'n>(&self, node: Node<'n>) -> Option<Node<'n>> {
        let inner = undecorated(node);
        if self.scopes.contains(&inner.kind()) { inner.child_by_field_name("body") } else { None }
    }

    /// Whether a place lies in a body. Where a filler stands in it, that may be all that the body ends with.
    fn holds(&self, body: Node<'_>, place: &Range<usize>) -> bool {
        let end = if self.filler.is_empty() { place.end } else { place.start + self.filler.len() };
        body.start_byte() <= place.start && end <= body.end_byte()
    }
}

fn undecorated(node: Node<'_>) -> Node<'_> {
    if node.kind() == "decorated_definition" {
        node.child_by_field_name("definition").unwrap_or(node)
    } else {
        node
    }
}

/// The functions of a file, in their order. Those within functions are part of them.
pub(super) fn collect<'t>(kinds: &Kinds, tree: &Tree, text: &'t str) -> Vec<Item<'t>> {
    let mut found = Vec::new();
    collect_in(kinds, tree.root_node(), text, 0, &mut found);
    found
}

fn collect_in<'t>(kinds: &Kinds, scope: Node<'_>, text: &'t str, depth: usize, found: &mut Vec<Item<'t>>) {
    let mut attributes = None;
    let mut cursor = scope.walk();
    for child in scope.named_children(&mut cursor) {
        if child.is_extra() {
            continue;
        }
        if kinds.attributes.contains(&child.kind()) {
            attributes.get_or_insert(child.start_byte());
            continue;
        }
        let start = attributes.take().unwrap_or(child.start_byte());
        let inner = undecorated(child);
        if kinds.items.contains(&inner.kind()) {
            if let Some(name) = inner.child_by_field_name("name") {
                let place = start..child.end_byte();
                let name_at = name.start_byte();
                found.push(Item { name: text.get(name.byte_range()).unwrap_or(""), name_at, place });
            }
        } else if let Some(body) = kinds.body(child).filter(|_| depth < DEPTH) {
            collect_in(kinds, body, text, depth + 1, found);
        }
    }
}

/// The scopes that some places stand in.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scopes {
    /// What stands before the bodies of each scope and of those around it.
    heads: Vec<String>,
    /// By their numbers, those of the places.
    of_places: Vec<usize>,
}

/// The scopes that each place stands in. `None` where one stands in anything else.
pub(super) fn scopes(kinds: &Kinds, tree: &Tree, text: &str, places: &[Range<usize>]) -> Option<Scopes> {
    let mut scopes = Scopes { heads: vec![String::new()], of_places: Vec::with_capacity(places.len()) };
    scopes.follow(kinds, tree.root_node(), text, places)?;
    Some(scopes)
}

impl Scopes {
    fn follow(&mut self, kinds: &Kinds, scope: Node<'_>, text: &str, places: &[Range<usize>]) -> Option<()> {
        let (number, mut places) = (self.heads.len() - 1, places);
        let mut attributes = None;
        let mut cursor = scope.walk();
        for child in scope.named_children(&mut cursor) {
            let before = places.iter().take_while(|place| place.end <= child.start_byte()).count();
            self.of_places.extend(std::iter::repeat_n(number, before));
            places = &places[before..];
            let start = attributes.unwrap_or(child.start_byte());
            let is_attribute = kinds.attributes.contains(&child.kind());
            attributes = if is_attribute || child.is_extra() { attributes } else { None };
            if is_attribute {
                attributes.get_or_insert(child.start_byte());
            }
            let within = places.iter().take_while(|place| place.start < child.end_byte()).count();
            let (inside, rest) = places.split_at(within);
            places = rest;
            match inside {
                [] => {}
                [first] if child.byte_range() == (first.start..first.start + kinds.filler.len()) => {
                    self.of_places.push(number);
                }
                [..] => {
                    let body = kinds.body(child)?;
                    let head = text.get(start..body.start_byte()).filter(|head| head.len() <= HEAD_BYTES)?;
                    let around = &self.heads[number];
                    if around.len() > HEAD_BYTES * DEPTH
                        || !inside.iter().all(|place| kinds.holds(body, place))
                    {
                        return None;
                    }
                    self.heads.push(format!("{around}\n{head}"));
                    self.follow(kinds, body, text, inside)?;
                }
            }
        }
        self.of_places.extend(std::iter::repeat_n(number, places.len()));
        Some(())
    }
}
