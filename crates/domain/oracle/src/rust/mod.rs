//! Reads Rust: its tests, wherever they stand, and source that knows of them.

mod assertion;
mod attribute;
mod body;
mod constants;
mod detection;
mod dropped;
mod tables;

use std::collections::BTreeSet;

use ambit_policy::FactKind;
use tree_sitter::{Node, Tree};

use crate::outline::{
    Bindings, Check, Finding, Limit, Obstacle, Outline, Relation, Told, Unit, squeezed, top_level,
};
use crate::reading::{DEPTH, Following as _, Reading, Walk};
use crate::tree::Side;
use attribute::Attributes;

/// The outline of a file.
pub(crate) fn outline(side: &Side<'_>, is_test_file: bool) -> Outline {
    let mut reader = Reader {
        text: &side.text,
        first_line: 1,
        outline: Outline::default(),
        helpers: BTreeSet::new(),
        limits: Vec::new(),
        constants: Bindings::default(),
    };
    reader.read(&side.tree, &Scope { in_tests: is_test_file, ..Scope::default() });
    reader.outline
}

/// Where an item stands.
#[derive(Clone, Debug, Default)]
struct Scope {
    /// Whether everything here is test code.
    in_tests: bool,
    /// What keeps the items here from being built.
    obstacles: Vec<Obstacle>,
    depth: u32,
}

struct Reader<'t> {
    text: &'t str,
    /// The line that the text starts on.
    first_line: u32,
    outline: Outline,
    /// Functions and macros of this file that check something.
    helpers: BTreeSet<String>,
    /// Limits that hold for all tests here.
    limits: Vec<Limit>,
    /// What constants are bound to.
    constants: Bindings,
}

impl<'t> Reading<'t> for Reader<'t> {
    fn text(&self) -> &'t str {
        self.text
    }

    fn first_line(&self) -> u32 {
        self.first_line
    }
}

impl Reader<'_> {
    fn read(&mut self, tree: &Tree, scope: &Scope) {
        self.find_helpers(tree.root_node(), 0);
        self.find_constants(tree.root_node(), 0);
        self.items(tree.root_node(), scope);
    }

    /// Finds functions and macros that hold an assertion, at any place of the file.
    fn find_helpers(&mut self, node: Node<'_>, depth: u32) {
        if depth > DEPTH {
            return;
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "function_item" | "macro_definition" => {
                    let text = self.of(child);
                    if text.contains("assert") || text.contains("panic!") {
                        self.helpers.insert(self.field(child, "name").to_owned());
                    }
                    if text.contains("macro_rules!") {
                        self.find_macros(child);
                    }
                }
                "mod_item" | "declaration_list" | "impl_item" => self.find_helpers(child, depth + 1),
                _ => {}
            }
        }
    }

    fn items(&mut self, node: Node<'_>, scope: &Scope) {
        if scope.depth > DEPTH {
            return;
        }
        let mut scope = scope.clone();
        let mut attributes = Attributes::default();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "attribute_item" => {
                    attributes.push(self.of(child), self.line(child));
                    continue;
                }
                "inner_attribute_item" => self.inner_attribute(child, &mut scope),
                "line_comment" | "block_comment" => continue,
                "function_item" => self.function(child, &attributes, &scope),
                "mod_item" => self.module(child, &attributes, &scope),
                "impl_item" | "trait_item" => self.implementation(child, &attributes, &scope),
                "macro_definition" => self.macro_definition(child, &scope),
                "macro_invocation" => self.item_macro(child, &attributes, &scope),
                "expression_statement" => {
                    if let Some(inner) =
                        child.named_child(0).filter(|inner| inner.kind() == "macro_invocation")
                    {
                        self.item_macro(inner, &attributes, &scope);
                    }
                }
                "const_item" | "static_item" if !scope.in_tests && !attributes.is_for_tests() => {
                    self.detection(child, "item");
                }
                _ => {}
            }
            attributes = Attributes::default();
        }
    }

    fn inner_attribute(&mut self, node: Node<'_>, scope: &mut Scope) {
        let text = squeezed(self.of(node));
        let line = self.line(node);
        if scope.in_tests {
            scope.obstacles.extend(attribute::obstacle(&text, line));
        }
        for level in ["warn(", "deny(", "forbid("] {
            let Some(lints) = text.strip_prefix("#![").and_then(|rest| rest.strip_prefix(level)) else {
                continue;
            };
            for lint in top_level(lints.trim_end_matches([']', ')']), &[","]) {
                let finding = Finding {
                    kind: FactKind::CheckSilenced,
                    told: Told::WhereDropped,
                    line,
                    key: format!("lint {lint}"),
                    shown: self.of(node).to_owned(),
                };
                self.outline.findings.push(finding);
            }
        }
    }

    fn module(&mut self, node: Node<'_>, attributes: &Attributes, scope: &Scope) {
        let is_for_tests = scope.in_tests || attributes.is_for_tests();
        let mut inner =
            Scope { in_tests: is_for_tests, obstacles: scope.obstacles.clone(), depth: scope.depth + 1 };
        if is_for_tests {
            inner.obstacles.extend(attributes.obstacles());
        }
        if let Some(body) = node.child_by_field_name("body") {
            return self.items(body, &inner);
        }
        if !is_for_tests {
            return;
        }
        let (name, line) = (self.field(node, "name"), self.line(node));
        let mut finding = |told, line, key: String, shown: &str| {
            self.outline.findings.push(Finding {
                kind: FactKind::TestUncollected,
                told,
                line,
                key,
                shown: shown.to_owned(),
            });
        };
        finding(Told::WhereDropped, line, format!("mod {name}"), &format!("mod {name};"));
        for (text, line) in attributes.with_path("path") {
            finding(Told::WhereAdded, line, format!("mod {name} {text}"), text);
        }
    }

    fn implementation(&mut self, node: Node<'_>, attributes: &Attributes, scope: &Scope) {
        let Some(body) = node.child_by_field_name("body") else { return };
        let of_trait = self.field(node, "trait");
        let mut cursor = body.walk();
        for function in body.named_children(&mut cursor).filter(|child| child.kind() == "function_item") {
            let is_equality = of_trait.split('<').next().is_some_and(|name| name.ends_with("PartialEq"));
            if is_equality
                && self.field(function, "name") == "eq"
                && squeezed(self.field(function, "body")) == "{true}"
            {
                self.find(
                    FactKind::AssertionTautological,
                    function,
                    &format!("eq {}", self.field(node, "type")),
                );
            }
        }
        let in_tests = scope.in_tests || attributes.is_for_tests();
        self.items(body, &Scope { in_tests, depth: scope.depth + 1, obstacles: scope.obstacles.clone() });
    }

    fn function(&mut self, node: Node<'_>, attributes: &Attributes, scope: &Scope) {
        let Some(body) = node.child_by_field_name("body") else { return };
        let is_test = attributes.is_test();
        if !is_test && !scope.in_tests && !attributes.is_for_tests() {
            if attributes.asks("not(test)") {
                self.detection_by_twin(node);
            }
            return self.detection(body, self.field(node, "name"));
        }
        let mut unit = self.unit(node, attributes, scope, is_test);
        let mut walk = Walk::new(body);
        walk.is_async = self.text[node.start_byte()..body.start_byte()].contains("async ");
        self.body(body, &mut unit, &mut walk);
        self.expected_panic(body, attributes, &mut unit);
        unit.keep_words(self.of(body));
        self.outline.units.push(unit);
    }

    fn unit(&self, node: Node<'_>, attributes: &Attributes, scope: &Scope, is_collected: bool) -> Unit {
        let mut obstacles = scope.obstacles.clone();
        obstacles.extend(attributes.obstacles());
        Unit {
            name: self.field(node, "name").to_owned(),
            line: self.line(node),
            shown: self.shown(node).trim_end_matches('{').trim_end().to_owned(),
            is_collected,
            cases: attributes.cases(),
            obstacles,
            limits: self.limits.clone(),
            ..Unit::default()
        }
    }

    /// A test that must panic checks that; one that panics by itself does not.
    fn expected_panic(&self, body: Node<'_>, attributes: &Attributes, unit: &mut Unit) {
        let Some((text, line)) = attributes.with_path("should_panic").next() else { return };
        let expected = text.find('"').map_or("", |at| text[at..].trim_end_matches([']', ')']));
        let relation = if expected.is_empty() { Relation::Present } else { Relation::Shaped };
        let mut check = Check::new(line, text, relation, "panic", expected);
        check.measure = if expected.is_empty() { String::new() } else { "contains".to_owned() };
        let mut cursor = body.walk();
        let panics = body.named_children(&mut cursor).find(|statement| {
            ["panic!(", "unreachable!(", "todo!(", "unimplemented!("]
                .iter()
                .any(|start| self.of(*statement).starts_with(start))
        });
        if let Some(panics) = panics {
            check = Check {
                line: self.line(panics),
                shown: self.shown(panics).to_owned(),
                relation: Relation::Nothing,
                ..check
            };
        }
        unit.checks.push(check);
    }

    fn find(&mut self, kind: FactKind, node: Node<'_>, key: &str) {
        let finding = self.finding(kind, Told::WhereAdded, node, key);
        self.outline.findings.push(finding);
    }

    fn macro_definition(&mut self, node: Node<'_>, scope: &Scope) {
        let (name, text) = (self.field(node, "name"), self.of(node));
        let asserts = ["assert", "panic", "fail", "unwrap", "expect"]
            .iter()
            .any(|word| text.get(text.find('{').unwrap_or(0)..).is_some_and(|body| body.contains(word)));
        if matches!(name, "assert" | "assert_eq" | "assert_ne" | "matches" | "panic") && !asserts {
            self.find(FactKind::AssertionTautological, node, &format!("macro {name}"));
        }
        if scope.in_tests {
            let mut unit = Unit {
                name: format!("macro {name}"),
                line: self.line(node),
                shown: format!("macro_rules! {name}"),
                ..Unit::default()
            };
            self.tokens(node, &mut unit, &mut Walk::new(node));
            self.outline.units.push(unit);
        }
    }
}

/// The values of variables that a test binds.
fn bind(bindings: &mut Bindings, pattern: &str, value: &str) {
    let name = pattern.trim().trim_start_matches("mut ").trim();
    if !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        bindings.bind(name, value);
    }
}
