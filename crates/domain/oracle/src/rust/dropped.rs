//! Finds what leaves a test early, and what drops the outcome of a check.

use ambit_policy::FactKind;
use tree_sitter::Node;

use super::Reader;
use super::body::mentions;
use crate::outline::{Obstacle, squeezed};
use crate::reading::{DEPTH, Reading as _, Walk};

/// The longest statement whose outcome is followed.
const STATEMENT_BYTES: usize = 20_000;

impl Reader<'_> {
    /// What is told of a task whose failure is dropped at this offset.
    pub(super) fn obstacle_at(&self, offset: usize) -> Obstacle {
        let lines = self.text[..offset].matches('\n').count();
        Obstacle {
            kind: FactKind::AssertionSwallowed,
            key: "joined".to_owned(),
            line: u32::try_from(lines).unwrap_or(u32::MAX).saturating_add(self.first_line),
            shown: self.shown_at(offset).to_owned(),
        }
    }

    /// Ways by which a statement leaves its test with success.
    pub(super) fn exits(&self, node: Node<'_>, depth: u32) -> Vec<Obstacle> {
        if depth > DEPTH {
            return Vec::new();
        }
        match node.kind() {
            "closure_expression" | "async_block" | "function_item" | "token_tree" => return Vec::new(),
            "return_expression" => {
                let value = node.named_child(0).map_or("", |value| self.of(value));
                let well = value.is_empty()
                    || value == "()"
                    || value.starts_with("Ok(")
                    || value.starts_with("TestResult::");
                return well
                    .then(|| self.obstacle(FactKind::AssertionUnreachable, "return", node))
                    .into_iter()
                    .collect();
            }
            "macro_invocation" => {
                let assumes = self.field(node, "macro").rsplit("::").next() == Some("prop_assume");
                return assumes
                    .then(|| self.obstacle(FactKind::AssertionUnreachable, "assume", node))
                    .into_iter()
                    .collect();
            }
            _ => {}
        }
        let mut cursor = node.walk();
        node.named_children(&mut cursor).flat_map(|child| self.exits(child, depth + 1)).collect()
    }

    /// What makes a statement drop the outcome of the checks in it.
    pub(super) fn dropped(&self, node: Node<'_>, walk: &Walk<'_>) -> Vec<Obstacle> {
        let is_let = node.kind() == "let_declaration";
        let text = self.of(node);
        if !(is_let || node.kind() == "expression_statement") || text.len() > STATEMENT_BYTES {
            return Vec::new();
        }
        let pattern = if is_let { self.field(node, "pattern") } else { "" };
        let (value, statement) = (squeezed(text), self.of(walk.body));
        let is_dropped = pattern == "_" || value.ends_with(".ok();") || value.starts_with("drop(");
        let is_unused = pattern.len() > 1 && pattern.starts_with('_') && mentions(statement, pattern) == 1;
        let mut found = Vec::new();
        let tell = |kind, key: &str| self.obstacle(kind, key, node);
        if value.contains("catch_unwind(") {
            if is_dropped
                || is_unused
                || (!is_let && value.contains("catch_unwind(") && value.starts_with("std::panic::"))
            {
                found.push(tell(FactKind::AssertionSwallowed, "catch_unwind"));
            }
        } else if let Some(at) = spawn_in(&value) {
            let is_scoped = statement.contains("scope(") && value[..at].ends_with('.');
            let is_bound = is_let && !is_dropped;
            let joined = value.contains(".join()") || value.ends_with(".await;") || value.contains(".await.");
            let is_kept = is_bound && self.is_joined(pattern, walk, |joined| found.push(joined));
            let is_bare = !is_let
                && node.kind() == "expression_statement"
                && value.starts_with(&value[..at])
                && !value[..at].contains('(');
            if !is_scoped && !joined && !is_kept && (is_let || is_bare) {
                found.push(tell(FactKind::TestNotAwaited, "spawn"));
            }
        } else if is_dropped {
            found.push(tell(FactKind::AssertionSwallowed, "dropped"));
        } else if is_let && self.binds_closure(node) && mentions(statement, pattern) == 1 {
            found.push(tell(FactKind::AssertionUnreachable, "closure"));
        }
        found
    }

    pub(super) fn binds_closure(&self, node: Node<'_>) -> bool {
        node.child_by_field_name("value")
            .is_some_and(|value| matches!(value.kind(), "closure_expression" | "async_block"))
    }

    /// Whether what is bound to the name is waited for. One that is, and whose failure is dropped, is told.
    pub(super) fn is_joined(&self, name: &str, walk: &Walk<'_>, mut tell: impl FnMut(Obstacle)) -> bool {
        let name = name.trim_start_matches("mut ");
        let body = self.of(walk.body);
        if mentions(body, name) < 2 {
            return false;
        }
        let dropped = [
            format!("let _ = {name}.await"),
            format!("let _ = {name}.join()"),
            format!("{name}.join().ok()"),
            format!("{name}.await.ok()"),
        ];
        if let Some(at) = dropped.iter().find_map(|form| body.find(form.as_str())) {
            tell(self.obstacle_at(walk.body.start_byte() + at));
        }
        true
    }
}

/// Where a statement starts a task or a thread.
fn spawn_in(text: &str) -> Option<usize> {
    ["spawn(", "spawn_blocking(", "spawn_local("].iter().find_map(|word| text.find(word))
}
