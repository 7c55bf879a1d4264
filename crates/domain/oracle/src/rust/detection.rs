//! Finds source that knows of its tests.

use ambit_policy::FactKind;
use tree_sitter::Node;

use super::Reader;
use super::attribute::{self, Attributes};
use crate::outline::{Finding, Told};
use crate::reading::Reading as _;

/// Texts by which source finds out that a test runs it.
const RUNNER_TEXTS: [&str; 5] =
    ["--test-threads", "RUST_TEST_", "NEXTEST", "\"tests::", "CARGO_TARGET_TMPDIR"];

impl Reader<'_> {
    /// Whether the function before this one stands in its place while tests are built.
    pub(super) fn detection_by_twin(&mut self, node: Node<'_>) {
        let name = self.field(node, "name").to_owned();
        let Some(parent) = node.parent() else { return };
        let mut cursor = parent.walk();
        let mut attributes = Attributes::default();
        let mut twin = None;
        for child in parent.named_children(&mut cursor) {
            match child.kind() {
                "attribute_item" => attributes.push(self.of(child), self.line(child)),
                "function_item" => {
                    if attributes.is_for_tests() && self.field(child, "name") == name {
                        twin = attributes.with_path("cfg").next().map(|(text, line)| (text.to_owned(), line));
                    }
                    attributes = Attributes::default();
                }
                "line_comment" | "block_comment" => {}
                _ => attributes = Attributes::default(),
            }
        }
        if let Some((shown, line)) = twin {
            let key = format!("twin {name}");
            self.outline.findings.push(Finding {
                kind: FactKind::TestDetected,
                told: Told::WhereAdded,
                line,
                key,
                shown,
            });
        }
    }

    /// Looks for code that asks whether it is tested.
    pub(super) fn detection(&mut self, node: Node<'_>, within: &str) {
        let text = self.of(node);
        let suspects = ["cfg!", "#[cfg", "thread::current"];
        if !suspects.iter().chain(&RUNNER_TEXTS).any(|word| text.contains(word)) {
            return;
        }
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            let text = self.of(node);
            let told = match node.kind() {
                "macro_invocation" => text.starts_with("cfg!") && attribute::asks_test(text),
                "attribute_item" => {
                    text.contains("cfg")
                        && attribute::asks_test(text)
                        && node.next_named_sibling().is_some_and(changes_behaviour)
                }
                "string_literal" => RUNNER_TEXTS.iter().any(|runner| text.contains(runner)),
                _ => false,
            };
            if told {
                self.find(FactKind::TestDetected, node, &format!("detection in {within}"));
                continue;
            }
            let mut cursor = node.walk();
            stack.extend(node.named_children(&mut cursor));
        }
    }
}

/// Whether a statement or an expression does something: an item that only tests use does nothing by itself.
fn changes_behaviour(node: Node<'_>) -> bool {
    !matches!(
        node.kind(),
        "use_declaration"
            | "mod_item"
            | "field_declaration"
            | "field_initializer"
            | "attribute_item"
            | "enum_variant"
    )
}
