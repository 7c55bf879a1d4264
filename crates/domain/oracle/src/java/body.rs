//! Follows the body of a test to what it checks, and collects what stands between.

use ambit_policy::FactKind;
use tree_sitter::Node;

use super::{Reader, known};
use crate::outline::{Check, Obstacle, Relation, Unit, squeezed, top_level};
use crate::reading::{DEPTH, Following, Reading as _, Walk};

/// Exceptions by which assertions fail, and what holds them.
const FAILURES: [&str; 4] = ["Throwable", "Error", "AssertionError", "AssertionFailedError"];

impl<'t> Following<'t> for Reader<'t> {
    fn node(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        match node.kind() {
            "block" => self.block(node, unit, walk),
            "local_variable_declaration" => self.binding(node, unit, walk),
            "if_statement" => self.branch(node, unit, walk),
            "try_statement" | "try_with_resources_statement" => self.attempt(node, unit, walk),
            "method_invocation" => self.call(node, unit, walk),
            "assert_statement" => {
                let mut check = Check::new(
                    self.line(node),
                    self.shown(node),
                    Relation::Holds,
                    node.named_child(0).map_or("", |child| self.of(child)),
                    "",
                );
                // The runtime leaves it out unless it is told otherwise.
                check.is_optional = true;
                walk.check(check, unit);
            }
            "object_creation_expression" if self.field(node, "type") == "Thread" => {
                let waits =
                    [".join(", ".await(", ".get("].iter().any(|word| self.of(walk.body).contains(word));
                let found = (!waits).then(|| self.obstacle(FactKind::TestNotAwaited, "thread", node));
                self.behind(node, found, unit, walk);
            }
            "class_declaration" => {}
            _ => self.children(node, unit, walk),
        }
    }
}

impl Reader<'_> {
    fn block(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let outside = walk.obstacles.len();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor).filter(|child| !child.is_extra()) {
            self.body(child, unit, walk);
            let exits = self.exits(child, 0);
            walk.obstacles.extend(exits);
        }
        walk.obstacles.truncate(outside);
    }

    /// Ways by which a statement leaves its test without a failure.
    fn exits(&self, node: Node<'_>, depth: u32) -> Vec<Obstacle> {
        if depth > DEPTH || matches!(node.kind(), "lambda_expression" | "class_body") {
            return Vec::new();
        }
        if node.kind() == "return_statement" && node.named_child(0).is_none() {
            return vec![self.obstacle(FactKind::AssertionUnreachable, "return", node)];
        }
        let mut cursor = node.walk();
        node.named_children(&mut cursor).flat_map(|child| self.exits(child, depth + 1)).collect()
    }

    fn binding(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let mut cursor = node.walk();
        for declarator in
            node.named_children(&mut cursor).filter(|child| child.kind() == "variable_declarator")
        {
            let name = self.field(declarator, "name");
            let Some(value) = declarator.child_by_field_name("value") else { continue };
            let is_left = value.kind() == "lambda_expression" && mentions(self.of(walk.body), name) == 1;
            let found = is_left.then(|| self.obstacle(FactKind::AssertionUnreachable, "lambda", node));
            let before = walk.obstacles.len();
            walk.obstacles.extend(found);
            self.body(value, unit, walk);
            walk.obstacles.truncate(before);
            walk.bindings.bind(name, self.of(value));
        }
    }

    /// A check in a branch may not be reached, unless the other branch fails or checks as well.
    fn branch(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let fails =
            |text: &str| ["assert", "fail(", "throw ", "verify("].iter().any(|word| text.contains(word));
        let is_never = squeezed(self.field(node, "condition")) == "(false)";
        let has_other = fails(self.field(node, "alternative"));
        let before = walk.obstacles.len();
        if is_never || !has_other {
            let key = if is_never { "if false" } else { "if" };
            walk.obstacles.push(self.obstacle(FactKind::AssertionUnreachable, key, node));
        }
        if let Some(then) = node.child_by_field_name("consequence") {
            self.body(then, unit, walk);
        }
        walk.obstacles.truncate(before);
        if let Some(other) = node.child_by_field_name("alternative") {
            self.body(other, unit, walk);
        }
    }

    /// A failure is lost where a clause catches it and does not fail, or where the end returns.
    fn attempt(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let before = walk.obstacles.len();
        let mut cursor = node.walk();
        let clauses: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for clause in &clauses {
            let text = self.of(*clause);
            if clause.kind() == "catch_clause" {
                let head = text.split(')').next().unwrap_or("");
                let catches = head
                    .split(|c: char| !(c.is_alphanumeric() || c == '_'))
                    .any(|word| FAILURES.contains(&word));
                let fails = ["throw ", "fail(", "assert"].iter().any(|word| text.contains(word));
                if catches && !fails {
                    walk.obstacles.push(self.obstacle(FactKind::AssertionSwallowed, "catch", *clause));
                }
            } else if clause.kind() == "finally_clause" {
                walk.obstacles.extend(self.exits(*clause, 0).into_iter().map(|found| Obstacle {
                    kind: FactKind::AssertionSwallowed,
                    key: "finally".to_owned(),
                    ..found
                }));
            }
        }
        if let Some(body) = node.child_by_field_name("body") {
            self.body(body, unit, walk);
        }
        walk.obstacles.truncate(before);
        let handlers =
            clauses.into_iter().filter(|clause| matches!(clause.kind(), "catch_clause" | "finally_clause"));
        handlers.for_each(|clause| self.children(clause, unit, walk));
    }

    fn call(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let name = self.field(node, "name");
        let chain = self.chain(node);
        let list = self.field(node, "arguments");
        let inside = list.get(1..list.len().saturating_sub(1)).unwrap_or("");
        let parts: Vec<&str> =
            top_level(inside, &[","]).into_iter().map(str::trim).filter(|part| !part.is_empty()).collect();
        if let Some((root, subject)) = chain {
            if let Some(check) =
                known::chained(root, subject, name, &parts, self.line(node), self.shown(node))
            {
                walk.check(check, unit);
            }
            // The receivers are part of the same chain.
            return self.receivers(node, unit, walk);
        }
        let owner = self.field(node, "object");
        let is_own = owner.is_empty() || owner == "this";
        let is_helper = is_own && self.helpers.iter().any(|helper| helper == name);
        let owner_asserts = owner
            .rsplit('.')
            .next()
            .is_some_and(|owner| matches!(owner, "Assert" | "Assertions" | "Mockito" | "Truth"));
        let check = if is_helper {
            Some(Check::new(
                self.line(node),
                self.shown(node),
                Relation::Helper,
                &format!("{name}({inside})"),
                "",
            ))
        } else if is_own || owner_asserts {
            known::called(name, &parts, self.line(node), self.shown(node))
        } else {
            None
        };
        if let Some(check) = check {
            walk.check(check, unit);
        }
        self.children(node, unit, walk);
    }

    /// The assertion that a call is part of a chain of: the name that begins it, and what it looks at.
    fn chain(&self, node: Node<'_>) -> Option<(&'static str, &str)> {
        let mut at = node.child_by_field_name("object")?;
        for _ in 0..DEPTH {
            if at.kind() != "method_invocation" {
                return None;
            }
            let name = self.field(at, "name");
            let root = ["assertThat", "assertThatThrownBy", "assertThatCode", "verify", "then", "expect"]
                .into_iter()
                .find(|known| *known == name);
            if let Some(root) = root {
                let list = self.field(at, "arguments");
                return Some((root, list.get(1..list.len().saturating_sub(1)).unwrap_or("")));
            }
            at = at.child_by_field_name("object")?;
        }
        None
    }

    fn receivers(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        if let Some(object) = node.child_by_field_name("object")
            && object.child_by_field_name("object").is_some()
        {
            self.body(object, unit, walk);
        }
    }
}

/// How often a text holds a word.
fn mentions(text: &str, word: &str) -> usize {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')))
        .filter(|found| *found == word)
        .count()
}
