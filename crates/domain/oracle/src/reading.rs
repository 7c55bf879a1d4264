//! What the readers of all languages whose trees are followed do alike: tell nodes as text, and follow the body of a test.

use ambit_policy::FactKind;
use tree_sitter::Node;

use crate::outline::{Bindings, Check, Finding, Obstacle, Told, Unit};

/// How deep code is followed.
pub(crate) const DEPTH: u32 = 160;

/// Tells the nodes of a tree as text.
pub(crate) trait Reading<'t> {
    /// The text that the tree is of.
    fn text(&self) -> &'t str;

    /// The line that the text starts on.
    fn first_line(&self) -> u32 {
        1
    }

    /// The text of a node.
    fn of(&self, node: Node<'_>) -> &'t str {
        self.text().get(node.byte_range()).unwrap_or("")
    }

    /// The line that a node starts on, from 1.
    fn line(&self, node: Node<'_>) -> u32 {
        u32::try_from(node.start_position().row).unwrap_or(u32::MAX).saturating_add(self.first_line())
    }

    /// The line that a node starts on, as it is shown.
    fn shown(&self, node: Node<'_>) -> &'t str {
        self.shown_at(node.start_byte())
    }

    /// The line that an offset lies in, as it is shown.
    fn shown_at(&self, offset: usize) -> &'t str {
        let text = self.text();
        let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
        text[start..].lines().next().unwrap_or("").trim()
    }

    /// The text of a child by the name of its field; empty where there is none.
    fn field(&self, node: Node<'_>, name: &str) -> &'t str {
        node.child_by_field_name(name).map_or("", |child| self.of(child))
    }

    /// A node that stands between a check and its test.
    fn obstacle(&self, kind: FactKind, key: &str, node: Node<'_>) -> Obstacle {
        Obstacle { kind, key: key.to_owned(), line: self.line(node), shown: self.shown(node).to_owned() }
    }

    /// A node that weakens by being there.
    fn finding(&self, kind: FactKind, told: Told, node: Node<'_>, key: &str) -> Finding {
        Finding { kind, told, line: self.line(node), key: key.to_owned(), shown: self.shown(node).to_owned() }
    }
}

/// Where a visit goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// With what the node is made of.
    Within,
    /// With what stands after the node.
    Past,
    /// Nowhere.
    Stop,
}

/// Visits a node and the named ones that it is made of, the outer before the inner, with how deep each lies.
pub(crate) fn each_node<'n>(root: Node<'n>, mut visit: impl FnMut(Node<'n>, u32) -> Next) {
    // One cursor for all: each costs more than a visit.
    let (mut cursor, mut depth) = (root.walk(), 0);
    loop {
        let node = cursor.node();
        let next = if node.is_named() { visit(node, depth) } else { Next::Past };
        if next == Next::Stop {
            return;
        }
        if next == Next::Within && depth < DEPTH && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while depth == 0 || !cursor.goto_next_sibling() {
            if depth == 0 || !cursor.goto_parent() {
                return;
            }
            depth -= 1;
        }
    }
}

/// Where in a body a reader is.
#[derive(Clone)]
pub(crate) struct Walk<'b> {
    /// The whole body.
    pub(crate) body: Node<'b>,
    /// What names are bound to so far.
    pub(crate) bindings: Bindings,
    /// What stands between the place and its test.
    pub(crate) obstacles: Vec<Obstacle>,
    /// Whether what is called here runs only where it is waited for.
    pub(crate) is_async: bool,
    /// Whether it is waited for.
    pub(crate) is_awaited: bool,
    /// How deep the place lies.
    depth: u32,
}

impl<'b> Walk<'b> {
    pub(crate) fn new(body: Node<'b>) -> Self {
        Self {
            body,
            bindings: Bindings::default(),
            obstacles: Vec::new(),
            is_async: false,
            is_awaited: false,
            depth: 0,
        }
    }

    /// Adds a check with what stands around it here.
    pub(crate) fn check(&self, mut check: Check, unit: &mut Unit) {
        check.resolved = (self.bindings.resolve(&check.subject), self.bindings.resolve(&check.expected));
        check.obstacles.clone_from(&self.obstacles);
        unit.checks.push(check);
    }
}

/// Follows the body of a test to what it checks.
pub(crate) trait Following<'t>: Reading<'t> {
    /// Follows one node, which lies no deeper than is followed.
    fn node(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>);

    /// Follows one node.
    fn body(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        if walk.depth > DEPTH {
            return;
        }
        walk.depth += 1;
        self.node(node, unit, walk);
        walk.depth -= 1;
    }

    /// Follows what a node is made of.
    fn children(&mut self, node: Node<'_>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.body(child, unit, walk);
        }
    }

    /// The same behind what was found to stand there.
    fn behind(&mut self, node: Node<'_>, found: Option<Obstacle>, unit: &mut Unit, walk: &mut Walk<'_>) {
        let before = walk.obstacles.len();
        walk.obstacles.extend(found);
        self.children(node, unit, walk);
        walk.obstacles.truncate(before);
    }
}
