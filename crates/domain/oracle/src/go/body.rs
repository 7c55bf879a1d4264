//! Follows the body of a test to what it checks, and collects what stands between.

use ambit_policy::FactKind;
use tree_sitter::Node;

use super::{Reader, testify};
use crate::outline::{Check, Obstacle, Relation, Unit, squeezed, top_level};
use crate::reading::{DEPTH, Following, Reading as _, Walk};

/// Methods by which a test fails itself.
pub(super) const FAILURES: [&str; 6] = ["Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"];

impl<'t> Following<'t> for Reader<'t> {
    fn node(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        match node.kind() {
            "block" | "statement_list" | "default_case" | "expression_case" | "type_case"
            | "communication_case" => {
                self.block(node, unit, walk);
            }
            "short_var_declaration" | "assignment_statement" => self.binding(node, unit, walk),
            "if_statement" => self.branch(node, unit, walk),
            "for_statement" => self.repeated(node, unit, walk),
            "call_expression" => self.call(node, unit, walk),
            "go_statement" => {
                let waits = ["Wait()", "<-", "select {"].iter().any(|word| self.of(walk.body).contains(word));
                let found = (!waits).then(|| self.obstacle(FactKind::TestNotAwaited, "go", node));
                self.behind(node, found, unit, walk);
            }
            _ => self.children(node, unit, walk),
        }
    }
}

impl Reader<'_> {
    fn block(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let outside = walk.obstacles.len();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor).filter(|child| child.kind() != "comment") {
            self.body(child, unit, walk);
            // Lists of statements lie within blocks; their exits end at the block.
            if child.kind() != "statement_list" {
                let exits = self.exits(child, 0);
                walk.obstacles.extend(exits);
            }
        }
        walk.obstacles.truncate(outside);
    }

    /// Ways by which a statement leaves its test without a failure.
    fn exits(&self, node: Node<'_>, depth: u32) -> Vec<Obstacle> {
        if depth > DEPTH {
            return Vec::new();
        }
        match node.kind() {
            "func_literal" => return Vec::new(),
            "return_statement" if node.named_child(0).is_none() && !self.is_after_failure(node) => {
                return vec![self.obstacle(FactKind::AssertionUnreachable, "return", node)];
            }
            "continue_statement" | "break_statement" if !self.is_after_failure(node) => {
                return vec![self.obstacle(FactKind::AssertionUnreachable, "continue", node)];
            }
            "defer_statement" if self.of(node).contains("recover()") && !self.fails_within(node) => {
                return vec![self.obstacle(FactKind::AssertionSwallowed, "recover", node)];
            }
            "for_statement" => {
                // What leaves a loop leaves nothing after it, but a return does.
                let inner = self.inner_exits(node, depth);
                return inner.into_iter().filter(|found| found.key == "return").collect();
            }
            _ => {}
        }
        self.inner_exits(node, depth)
    }

    fn inner_exits(&self, node: Node<'_>, depth: u32) -> Vec<Obstacle> {
        let mut cursor = node.walk();
        node.named_children(&mut cursor).flat_map(|child| self.exits(child, depth + 1)).collect()
    }

    /// Whether the block that a statement stands in has failed the test already.
    fn is_after_failure(&self, node: Node<'_>) -> bool {
        node.parent().is_some_and(|block| self.fails_within(block))
    }

    fn fails_within(&self, node: Node<'_>) -> bool {
        let text = self.of(node);
        FAILURES.iter().any(|failure| text.contains(&format!(".{failure}(")))
            || ["assert.", "require.", "panic("].iter().any(|word| text.contains(word))
            || self.helpers.iter().any(|helper| text.contains(&format!("{helper}(")))
    }

    fn binding(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        self.children(node, unit, walk);
        let (left, right) = (self.field(node, "left"), self.field(node, "right"));
        if right.len() > 4000 {
            return;
        }
        let names: Vec<&str> = left.split(',').map(str::trim).collect();
        let values = top_level(right, &[","]);
        for (place, name) in names.iter().enumerate().filter(|(_, name)| **name != "_") {
            let value = match values.get(place) {
                Some(value) if values.len() == names.len() => (*value).to_owned(),
                _ if place == 0 => right.to_owned(),
                _ => format!("{right}.{place}"),
            };
            walk.bindings.bind(name, &value);
        }
    }

    /// A branch that fails the test is a check; any other may keep checks from being reached.
    fn branch(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        if let Some(initializer) = node.child_by_field_name("initializer") {
            self.body(initializer, unit, walk);
        }
        let Some(then) = node.child_by_field_name("consequence") else { return };
        let condition = self.field(node, "condition");
        if self.is_failing(then) {
            for mut check in self.checks_of_condition(condition, node) {
                check.resolved =
                    (walk.bindings.resolve(&check.subject), walk.bindings.resolve(&check.expected));
                check.obstacles.clone_from(&walk.obstacles);
                if squeezed(condition) == "false" {
                    check.obstacles.push(self.obstacle(FactKind::AssertionUnreachable, "if false", node));
                }
                unit.checks.push(check);
            }
        } else {
            let other = self.field(node, "alternative");
            let is_guarded = !other.is_empty()
                && self.fails_within(node.child_by_field_name("alternative").unwrap_or(node));
            let before = walk.obstacles.len();
            if !is_guarded {
                walk.obstacles.push(self.obstacle(FactKind::AssertionUnreachable, "if", node));
            }
            self.body(then, unit, walk);
            walk.obstacles.truncate(before);
        }
        if let Some(other) = node.child_by_field_name("alternative") {
            if other.kind() == "block" && !self.is_failing(then) && self.is_failing(other) {
                let mut check = Check::new(self.line(node), self.shown(node), Relation::Holds, condition, "");
                check.resolved.0 = walk.bindings.resolve(&check.subject);
                check.obstacles.clone_from(&walk.obstacles);
                unit.checks.push(check);
            } else {
                self.body(other, unit, walk);
            }
        }
    }

    /// Whether a block fails the test by a statement of its own.
    fn is_failing(&self, block: Node<'_>) -> bool {
        let mut stack = vec![block];
        while let Some(node) = stack.pop() {
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                match child.kind() {
                    "statement_list" => stack.push(child),
                    "expression_statement" => {
                        let text = self.of(child);
                        let function = text.split('(').next().unwrap_or("");
                        let fails = function.rsplit_once('.').is_some_and(|(owner, method)| {
                            (FAILURES.contains(&method) && owner.len() <= 3)
                                || method == "Fail"
                                || method == "FailNow"
                        });
                        if fails || function == "panic" || function == "log.Fatal" {
                            return true;
                        }
                    }
                    _ => {}
                }
            }
        }
        false
    }

    fn repeated(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let mut cursor = node.walk();
        let range = node.named_children(&mut cursor).find(|child| child.kind() == "range_clause");
        let value = range.and_then(|range| range.child_by_field_name("right"));
        if let Some(value) = value {
            match value.kind() {
                "composite_literal" => unit.cases.extend(self.rows(value)),
                "identifier" => self.bound_rows(value, unit, walk),
                "slice_expression" => {
                    let operand = value.child_by_field_name("operand");
                    if let Some(operand) = operand.filter(|operand| operand.kind() == "identifier") {
                        self.bound_rows(operand, unit, walk);
                    }
                    let mut limit = self.obstacle(FactKind::ParameterDropped, "slice", node);
                    limit.key = format!("slice {}", squeezed(self.of(value)));
                    walk.obstacles.push(limit);
                    if let Some(body) = node.child_by_field_name("body") {
                        self.body(body, unit, walk);
                    }
                    walk.obstacles.pop();
                    return;
                }
                _ => self.body(value, unit, walk),
            }
        }
        if let Some(body) = node.child_by_field_name("body") {
            self.body(body, unit, walk);
        }
    }

    /// The rows of the table that a name is bound to in this test.
    fn bound_rows(&self, name: Node<'_>, unit: &mut Unit, walk: &Walk<'_>) {
        let wanted = self.of(name);
        let mut stack = vec![walk.body];
        while let Some(node) = stack.pop() {
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                let (left, right) = match child.kind() {
                    "statement_list" | "var_declaration" | "var_spec_list" => {
                        stack.push(child);
                        continue;
                    }
                    "short_var_declaration" => ("left", "right"),
                    "var_spec" => ("name", "value"),
                    _ => continue,
                };
                let values = child.child_by_field_name(right);
                let literal = values
                    .and_then(|values| values.named_child(0))
                    .filter(|value| value.kind() == "composite_literal");
                if let Some(literal) = literal.filter(|_| self.field(child, left) == wanted) {
                    unit.cases.extend(self.rows(literal));
                }
            }
        }
    }

    fn call(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let function = self.field(node, "function");
        let arguments = node.child_by_field_name("arguments");
        let list = arguments.map_or("", |list| self.of(list));
        let inside = list.get(1..list.len().saturating_sub(1)).unwrap_or("");
        let parts: Vec<&str> =
            top_level(inside, &[","]).into_iter().map(str::trim).filter(|part| !part.is_empty()).collect();
        let (owner, method) = function.rsplit_once('.').unwrap_or(("", function));
        let mut check = None;
        if matches!(
            owner,
            "assert" | "require" | "is" | "a" | "r" | "suite" | "s" | "s.Require()" | "s.Assert()"
        ) {
            let skip = usize::from(
                matches!(owner, "assert" | "require")
                    && parts.first().is_some_and(|first| !first.contains(['(', '"'])),
            );
            check =
                testify::check(method, &parts[skip.min(parts.len())..], self.line(node), self.shown(node));
        } else if self.helpers.iter().any(|helper| helper == function)
            || (owner.is_empty() && names_check(method) && parts.first() == Some(&"t"))
        {
            let said: Vec<&str> = parts.iter().skip(1).copied().collect();
            check = Some(Check::new(
                self.line(node),
                self.shown(node),
                Relation::Helper,
                &format!("{function}({})", said.join(",")),
                "",
            ));
        } else if FAILURES.contains(&method) && owner.len() <= 2 && !owner.is_empty() {
            check = Some(Check::new(self.line(node), self.shown(node), Relation::Fails, "", ""));
        } else if method == "Add" && owner == "f" {
            let cells = parts.iter().map(|part| squeezed(part)).collect();
            unit.cases.push(crate::outline::Case {
                line: self.line(node),
                cells,
                shown: self.of(node).to_owned(),
            });
        }
        if let Some(check) = check {
            walk.check(check, unit);
        }
        self.children(node, unit, walk);
    }
}

/// Whether a function by this name looks as if it checked something.
fn names_check(name: &str) -> bool {
    ["assert", "check", "require", "verify", "expect", "must", "test", "ensure"]
        .iter()
        .any(|start| name.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start)))
}
