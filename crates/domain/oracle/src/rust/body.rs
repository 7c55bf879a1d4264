//! Follows the body of a test to what it checks, and collects what stands between.

use ambit_policy::FactKind;
use tree_sitter::Node;

use super::{Reader, bind};
use crate::outline::{Check, Relation, Unit, squeezed};
use crate::reading::{Following, Reading as _, Walk};

/// Beginnings of the names of functions that check something.
const HELPERS: [&str; 8] = ["assert", "check", "verify", "expect_", "ensure", "must_", "test_", "validate"];
/// Names that begin so and check nothing by themselves.
const NO_HELPERS: [&str; 4] = ["expect_err", "checked_add", "checked_sub", "checked_mul"];

impl<'t> Following<'t> for Reader<'t> {
    fn node(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        match node.kind() {
            "block" => self.block(node, unit, walk),
            "function_item" => self.nested(node, unit, walk),
            "macro_invocation" => self.macro_call(node, unit, walk),
            "call_expression" => {
                unit.asked.extend(self.unwrapped(node));
                self.call(node, unit, walk);
            }
            "try_expression" => {
                unit.asked.extend(node.named_child(0).map(|tried| squeezed(self.of(tried))));
                self.children(node, unit, walk);
            }
            "let_declaration" => {
                unit.dropped.extend(self.outcome_dropped(node));
                self.binding(node, unit, walk);
            }
            "if_expression" => self.condition(node, unit, walk),
            "for_expression" => self.repeated(node, unit, walk),
            "while_expression" if self.field(node, "condition") == "false" => {
                let found = self.obstacle(FactKind::AssertionUnreachable, "while false", node);
                self.behind(node, Some(found), unit, walk);
            }
            "await_expression" => {
                let was = std::mem::replace(&mut walk.is_awaited, true);
                self.children(node, unit, walk);
                walk.is_awaited = was;
            }
            "mod_item" | "impl_item" | "struct_item" | "use_declaration" | "attribute_item" => {}
            _ => self.children(node, unit, walk),
        }
    }
}

impl Reader<'_> {
    /// The statements of a block, each behind those that may leave it.
    fn block(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let outside = walk.obstacles.len();
        let mut for_next = Vec::new();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if child.kind() == "attribute_item" {
                let text = squeezed(self.of(child));
                let is_condition =
                    text.starts_with("#[cfg(") && text != "#[cfg(test)]" && !text.contains("miri");
                for_next.extend(
                    is_condition.then(|| self.obstacle(FactKind::AssertionUnreachable, &text, child)),
                );
                continue;
            }
            if child.is_extra() {
                continue;
            }
            let before = walk.obstacles.len();
            walk.obstacles.append(&mut for_next);
            walk.obstacles.extend(self.dropped(child, walk));
            self.body(child, unit, walk);
            walk.obstacles.truncate(before);
            let exits = self.exits(child, 0);
            walk.obstacles.extend(exits);
        }
        walk.obstacles.truncate(outside);
    }

    /// A function in a function. What it checks is checked by the outer one where that calls it.
    fn nested(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let name = self.field(node, "name");
        let is_test = previous_attributes(node).any(|text| squeezed(self.of(text)) == "#[test]");
        let Some(body) = node.child_by_field_name("body") else { return };
        if is_test {
            let mut inner = Unit {
                name: name.to_owned(),
                line: self.line(node),
                shown: self.shown(node).to_owned(),
                ..Unit::default()
            };
            self.body(body, &mut inner, &mut Walk::new(body));
            self.outline.units.push(inner);
            return;
        }
        let before = walk.obstacles.len();
        if mentions(self.of(walk.body), name) < 2 {
            walk.obstacles.push(self.obstacle(FactKind::AssertionUnreachable, "uncalled", node));
        }
        self.body(body, unit, walk);
        walk.obstacles.truncate(before);
    }

    fn binding(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        if let Some(value) = node.child_by_field_name("value") {
            self.body(value, unit, walk);
            bind(&mut walk.bindings, self.field(node, "pattern"), self.of(value));
        }
    }

    /// A check in a branch may not be reached, unless the other branch fails or checks as well.
    fn condition(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let condition = squeezed(self.field(node, "condition"));
        let fails = |text: &str| {
            ["assert", "panic!", "unreachable!", "return Err", "fail"].iter().any(|word| text.contains(word))
        };
        let has_other = fails(self.field(node, "alternative"));
        if let Some(condition) = node.child_by_field_name("condition") {
            self.body(condition, unit, walk);
        }
        let before = walk.obstacles.len();
        if condition == "false" || !has_other {
            let key = if condition == "false" { "if false" } else { "if" };
            walk.obstacles.push(self.obstacle(FactKind::AssertionUnreachable, key, node));
        }
        if let Some(then) = node.child_by_field_name("consequence") {
            self.body(then, unit, walk);
        }
        walk.obstacles.truncate(before);
        if let Some(other) = node.child_by_field_name("alternative") {
            self.children(other, unit, walk);
        }
    }

    fn repeated(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let value = squeezed(self.field(node, "value"));
        let named =
            walk.bindings.value(&value).or_else(|| self.constants.value(value.trim_start_matches('&')));
        let value = named.map_or(value.clone(), str::to_owned);
        let plain = value.trim_start_matches('&');
        let is_empty = plain.starts_with("[]")
            || plain.starts_with("vec![]")
            || plain.contains("empty()")
            || plain.contains(".take(0)")
            || matches!(plain.split_once("..").map(|(one, other)| one == other), Some(true));
        if let Some(list) = node.child_by_field_name("value") {
            let list = if list.kind() == "reference_expression" {
                list.named_child(0).unwrap_or(list)
            } else {
                list
            };
            if list.kind() == "array_expression" {
                unit.cases.extend(self.elements(list));
            } else if list.kind() == "identifier" {
                self.bound_list(list, unit, walk);
                unit.cases.extend(self.constant_list(list));
            } else {
                self.body(list, unit, walk);
            }
        }
        let before = walk.obstacles.len();
        if is_empty {
            walk.obstacles.push(self.obstacle(FactKind::AssertionUnreachable, "empty loop", node));
        }
        if let Some(body) = node.child_by_field_name("body") {
            self.body(body, unit, walk);
        }
        walk.obstacles.truncate(before);
    }

    /// The list that a name is bound to in this body is a table of cases.
    fn bound_list(&self, name: Node<'_>, unit: &mut Unit, walk: &Walk<'_>) {
        let wanted = self.of(name);
        let mut cursor = walk.body.walk();
        for statement in
            walk.body.named_children(&mut cursor).filter(|child| child.kind() == "let_declaration")
        {
            if self.field(statement, "pattern") != wanted {
                continue;
            }
            let Some(value) = statement.child_by_field_name("value") else { continue };
            let value = if value.kind() == "reference_expression" {
                value.named_child(0).unwrap_or(value)
            } else {
                value
            };
            match value.kind() {
                "array_expression" => unit.cases.extend(self.elements(value)),
                "macro_invocation" if self.field(value, "macro") == "vec" => {
                    if let Some(tree) = value.named_child(1) {
                        unit.cases.extend(self.rows(tree));
                    }
                }
                _ => {}
            }
        }
    }

    /// A call of a function that checks something.
    fn call(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let function = self.field(node, "function");
        let name = function.rsplit([':', '.']).next().unwrap_or(function).trim();
        let named = HELPERS.iter().any(|start| name.starts_with(start)) && !NO_HELPERS.contains(&name);
        let is_method = function.contains('.');
        if (named && (!is_method || name.starts_with("assert")))
            || (self.helpers.contains(name) && !is_method && !function.contains("::"))
        {
            let text = squeezed(self.of(node));
            let mut check = Check::new(self.line(node), self.shown(node), Relation::Helper, &text, "");
            check.resolved.0 = walk.bindings.resolve(&text);
            check.obstacles.clone_from(&walk.obstacles);
            if walk.is_async && !walk.is_awaited {
                check.obstacles.push(self.obstacle(FactKind::TestNotAwaited, "await", node));
            }
            unit.checks.push(check);
        }
        let was = std::mem::take(&mut walk.is_awaited);
        self.children(node, unit, walk);
        walk.is_awaited = was;
    }

    fn macro_call(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let mut cursor = node.walk();
        let Some(tree) = node.named_children(&mut cursor).find(|child| child.kind() == "token_tree") else {
            return;
        };
        let name = self.field(node, "macro");
        if !self.assertion(name, node, tree, unit, walk) {
            let known =
                ["vec", "format", "println", "json", "select", "join", "with_settings", "matches", "write"];
            let is_known = known.iter().any(|known| name.ends_with(known));
            let before = walk.obstacles.len();
            if !is_known {
                let key = format!("macro {name}");
                walk.obstacles.push(self.obstacle(FactKind::AssertionUnreachable, &key, node));
            }
            self.tokens(tree, unit, walk);
            walk.obstacles.truncate(before);
        }
    }

    /// Assertions among the tokens of a macro.
    pub(super) fn tokens(&mut self, tree: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let mut stack = vec![tree];
        while let Some(node) = stack.pop() {
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
            for window in children.windows(3) {
                if window[0].kind() == "identifier"
                    && self.of(window[1]) == "!"
                    && window[2].kind() == "token_tree"
                {
                    self.assertion(self.of(window[0]), window[0], window[2], unit, walk);
                }
            }
            stack.extend(children.into_iter().filter(|child| child.child_count() > 0));
        }
    }
}

/// How often a text holds a word.
pub(super) fn mentions(text: &str, word: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .filter(|(at, _)| {
            !text[..*at].chars().next_back().is_some_and(is_word)
                && !text[at + word.len()..].chars().next().is_some_and(is_word)
        })
        .count()
}

fn previous_attributes(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut at = node.prev_named_sibling();
    std::iter::from_fn(move || {
        let found = at.filter(|node| node.kind() == "attribute_item")?;
        at = found.prev_named_sibling();
        Some(found)
    })
}
