//! `assert` statements, and calls that check.

use ambit_policy::FactKind;
use tree_sitter::Node;

use super::body::Walk;
use super::nodes::first;
use super::{Reader, WAITS};
use crate::outline::{Check, Relation, Unit};
use crate::reading::{DEPTH, Reading as _};

/// Beginnings of the names of functions that check something.
const HELPERS: [&str; 7] = ["assert", "check_", "verify_", "expect_", "ensure_", "validate_", "_assert"];

impl Reader<'_> {
    pub(super) fn assertion(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let Some(condition) = first(node) else { return };
        for mut check in self.condition(condition, false, 0) {
            self.shown(node).clone_into(&mut check.shown);
            check.line = self.line(node);
            self.not_awaited(condition, &mut check);
            self.checked(check, unit, walk);
        }
    }

    /// A function that others wait for and that is not waited for here.
    fn not_awaited(&self, node: Node<'_>, check: &mut Check) {
        if self.forgets(node, 0) {
            check.obstacles.push(self.obstacle(FactKind::TestNotAwaited, "await", node));
        }
    }

    fn forgets(&self, node: Node<'_>, depth: u32) -> bool {
        if depth > DEPTH || node.kind() == "await" {
            return false;
        }
        if node.kind() == "call" && self.awaited.contains(&self.tight_field(node, "function")) {
            return true;
        }
        let mut cursor = node.walk();
        node.named_children(&mut cursor).any(|child| self.forgets(child, depth + 1))
    }

    /// Finds calls that check, at any depth of an expression.
    pub(super) fn calls(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        self.calls_within(node, false, unit, walk, 0);
    }

    fn calls_within(
        &mut self,
        node: Node<'_>,
        is_awaited: bool,
        unit: &mut Unit,
        walk: &mut Walk<'_>,
        depth: u32,
    ) {
        if depth > DEPTH {
            return;
        }
        if node.kind() == "call" {
            let found = self.test_call(node);
            let is_check = !found.is_empty();
            for mut check in found {
                if !is_awaited {
                    self.not_awaited(node, &mut check);
                }
                self.checked(check, unit, walk);
            }
            walk.patched.extend(super::decorator::replaced(&self.tight(node)));
            walk.patched.extend(self.set_attribute(node));
            if is_check {
                return;
            }
            let name = self.tight_field(node, "function");
            let last = name.rsplit('.').next().unwrap_or("");
            if HELPERS.iter().any(|start| last.starts_with(start)) {
                let mut check =
                    Check::new(self.line(node), self.shown(node), Relation::Helper, &self.plain(node), "");
                if !is_awaited {
                    self.not_awaited(node, &mut check);
                }
                self.checked(check, unit, walk);
                return;
            }
        }
        let awaits = match node.kind() {
            "await" => true,
            "call" => WAITS.iter().any(|name| self.field(node, "function").ends_with(name)),
            "argument_list" => is_awaited,
            _ => false,
        };
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.calls_within(child, awaits, unit, walk, depth + 1);
        }
    }

    /// What `monkeypatch.setattr` puts a function in the place of.
    fn set_attribute(&self, call: Node<'_>) -> Option<String> {
        let text = self.tight(call);
        let arguments = text.split_once("monkeypatch.setattr(").map(|(_, rest)| rest)?;
        let parts = crate::outline::top_level(arguments, &[","]);
        let value = parts.last()?;
        let name = if parts.len() > 2 { parts[1] } else { parts[0] };
        let name = name.trim().trim_matches(['"', '\'']).rsplit('.').next()?;
        value.trim().starts_with("lambda").then(|| name.to_owned())
    }
}
