//! Follows the body of a test to what it checks, and collects what stands between.

use std::collections::BTreeSet;

use ambit_policy::FactKind;
use tree_sitter::Node;

use super::Reader;
use super::nodes::first;
use crate::outline::{Bindings, Check, Obstacle, Relation, Unit, distinct, squeezed};
use crate::reading::{DEPTH, Reading as _};

/// Exceptions that a failed assertion is one of.
const CATCH_FAILURES: [&str; 4] = ["AssertionError", "Exception", "BaseException", "self.failureException"];
/// Calls that leave a test for good.
const EXITS: [&str; 9] = [
    "sys.exit",
    "os._exit",
    "exit",
    "quit",
    "pytest.skip",
    "pytest.exit",
    "pytest.xfail",
    "self.skipTest",
    "os.abort",
];

/// Where in a body the reader is.
#[derive(Clone)]
pub(super) struct Walk<'b> {
    body: Node<'b>,
    pub(super) bindings: Bindings,
    pub(super) obstacles: Vec<Obstacle>,
    /// Functions that are replaced by a value.
    pub(super) patched: BTreeSet<String>,
    /// Whether the body is the module's, whose functions are read by themselves.
    is_module: bool,
    depth: u32,
}

impl<'b> Walk<'b> {
    pub(super) fn new(body: Node<'b>, bindings: Bindings) -> Self {
        Self { body, bindings, obstacles: Vec::new(), patched: BTreeSet::new(), is_module: false, depth: 0 }
    }

    pub(super) fn of_module(body: Node<'b>, bindings: Bindings) -> Self {
        Self { is_module: true, ..Self::new(body, bindings) }
    }

    /// A check of what was put there just before checks nothing.
    pub(super) fn note_patched(&self, check: &mut Check) {
        let calls = |name: &String| check.resolved.0.contains(&format!("{name}("));
        if self.patched.iter().any(calls) {
            check.obstacles.push(Obstacle {
                kind: FactKind::AssertionTautological,
                key: "replaced".to_owned(),
                line: check.line,
                shown: check.shown.clone(),
            });
        }
    }
}

impl Reader<'_> {
    /// The statements of a block, each behind those that may leave it.
    pub(super) fn block(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        if walk.depth > DEPTH {
            return;
        }
        walk.depth += 1;
        let outside = walk.obstacles.len();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.statement(child, unit, walk);
            if let Some(key) = self.leaves(child) {
                walk.obstacles.push(self.obstacle(FactKind::AssertionUnreachable, &key, child));
            }
        }
        walk.obstacles.truncate(outside);
        walk.depth -= 1;
    }

    /// By what a statement leaves the body, if it does.
    fn leaves(&self, node: Node<'_>) -> Option<String> {
        match node.kind() {
            "return_statement" => Some("return".to_owned()),
            "raise_statement" => Some("raise".to_owned()),
            "expression_statement" => {
                let call = first(node).filter(|inner| inner.kind() == "call")?;
                let name = self.tight_field(call, "function");
                let assumes = name.rsplit('.').next() == Some("assume");
                (assumes || EXITS.contains(&name.as_str())).then_some(name)
            }
            "if_statement" => {
                let then = node.child_by_field_name("consequence")?;
                let mut cursor = then.walk();
                let key = then.named_children(&mut cursor).find_map(|child| self.leaves(child))?;
                (key != "raise").then(|| format!("if {key}"))
            }
            "try_statement" => {
                let mut cursor = node.walk();
                let mut clauses =
                    node.named_children(&mut cursor).filter(|clause| clause.kind() == "except_clause");
                let returns = |clause: Node<'_>| {
                    let mut cursor = clause.walk();
                    let body = clause.named_children(&mut cursor).find(|child| child.kind() == "block");
                    body.is_some_and(|body| {
                        self.of(body).trim_end().lines().any(|line| line.trim().starts_with("return"))
                    })
                };
                clauses.any(returns).then(|| "except return".to_owned())
            }
            _ => None,
        }
    }

    fn statement(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        match node.kind() {
            "assert_statement" => self.assertion(node, unit, walk),
            "expression_statement" => self.expression(node, unit, walk),
            "if_statement" => self.branch(node, unit, walk),
            "for_statement" => self.repeated(node, unit, walk),
            "while_statement" => {
                let condition = self.tight_field(node, "condition");
                let key = matches!(condition.as_str(), "False" | "0").then_some("while False");
                self.inner(node, key, unit, walk);
            }
            "try_statement" => self.attempt(node, unit, walk),
            "with_statement" => self.context(node, unit, walk),
            "function_definition" | "decorated_definition" if !walk.is_module => {
                self.nested(node, unit, walk);
            }
            "match_statement" => self.inner(node, None, unit, walk),
            "block" | "case_clause" | "else_clause" | "elif_clause" | "finally_clause" => {
                self.block(node, unit, walk);
            }
            "return_statement" => {
                if let Some(value) = first(node) {
                    self.calls(value, unit, walk);
                }
            }
            _ => {}
        }
    }

    fn expression(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let Some(inner) = first(node) else { return };
        match inner.kind() {
            "assignment" => self.assignment(inner, unit, walk),
            "call" | "await" | "comparison_operator" => self.calls(inner, unit, walk),
            _ => {}
        }
    }

    fn assignment(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return;
        };
        if left.kind() == "identifier" {
            walk.bindings.bind(self.of(left), &self.plain(right));
        }
        if left.kind() == "attribute" && matches!(right.kind(), "lambda" | "call") {
            let is_stub = right.kind() == "lambda" || self.of(right).contains("return_value");
            let name = self.field(left, "attribute");
            if is_stub && !name.is_empty() {
                walk.patched.insert(name.to_owned());
            }
        }
        self.calls(right, unit, walk);
    }

    fn inner(&mut self, node: Node<'_>, key: Option<&str>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let before = walk.obstacles.len();
        walk.obstacles.extend(key.map(|key| self.obstacle(FactKind::AssertionUnreachable, key, node)));
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if matches!(child.kind(), "block" | "case_clause" | "else_clause") {
                self.block(child, unit, walk);
            }
        }
        walk.obstacles.truncate(before);
    }

    /// A check in a branch may not be reached, unless the other branch fails or checks as well.
    fn branch(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let condition = self.tight_field(node, "condition");
        let is_false = matches!(condition.as_str(), "False" | "0" | "None");
        let mut cursor = node.walk();
        let others: Vec<Node<'_>> = node
            .named_children(&mut cursor)
            .filter(|child| matches!(child.kind(), "else_clause" | "elif_clause"))
            .collect();
        let words = ["assert", "fail(", "raise", "check_", "verify_", "validate_", "ensure_"];
        let checks = |text: &str| words.iter().any(|word| text.contains(word));
        let has_other = others.iter().any(|other| checks(self.of(*other)));
        let before = walk.obstacles.len();
        if is_false || !has_other {
            let key = if is_false { "if False" } else { "if" };
            walk.obstacles.push(self.obstacle(FactKind::AssertionUnreachable, key, node));
        }
        if let Some(then) = node.child_by_field_name("consequence") {
            self.block(then, unit, walk);
        }
        walk.obstacles.truncate(before);
        for other in others {
            self.inner(other, None, unit, walk);
        }
    }

    fn repeated(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let list = self.tight_field(node, "right");
        let value = walk.bindings.value(&list).map_or(list, str::to_owned);
        let is_empty =
            matches!(value.as_str(), "[]" | "()" | "{}" | "range(0)" | "\"\"" | "set()" | "list()");
        let table = node.child_by_field_name("right").and_then(|list| {
            self.table(list).or_else(|| self.table(bound_list(self.text, walk.body, self.of(list))?))
        });
        unit.cases.extend(distinct(table.unwrap_or_default()));
        let is_empty = is_empty || super::undone::is_cut(&value);
        self.inner(node, is_empty.then_some("empty loop"), unit, walk);
    }

    fn attempt(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        let swallows = children.iter().find(|child| self.swallows(**child));
        // Where nothing is raised the test fails, so that the handler is reached.
        let must_raise = children.iter().any(|child| child.kind() == "else_clause" && fails(self.of(*child)));
        let before = walk.obstacles.len();
        if let Some(handler) = swallows {
            walk.obstacles.push(self.obstacle(FactKind::AssertionSwallowed, "except", *handler));
        }
        for child in children {
            match child.kind() {
                "block" => {
                    self.block(child, unit, walk);
                    walk.obstacles.truncate(before);
                }
                "else_clause" | "finally_clause" => self.inner(child, None, unit, walk),
                "except_clause" | "except_group_clause" => {
                    self.inner(child, (!must_raise).then_some("in except"), unit, walk);
                }
                _ => {}
            }
        }
        walk.obstacles.truncate(before);
    }

    /// Whether a clause of `try` takes a failed assertion and goes on.
    fn swallows(&self, clause: Node<'_>) -> bool {
        let text = self.of(clause);
        match clause.kind() {
            "except_clause" | "except_group_clause" => {
                let head = text.split(':').next().unwrap_or("").trim_start_matches("except").trim();
                let head = head.split(" as ").next().unwrap_or("").trim_matches(['(', ')', '*', ' ']);
                let takes =
                    head.is_empty() || head.split(',').any(|name| CATCH_FAILURES.contains(&name.trim()));
                let body = text.split_once(':').map_or("", |(_, body)| body);
                takes && !["raise", "fail(", "assert", "exc_info"].iter().any(|word| body.contains(word))
            }
            "finally_clause" => text.contains("return"),
            _ => false,
        }
    }

    fn context(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let before = walk.obstacles.len();
        let head = self.of(node).split(":\n").next().unwrap_or("");
        let head = squeezed(head);
        if let Some(arguments) = head.split("suppress(").nth(1)
            && arguments.split([',', ')']).any(|name| CATCH_FAILURES.contains(&name.trim()))
        {
            walk.obstacles.push(self.obstacle(FactKind::AssertionSwallowed, "suppress", node));
        }
        let mut cursor = node.walk();
        let clause = node.named_children(&mut cursor).find(|child| child.kind() == "with_clause");
        if let Some(clause) = clause {
            let already = unit.checks.len();
            self.calls(clause, unit, walk);
            let is_alone = clause.named_child_count() == 1 && unit.checks.len() == already + 1;
            if let Some(check) = unit.checks.last_mut().filter(|_| is_alone) {
                check.obstacles.extend(self.raised_here(node));
            }
        }
        let expects_failure = ["raises(", "assertRaises("].iter().any(|call| {
            head.split(call)
                .nth(1)
                .is_some_and(|rest| CATCH_FAILURES.iter().any(|name| rest.starts_with(name)))
        });
        if expects_failure {
            walk.obstacles.push(self.obstacle(FactKind::AssertionSwallowed, "expected to fail", node));
        }
        if let Some(body) = node.child_by_field_name("body") {
            self.block(body, unit, walk);
        }
        walk.obstacles.truncate(before);
    }

    /// An error that the test throws itself where it asks for one.
    fn raised_here(&self, node: Node<'_>) -> Option<Obstacle> {
        let body = node.child_by_field_name("body")?;
        let mut cursor = body.walk();
        let raised = body.named_children(&mut cursor).find(|child| child.kind() == "raise_statement")?;
        Some(self.obstacle(FactKind::AssertionTautological, "raised by itself", raised))
    }

    /// A function in a test. What it checks is checked by the test where that names it.
    fn nested(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let (item, decorators) = super::decorator::taken_apart(node);
        let Some(body) = item.child_by_field_name("body").filter(|_| item.kind() == "function_definition")
        else {
            return;
        };
        let name = self.field(item, "name");
        let whole = self.of(walk.body);
        let mentions =
            whole.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| *word == name).count();
        let before = walk.obstacles.len();
        if mentions < 2 && decorators.is_empty() {
            walk.obstacles.push(self.obstacle(FactKind::AssertionUnreachable, "uncalled", item));
        }
        self.block(body, unit, walk);
        walk.obstacles.truncate(before);
    }

    /// Adds a check with what stands around it.
    pub(super) fn checked(&self, mut check: Check, unit: &mut Unit, walk: &Walk<'_>) {
        if check.relation != Relation::Helper {
            // A constant of the module stands for its value, so that another value is another expectation.
            check.subject = self.constants.resolve(&check.subject);
            check.expected = self.constants.resolve(&check.expected);
            check.measure = self.constants.resolve(&check.measure);
            check.resolved = (walk.bindings.resolve(&check.subject), walk.bindings.resolve(&check.expected));
            if check.relation == Relation::Near {
                check.measure = walk.bindings.resolve(&check.measure);
            }
        }
        check.obstacles.extend(walk.obstacles.iter().cloned());
        unit.checks.push(check);
    }
}

/// Whether a clause does nothing but fail.
fn fails(clause: &str) -> bool {
    let body = clause.split_once(':').map_or("", |(_, body)| body).trim();
    ["self.fail(", "pytest.fail(", "raise AssertionError", "assert False"]
        .iter()
        .any(|start| body.starts_with(start))
}

/// The list that a name is bound to in a body.
fn bound_list<'t>(text: &str, body: Node<'t>, name: &str) -> Option<Node<'t>> {
    let of = |node: Node<'_>| text.get(node.byte_range());
    let mut cursor = body.walk();
    let assignments = body.named_children(&mut cursor).filter_map(|statement| first(statement));
    let mut bound = assignments.filter(|inner| {
        inner.kind() == "assignment" && inner.child_by_field_name("left").and_then(of) == Some(name)
    });
    bound.next()?.child_by_field_name("right").filter(|list| matches!(list.kind(), "list" | "tuple"))
}
