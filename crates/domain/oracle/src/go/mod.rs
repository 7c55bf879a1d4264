//! Reads Go: its tests, and source that knows of them.

mod body;
mod condition;
mod testify;

use ambit_policy::FactKind;
use tree_sitter::Node;

use crate::outline::{Case, Check, Outline, Relation, Told, Unit, squeezed};
use crate::reading::{Following as _, Reading, Walk};
use crate::tree::Side;

/// Texts by which source finds out that a test runs it.
const RUNNER_TEXTS: [&str; 5] = ["\"test.v\"", "\"test.run\"", "\"test.timeout\"", "\".test\"", "\"-test."];

/// The outline of a file.
pub(crate) fn outline(side: &Side<'_>, is_test_file: bool) -> Outline {
    let Side { text, tree } = side;
    let mut reader = Reader { text: text.as_ref(), outline: Outline::default(), helpers: Vec::new() };
    if is_test_file {
        reader.find_helpers(tree.root_node());
        reader.declarations(tree.root_node());
    } else {
        reader.detection(tree.root_node());
    }
    reader.outline
}

struct Reader<'t> {
    text: &'t str,
    outline: Outline,
    /// Functions of this file that fail the test that they are given.
    helpers: Vec<String>,
}

impl<'t> Reading<'t> for Reader<'t> {
    fn text(&self) -> &'t str {
        self.text
    }
}

impl Reader<'_> {
    fn find_helpers(&mut self, root: Node<'_>) {
        let mut cursor = root.walk();
        for function in root.named_children(&mut cursor) {
            let takes_test = takes_test(self.field(function, "parameters"));
            let name = self.field(function, "name");
            if function.kind() == "function_declaration" && takes_test && !is_test_name(name) {
                self.helpers.push(name.to_owned());
            }
        }
    }

    fn declarations(&mut self, root: Node<'_>) {
        let mut cursor = root.walk();
        for declaration in root.named_children(&mut cursor) {
            match declaration.kind() {
                "function_declaration" | "method_declaration" => self.function(declaration),
                _ => {}
            }
        }
    }

    fn function(&mut self, node: Node<'_>) {
        let Some(body) = node.child_by_field_name("body") else { return };
        let name = self.field(node, "name");
        let parameters = self.field(node, "parameters");
        let is_method = node.kind() == "method_declaration";
        let is_example = name.starts_with("Example");
        let mut unit = Unit {
            name: name.to_owned(),
            line: self.line(node),
            shown: self.shown(node).trim_end_matches('{').trim_end().to_owned(),
            // Suites of testify collect methods.
            is_collected: (is_test_name(name) && is_runnable(name, parameters))
                || (is_method && name.starts_with("Test"))
                || is_example,
            ..Unit::default()
        };
        let mut walk = Walk::new(body);
        self.body(body, &mut unit, &mut walk);
        if is_example {
            self.output(body, &mut unit);
        }
        self.outline.units.push(unit);
    }

    /// What an example must print. Without that comment it is only built.
    fn output(&self, body: Node<'_>, unit: &mut Unit) {
        let mut cursor = body.walk();
        let comments: Vec<Node<'_>> =
            body.children(&mut cursor).filter(|child| child.kind() == "comment").collect();
        let inner: Vec<Node<'_>> = comments_within(body);
        for comment in comments.into_iter().chain(inner) {
            let text = self.of(comment).trim_start_matches('/').trim();
            let lower = text.to_lowercase();
            if let Some(expected) = lower.strip_prefix("output:") {
                unit.checks.push(Check::new(
                    self.line(comment),
                    self.shown(comment),
                    Relation::Equals,
                    "output",
                    &format!("\"{expected}\""),
                ));
            } else if let Some(expected) = lower.strip_prefix("unordered output:") {
                let mut check = Check::new(
                    self.line(comment),
                    self.shown(comment),
                    Relation::Shaped,
                    "output",
                    &format!("\"{expected}\""),
                );
                check.measure = "unordered".to_owned();
                unit.checks.push(check);
            }
        }
        unit.checks.dedup_by(|one, other| one.line == other.line);
    }

    /// Looks for source that asks whether it is tested.
    fn detection(&mut self, root: Node<'_>) {
        let suspects = ["testing.Testing", "testing.Short"];
        if !suspects.iter().chain(&RUNNER_TEXTS).any(|word| self.text.contains(word)) {
            return;
        }
        let mut stack = vec![root];
        while let Some(node) = stack.pop() {
            let text = self.of(node);
            let told = match node.kind() {
                "call_expression" => ["testing.Testing()", "testing.Short()"].contains(&text),
                "interpreted_string_literal" => {
                    RUNNER_TEXTS.iter().any(|runner| text.starts_with(runner) || text == *runner)
                }
                _ => false,
            };
            if told {
                let key = format!("detection {text}");
                let finding = self.finding(FactKind::TestDetected, Told::WhereAdded, node, &key);
                self.outline.findings.push(finding);
            }
            let mut cursor = node.walk();
            stack.extend(node.named_children(&mut cursor));
        }
    }

    /// The rows of a literal of a slice, an array or a map.
    fn rows(&self, literal: Node<'_>) -> Vec<Case> {
        let Some(body) = literal.child_by_field_name("body") else { return Vec::new() };
        let mut cursor = body.walk();
        let elements = body.named_children(&mut cursor).filter(|child| child.kind() != "comment");
        elements
            .map(|element| {
                let mut inner = element.walk();
                let value = element.named_child(0).filter(|value| value.kind() == "literal_value");
                let cells = match value {
                    Some(value) => value
                        .named_children(&mut inner)
                        .filter(|cell| cell.kind() != "comment")
                        .map(|cell| self.cell(cell))
                        .collect(),
                    None => vec![squeezed(self.of(element))],
                };
                Case {
                    line: self.line(element),
                    cells,
                    shown: self.of(element).lines().next().unwrap_or("").to_owned(),
                }
            })
            .collect()
    }

    /// A cell without the name of its field, so that a row may name its fields and not.
    fn cell(&self, cell: Node<'_>) -> String {
        let value = cell.child_by_field_name("value").unwrap_or(cell);
        squeezed(self.of(value))
    }
}

fn comments_within(body: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = body.walk();
    let lists: Vec<Node<'_>> =
        body.named_children(&mut cursor).filter(|child| child.kind() == "statement_list").collect();
    let mut found = Vec::new();
    for list in lists {
        let mut cursor = list.walk();
        found.extend(list.children(&mut cursor).filter(|child| child.kind() == "comment"));
    }
    found
}

/// Whether a function by this name is one that `go test` looks for.
fn is_test_name(name: &str) -> bool {
    ["Test", "Benchmark", "Fuzz"].iter().any(|start| {
        name.strip_prefix(start).is_some_and(|rest| !rest.starts_with(|c: char| c.is_lowercase()))
    })
}

/// Whether a function of this name with these parameters is run by `go test`.
fn is_runnable(name: &str, parameters: &str) -> bool {
    let wanted = match name.as_bytes().first() {
        Some(b'B') => "*testing.B",
        Some(b'F') => "*testing.F",
        _ if name == "TestMain" => "*testing.M",
        _ => "*testing.T",
    };
    parameters.trim_end_matches(')').ends_with(wanted)
}

/// Whether one of the parameters is the handle of a test.
fn takes_test(parameters: &str) -> bool {
    ["testing.T", "testing.B", "testing.F", "TestingT"].iter().any(|handle| parameters.contains(handle))
}
