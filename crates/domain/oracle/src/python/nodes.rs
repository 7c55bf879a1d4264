//! Small questions about the nodes of a tree of Python.

use tree_sitter::Node;

use crate::reading::DEPTH;

/// The first child that says something: neither a comment nor a join of lines.
pub(super) fn first(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| !child.is_extra())
}

/// Whether a statement is one of the module itself.
pub(super) fn is_of_module(node: Node<'_>) -> bool {
    let statement = node.parent().filter(|parent| parent.kind() == "expression_statement");
    statement.and_then(|parent| parent.parent()).is_some_and(|parent| parent.kind() == "module")
}

/// Whether it is a string that is written in several pieces.
pub(super) fn is_text(node: Node<'_>) -> bool {
    let inner = first(node);
    node.kind() == "concatenated_string"
        || (node.kind() == "parenthesized_expression"
            && inner.is_some_and(|inner| matches!(inner.kind(), "string" | "concatenated_string")))
}

/// Where comments and joins of lines stand in a node, in their order.
pub(super) fn unsaid(node: Node<'_>, depth: u32, found: &mut Vec<std::ops::Range<usize>>) {
    if node.is_extra() {
        return found.push(node.byte_range());
    }
    if depth > DEPTH {
        return;
    }
    let mut cursor = node.walk();
    node.children(&mut cursor).for_each(|child| unsaid(child, depth + 1, found));
}

/// Whether a body yields, which makes its function a generator.
pub(super) fn yields(node: Node<'_>, depth: u32) -> bool {
    if node.kind() == "yield" {
        return true;
    }
    if depth > DEPTH || (depth > 0 && matches!(node.kind(), "function_definition" | "lambda")) {
        return false;
    }
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(|child| yields(child, depth + 1))
}

/// The argument at a place of a call.
pub(super) fn argument(call: Node<'_>, place: usize) -> Option<Node<'_>> {
    let list = call.child_by_field_name("arguments")?;
    let mut cursor = list.walk();
    list.named_children(&mut cursor).filter(|child| !child.is_extra()).nth(place)
}

/// The text that literals say, put together where it is put together from literals alone.
pub(super) fn folded(text: &str, node: Node<'_>) -> Option<String> {
    match node.kind() {
        "string" => Some(text.get(node.byte_range())?.trim_matches(['"', '\'']).to_owned()),
        "binary_operator" | "concatenated_string" | "parenthesized_expression" => {
            // What is added together in many steps is nobody's name.
            if node.end_byte() - node.start_byte() > 200 {
                return None;
            }
            let mut cursor = node.walk();
            let parts = node.named_children(&mut cursor).filter(|part| !part.is_extra());
            parts.map(|part| folded(text, part)).collect()
        }
        _ => None,
    }
}
