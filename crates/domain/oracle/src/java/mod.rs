//! Reads Java: its tests, and source that knows of them.

mod body;
mod known;

use ambit_policy::FactKind;
use tree_sitter::Node;

use crate::outline::{
    Case, Check, Limit, Obstacle, Outline, Relation, Told, Unit, amount, squeezed, top_level,
};
use crate::reading::{DEPTH, Following as _, Reading, Walk};
use crate::tree::Side;

/// Annotations that make a method a test.
const TESTS: [&str; 6] =
    ["Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Property"];
/// Annotations that hold the values of a parametrised test.
const SOURCES: [&str; 3] = ["ValueSource", "CsvSource", "EnumSource"];
/// Texts by which source finds out that a test runs it.
const RUNNER_TEXTS: [&str; 4] = ["\"org.junit", "\"org.testng", "\"surefire", "\"junit."];

/// The outline of a file.
pub(crate) fn outline(side: &Side<'_>, is_test_file: bool) -> Outline {
    let Side { text, tree } = side;
    let mut reader = Reader { text: text.as_ref(), outline: Outline::default(), helpers: Vec::new() };
    if is_test_file {
        reader.find_helpers(tree.root_node(), 0);
        reader.types(tree.root_node(), true, &[], 0);
    } else {
        reader.detection(tree.root_node());
    }
    reader.outline
}

struct Reader<'t> {
    text: &'t str,
    outline: Outline,
    /// Methods of this file that check something.
    helpers: Vec<String>,
}

/// One annotation: its name without its package, its text, its line.
struct Annotation<'t> {
    name: &'t str,
    text: &'t str,
    line: u32,
}

impl<'t> Reading<'t> for Reader<'t> {
    fn text(&self) -> &'t str {
        self.text
    }
}

impl<'t> Reader<'t> {
    fn annotations(&self, node: Node<'_>) -> Vec<Annotation<'t>> {
        let mut cursor = node.walk();
        let Some(modifiers) = node.named_children(&mut cursor).find(|child| child.kind() == "modifiers")
        else {
            return Vec::new();
        };
        let mut cursor = modifiers.walk();
        let annotations =
            modifiers.named_children(&mut cursor).filter(|child| child.kind().ends_with("annotation"));
        annotations
            .map(|annotation| Annotation {
                name: self.field(annotation, "name").rsplit('.').next().unwrap_or(""),
                text: self.of(annotation),
                line: self.line(annotation),
            })
            .collect()
    }

    fn is_private(&self, node: Node<'_>) -> bool {
        let mut cursor = node.walk();
        let modifiers = node.named_children(&mut cursor).find(|child| child.kind() == "modifiers");
        modifiers.is_some_and(|modifiers| {
            self.of(modifiers).split_whitespace().any(|word| matches!(word, "private" | "abstract"))
        })
    }

    fn find_helpers(&mut self, node: Node<'_>, depth: u32) {
        if depth > DEPTH {
            return;
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "method_declaration" => {
                    let body = self.field(child, "body");
                    let is_test =
                        self.annotations(child).iter().any(|annotation| TESTS.contains(&annotation.name));
                    if !is_test
                        && (body.contains("assert") || body.contains("verify(") || body.contains("fail("))
                    {
                        self.helpers.push(self.field(child, "name").to_owned());
                    }
                }
                "class_declaration"
                | "class_body"
                | "record_declaration"
                | "interface_declaration"
                | "interface_body" => {
                    self.find_helpers(child, depth + 1);
                }
                _ => {}
            }
        }
    }

    /// The classes of a file. Of those within others the runner finds static ones and those that say that they are nested.
    fn types(&mut self, node: Node<'_>, is_collected: bool, outer: &[Obstacle], depth: u32) {
        if depth > DEPTH {
            return;
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "class_declaration" | "record_declaration" | "interface_declaration" | "enum_declaration" => {
                    let annotations = self.annotations(child);
                    let is_static = child.kind() != "class_declaration"
                        || self
                            .of(child)
                            .split('{')
                            .next()
                            .is_some_and(|head| head.split_whitespace().any(|word| word == "static"));
                    let is_nested = annotations.iter().any(|annotation| annotation.name == "Nested");
                    let mut obstacles = outer.to_vec();
                    obstacles.extend(annotations.iter().filter_map(condition));
                    if let Some(body) = child.child_by_field_name("body") {
                        self.types(
                            body,
                            is_collected && (depth == 0 || is_static || is_nested),
                            &obstacles,
                            depth + 1,
                        );
                    }
                }
                "method_declaration" => self.method(child, is_collected, outer),
                _ => {}
            }
        }
    }

    fn method(&mut self, node: Node<'_>, is_collected: bool, outer: &[Obstacle]) {
        let Some(body) = node.child_by_field_name("body") else { return };
        let annotations = self.annotations(node);
        let test = annotations.iter().find(|annotation| TESTS.contains(&annotation.name));
        let name = self.field(node, "name");
        // JUnit 3 finds public methods by their names.
        let by_name = name.starts_with("test") && self.text.contains("extends TestCase");
        let mut obstacles = outer.to_vec();
        obstacles.extend(annotations.iter().filter_map(condition));
        let declared = node.child_by_field_name("name").unwrap_or(node);
        let mut unit = Unit {
            name: name.to_owned(),
            line: self.line(declared),
            shown: self.shown(declared).trim_end_matches('{').trim_end().to_owned(),
            is_collected: is_collected && (test.is_some() || by_name) && !self.is_private(node),
            cases: annotations.iter().flat_map(values).collect(),
            limits: annotations.iter().filter_map(limit).collect(),
            obstacles,
            ..Unit::default()
        };
        for annotation in &annotations {
            if annotation.name == "Timeout" {
                unit.checks.push(Check::new(
                    annotation.line,
                    annotation.text,
                    Relation::Holds,
                    "timeout",
                    "",
                ));
            }
        }
        if let Some(expected) = test.and_then(|test| expected(test)) {
            unit.checks.push(expected);
        }
        let mut walk = Walk::new(body);
        self.swallowed_by_annotation(test, &mut walk);
        self.body(body, &mut unit, &mut walk);
        self.outline.units.push(unit);
    }

    /// A test that expects any failure passes by the failure of its own assertions.
    fn swallowed_by_annotation(&self, test: Option<&Annotation<'_>>, walk: &mut Walk<'_>) {
        let any = ["Throwable.class", "Error.class", "AssertionError.class"];
        if let Some(test) = test
            && let Some((_, expected)) = squeezed(test.text).split_once("expected=")
            && any.iter().any(|known| expected.starts_with(known))
        {
            walk.obstacles.push(Obstacle {
                kind: FactKind::AssertionSwallowed,
                key: "expected".to_owned(),
                line: test.line,
                shown: test.text.to_owned(),
            });
        }
    }

    /// Looks for source that asks whether it is tested, and for equality that holds for everything.
    fn detection(&mut self, root: Node<'_>) {
        let mut stack = vec![root];
        while let Some(node) = stack.pop() {
            let found = match node.kind() {
                "string_literal" if RUNNER_TEXTS.iter().any(|runner| self.of(node).starts_with(runner)) => {
                    Some((FactKind::TestDetected, format!("detection {}", self.of(node))))
                }
                "method_declaration"
                    if self.field(node, "name") == "equals"
                        && squeezed(self.field(node, "body")) == "{return true;}" =>
                {
                    Some((FactKind::AssertionTautological, "equals".to_owned()))
                }
                _ => None,
            };
            if let Some((kind, key)) = found {
                let at = node.child_by_field_name("name").unwrap_or(node);
                let finding = self.finding(kind, Told::WhereAdded, at, &key);
                self.outline.findings.push(finding);
            }
            let mut cursor = node.walk();
            stack.extend(node.named_children(&mut cursor));
        }
    }
}

/// A condition under which alone a test runs. Those that are markers by themselves are not told twice.
fn condition(annotation: &Annotation<'_>) -> Option<Obstacle> {
    let text = squeezed(annotation.text);
    let is_off = annotation.name == "Test" && text.contains("enabled=false");
    let is_condition = annotation.name.starts_with("EnabledOn") || annotation.name.starts_with("EnabledFor");
    (is_off || is_condition).then(|| Obstacle {
        kind: FactKind::SkipMarkerAdded,
        key: text,
        line: annotation.line,
        shown: format!("@{}", annotation.name),
    })
}

/// The exception that a test must end with.
fn expected(test: &Annotation<'_>) -> Option<Check> {
    let text = squeezed(test.text);
    let (_, expected) = text.split_once("expected=")?;
    let class = expected.split([',', ')']).next()?;
    Some(known::thrown(test.line, test.text, "test", class))
}

/// The values of a parametrised test.
fn values(annotation: &Annotation<'_>) -> Vec<Case> {
    if !SOURCES.contains(&annotation.name) {
        return Vec::new();
    }
    let text = annotation.text;
    let open = text.find('{').map(|at| at + 1);
    let inside = open.and_then(|open| text.get(open..text.rfind('}')?)).unwrap_or("");
    let values = top_level(inside, &[","]).into_iter().filter(|value| !value.trim().is_empty());
    values
        .map(|value| {
            let start =
                value.as_ptr() as usize - text.as_ptr() as usize + value.len() - value.trim_start().len();
            let lines = u32::try_from(text[..start].matches('\n').count()).unwrap_or(u32::MAX);
            let row = value.trim().trim_matches('"');
            Case {
                line: annotation.line.saturating_add(lines),
                cells: row.split(',').map(squeezed).collect(),
                shown: value.trim().to_owned(),
            }
        })
        .collect()
}

/// How long a test may take, how often it runs.
fn limit(annotation: &Annotation<'_>) -> Option<Limit> {
    let text = squeezed(annotation.text);
    let value = amount(text.split_once('(')?.1.trim_start_matches("value=").split([',', ')']).next()?)?;
    let (name, value, kind) = match annotation.name {
        // More time is a weaker limit.
        "Timeout" => ("timeout", -value, FactKind::AssertionLoosened),
        "RepeatedTest" => ("repeated", value, FactKind::ParameterDropped),
        _ => return None,
    };
    Some(Limit { name, line: annotation.line, shown: annotation.text.to_owned(), value, kind })
}
