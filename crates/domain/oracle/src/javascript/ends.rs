//! Where the flow ends, and where a failure does.

use tree_sitter::Node;

use super::chain::Chain;
use super::found::{Owner, Reach};
use super::vacuous;
use super::walk::Walk;

impl<'t> Walk<'_, 't> {
    /// Whether the statement is `done()`, by which a test says that it has come to its end.
    pub(super) fn is_end_called(&self, statement: Node<'t>) -> bool {
        let call = statement.named_child(0).filter(|_| statement.kind() == "expression_statement");
        let Some(call) = call.filter(|call| call.kind() == "call_expression") else { return false };
        let name = call.child_by_field_name("function").map_or("", |function| self.text.of(function));
        let has_arguments =
            call.child_by_field_name("arguments").is_some_and(|given| given.named_child_count() > 0);
        self.ends.contains(&name) && !has_arguments
    }

    /// How what follows the statement is reached.
    pub(super) fn ending(&self, statement: Node<'t>, owner: Owner) -> Reach {
        match statement.kind() {
            "return_statement" | "throw_statement" | "break_statement" | "continue_statement" => Reach::Never,
            "expression_statement" => {
                let text = self.text.of(statement);
                let ends = text.starts_with("process.exit(")
                    || text.starts_with("process.abort(")
                    || text.starts_with("process.reallyExit(")
                    || text.starts_with("process.kill(process.pid");
                if ends { Reach::Never } else { Reach::Always }
            }
            "if_statement" => {
                let condition = statement.child_by_field_name("condition");
                let known = condition.and_then(|condition| vacuous::truth(self.text, condition));
                let branch = |name: &str| {
                    statement
                        .child_by_field_name(name)
                        .map_or(Reach::Always, |branch| self.block_ending(branch, owner))
                };
                let (first, other) = (branch("consequence"), branch("alternative"));
                match known {
                    Some(true) => first,
                    Some(false) => other,
                    None if first == Reach::Never && other == Reach::Never => Reach::Never,
                    None if self.hands_on(statement) => Reach::Always,
                    None if matches!(owner, Owner::Test(_)) => {
                        if first.max(other) == Reach::Always {
                            Reach::Always
                        } else {
                            Reach::Sometimes
                        }
                    }
                    None => Reach::Always,
                }
            }
            "statement_block" => self.block_ending(statement, owner),
            _ => Reach::Always,
        }
    }

    /// Whether what is done under a condition fails the test by itself: it rejects, throws, asserts, or calls back.
    pub(super) fn hands_on(&self, statement: Node<'t>) -> bool {
        let done = statement.child_by_field_name("consequence").map_or("", |branch| self.text.of(branch));
        [
            "reject(",
            "done(",
            "next(",
            "cb(",
            "callback(",
            ".fail(",
            "fail(",
            ".error(",
            "ifError(",
            "throw ",
            "expect(",
        ]
        .iter()
        .any(|word| done.contains(word))
    }

    /// How what follows a block is reached, where the flow ends in it.
    pub(super) fn block_ending(&self, node: Node<'t>, owner: Owner) -> Reach {
        if !matches!(node.kind(), "statement_block" | "else_clause") {
            return self.ending(node, owner);
        }
        let mut cursor = node.walk();
        node.named_children(&mut cursor).map(|part| self.ending(part, owner)).max().unwrap_or(Reach::Always)
    }

    /// Whether a handler lets a failure through, or looks at it: it throws, asserts, or hands the error on.
    pub(super) fn fails_on(&self, handler: Node<'t>) -> bool {
        let parameter =
            handler.child_by_field_name("parameter").or_else(|| handler.child_by_field_name("parameters"));
        let parameter = parameter.map_or("", |parameter| self.text.of(parameter).trim_matches(['(', ')']));
        let Some(body) = handler.child_by_field_name("body") else { return false };
        let mut pending = vec![body];
        while let Some(node) = pending.pop() {
            match node.kind() {
                "throw_statement" => return true,
                "call_expression" => {
                    let chain = Chain::of(node, self.text);
                    let hands_on = matches!(
                        chain.last().name,
                        "done" | "reject" | "next" | "fail" | "cb" | "callback" | "end" | "exit"
                    ) || self.ends.contains(&chain.root().name);
                    if hands_on || !self.reader().read(node, &chain).is_empty() {
                        return true;
                    }
                }
                // What is kept is looked at later.
                "assignment_expression" => {
                    let right = node.child_by_field_name("right");
                    if !parameter.is_empty()
                        && right.is_some_and(|right| self.text.of(right).contains(parameter))
                    {
                        return true;
                    }
                }
                _ => {}
            }
            let mut cursor = node.walk();
            pending.extend(node.named_children(&mut cursor));
        }
        false
    }
}
