//! Constants that tests compare with or go through, and outcomes that they ask for or drop.

use ambit_policy::FactKind;
use tree_sitter::Node;

use super::{DEPTH, Reader};
use crate::outline::{Case, Obstacle, is_literal, squeezed};
use crate::reading::Reading as _;

impl Reader<'_> {
    /// Finds the macros of a function that hold an assertion.
    pub(super) fn find_macros(&mut self, function: Node<'_>) {
        let Some(body) = function.child_by_field_name("body") else { return };
        let mut cursor = body.walk();
        for statement in body.named_children(&mut cursor) {
            if statement.kind() == "macro_definition" && self.of(statement).contains("assert") {
                self.helpers.insert(self.field(statement, "name").to_owned());
            }
        }
    }

    /// Finds the constants that are written out, in any module of the file.
    pub(super) fn find_constants(&mut self, node: Node<'_>, depth: u32) {
        if depth > DEPTH {
            return;
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "const_item" | "static_item" => {
                    let value = self.field(child, "value");
                    let is_list = value.trim_start_matches('&').starts_with('[');
                    if is_list || is_literal(value) {
                        self.constants.bind(self.field(child, "name"), value);
                    }
                }
                "mod_item" | "declaration_list" => self.find_constants(child, depth + 1),
                _ => {}
            }
        }
    }

    /// The rows of the constant of this name.
    pub(super) fn constant_list(&self, name: Node<'_>) -> Vec<Case> {
        let mut at = name;
        while let Some(parent) = at.parent() {
            at = parent;
        }
        let mut open = vec![(at, 0)];
        while let Some((node, depth)) = open.pop() {
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                match child.kind() {
                    "const_item" | "static_item" if self.field(child, "name") == self.of(name) => {
                        let value = child.child_by_field_name("value");
                        let list = value.and_then(|value| match value.kind() {
                            "reference_expression" => value.child_by_field_name("value"),
                            _ => Some(value),
                        });
                        let list = list.filter(|list| list.kind() == "array_expression");
                        return list.map(|list| self.elements(list)).unwrap_or_default();
                    }
                    "mod_item" | "declaration_list" if depth < DEPTH => open.push((child, depth + 1)),
                    _ => {}
                }
            }
        }
        Vec::new()
    }

    /// The call whose failure panics: `x` of `x.unwrap()` and `x.expect("…")`.
    pub(super) fn unwrapped(&self, call: Node<'_>) -> Option<String> {
        let function =
            call.child_by_field_name("function").filter(|function| function.kind() == "field_expression")?;
        let asks = matches!(self.field(function, "field"), "unwrap" | "expect");
        let value = function
            .child_by_field_name("value")
            .filter(|value| asks && value.kind() == "call_expression")?;
        Some(squeezed(self.of(value)))
    }

    /// A call of which nothing is asked: `let _ = x;`.
    pub(super) fn outcome_dropped(&self, binding: Node<'_>) -> Option<Obstacle> {
        let value = binding.child_by_field_name("value").filter(|_| self.field(binding, "pattern") == "_")?;
        let mut obstacle = self.obstacle(FactKind::AssertionSwallowed, "", binding);
        obstacle.key = squeezed(self.of(value));
        Some(obstacle)
    }
}
