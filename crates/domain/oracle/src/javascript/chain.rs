//! An expression as the chain of names and calls that it is written as.

use tree_sitter::Node;

use super::text::Text;

/// One name of a chain, with the arguments of each call that follows it: `each([1])('x', f)` is one link of two calls.
#[derive(Clone)]
pub(super) struct Link<'t> {
    /// The name; empty where the chain begins with something that has none.
    pub(super) name: &'t str,
    /// Where the name stands.
    pub(super) node: Node<'t>,
    /// The arguments of each call, or the template that the name stands before.
    pub(super) calls: Vec<Node<'t>>,
}

/// `expect(sum).not.toBe(3)` as `expect(…)`, `not`, `toBe(…)`.
pub(super) struct Chain<'t> {
    /// The links from left to right; never empty.
    pub(super) links: Vec<Link<'t>>,
}

impl<'t> Chain<'t> {
    /// The chain that ends with this expression.
    pub(super) fn of(node: Node<'t>, text: Text<'t>) -> Self {
        let mut links = Vec::new();
        let mut calls = Vec::new();
        let mut at = node;
        loop {
            at = match at.kind() {
                "call_expression" => {
                    calls.extend(at.child_by_field_name("arguments"));
                    match at.child_by_field_name("function") {
                        Some(function) => function,
                        None => break,
                    }
                }
                "member_expression" | "subscript_expression" => {
                    let name = at.child_by_field_name("property").or_else(|| at.child_by_field_name("index"));
                    let Some((name, object)) = name.zip(at.child_by_field_name("object")) else { break };
                    let is_name = at.kind() == "member_expression" || name.kind() == "string";
                    let written = if is_name { text.unquoted(name) } else { "" };
                    calls.reverse();
                    links.push(Link { name: written, node: name, calls: std::mem::take(&mut calls) });
                    object
                }
                "parenthesized_expression"
                | "non_null_expression"
                | "as_expression"
                | "satisfies_expression"
                | "await_expression"
                | "instantiation_expression" => match at.named_child(0) {
                    Some(inner) => inner,
                    None => break,
                },
                _ => break,
            };
        }
        let name = match at.kind() {
            "identifier" | "this" | "super" | "import" => text.of(at),
            _ => "",
        };
        calls.reverse();
        links.push(Link { name, node: at, calls });
        links.reverse();
        Self { links }
    }

    pub(super) fn root(&self) -> &Link<'t> {
        &self.links[0]
    }

    pub(super) fn last(&self) -> &Link<'t> {
        &self.links[self.links.len() - 1]
    }

    /// The chain up to what handles its promise.
    pub(super) fn unsettled(&self) -> Self {
        let handles =
            |link: &Link<'t>| matches!(link.name, "then" | "catch" | "finally") && !link.calls.is_empty();
        let end = self.links.iter().skip(1).position(handles).map_or(self.links.len(), |at| at + 1);
        Self { links: self.links[..end].to_vec() }
    }
}
