//! The walk through the tree of a file, which follows how it would run.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::compared::mark_unused;
use super::detect;
use super::found::{Found, Owner, Place, Reach};
use super::names::Names;
use super::text::Text;
use super::vacuous;

/// What is true of the place that the walk has come to.
#[derive(Clone, Copy)]
pub(super) struct Flow {
    /// Where it belongs.
    pub(super) owner: Owner,
    pub(super) reach: Reach,
    pub(super) is_swallowed: bool,
    /// Whether the test waits for what is done here.
    pub(super) is_awaited: bool,
    /// Whether what the expression gives is awaited or returned.
    pub(super) is_given_back: bool,
    /// Whether something else calls the function that this stands in, when it likes.
    pub(super) is_called_back: bool,
}

/// A walk, and what it has found so far.
pub(super) struct Walk<'r, 't> {
    pub(super) text: Text<'t>,
    pub(super) names: &'r Names<'t>,
    pub(super) found: Found,
    pub(super) titles: Vec<String>,
    /// What tests call the object that they are given.
    pub(super) objects: Vec<&'t str>,
    /// What tests call the methods that they take from it.
    pub(super) methods: Vec<(&'t str, &'t str)>,
    /// What tests call the function that ends them, and whether the flow has called it.
    pub(super) ends: Vec<&'t str>,
    /// Names, and how often they are used.
    pub(super) written: BTreeMap<String, u32>,
    /// The functions that the walk is in.
    pub(super) within: Vec<&'t str>,
    /// Names of values that are written out where they are declared.
    pub(super) constants: BTreeMap<&'t str, Node<'t>>,
    /// Names of lists that nothing is ever put into.
    pub(super) empties: BTreeSet<&'t str>,
    /// How often each word is written, once anybody asks.
    pub(super) words: Option<BTreeMap<&'t str, u32>>,
}

/// The longest text of a place that is kept.
const SHOWN_BYTES: usize = 200;

impl<'r, 't> Walk<'r, 't> {
    pub(super) fn through(root: Node<'t>, text: Text<'t>, names: &'r Names<'t>) -> Found {
        Self::followed(root, text, names).0
    }

    /// What the walk finds, and which names are used how often.
    pub(super) fn followed(
        root: Node<'t>,
        text: Text<'t>,
        names: &'r Names<'t>,
    ) -> (Found, BTreeMap<String, u32>) {
        let mut walk = Self {
            text,
            names,
            found: Found::default(),
            titles: Vec::new(),
            objects: Vec::new(),
            methods: Vec::new(),
            ends: Vec::new(),
            written: BTreeMap::new(),
            within: Vec::new(),
            constants: BTreeMap::new(),
            empties: BTreeSet::new(),
            words: None,
        };
        let flow = Flow {
            owner: Owner::File,
            reach: Reach::Always,
            is_swallowed: false,
            is_awaited: true,
            is_given_back: false,
            is_called_back: false,
        };
        walk.statements(root, flow);
        mark_unused(&mut walk.found, &walk.written);
        (walk.found, walk.written)
    }

    pub(super) fn place(&self, node: Node<'t>) -> Place {
        let text = self.text.of(node);
        let shown = &text[..text.floor_char_boundary(SHOWN_BYTES)];
        let line = u32::try_from(node.start_position().row).map_or(u32::MAX, |row| row.saturating_add(1));
        Place { line, shown: shown.to_owned() }
    }

    pub(super) fn use_name(&mut self, name: &str) {
        *self.written.entry(name.to_owned()).or_default() += 1;
    }

    pub(super) fn visit(&mut self, node: Node<'t>, flow: Flow) {
        if detect::detects(node, self.text) {
            let place = self.place(node);
            self.found.detections.push(place);
        }
        match node.kind() {
            "program" | "statement_block" => self.statements(node, flow),
            "if_statement" | "ternary_expression" => self.branch(node, flow),
            "while_statement" | "for_statement" | "for_in_statement" | "do_statement" => {
                self.repeat(node, flow);
            }
            "switch_case" | "switch_default" => self.children(node, flow.sometimes()),
            "try_statement" => self.attempt(node, flow),
            "binary_expression" => self.binary(node, flow),
            "await_expression" | "return_statement" => self.children(node, flow.given_back()),
            "call_expression" => self.call(node, flow),
            "member_expression" | "subscript_expression" => self.member(node, flow),
            "arrow_function"
            | "function_expression"
            | "function_declaration"
            | "generator_function"
            | "generator_function_declaration" => self.function(node, flow),
            "method_definition" => {
                self.noted_item(node);
                self.function(node, flow);
            }
            "variable_declarator" => self.declarator(node, flow),
            "parenthesized_expression" | "as_expression" | "non_null_expression" | "satisfies_expression" => {
                self.children(node, flow);
            }
            "identifier" | "shorthand_property_identifier" => self.use_name(self.text.of(node)),
            "string" | "template_string" => self.string(node, flow),
            "assignment_expression" => self.assignment(node, flow),
            "pair" => {
                self.opened(node);
                self.children(node, flow.given_back());
            }
            "decorator" => {
                self.decorated(node);
                self.children(node, flow.kept());
            }
            "class_declaration" | "class" => {
                self.noted_item(node);
                self.children(node, flow.kept());
            }
            "array" => self.children(node, flow),
            _ => self.children(node, flow.kept()),
        }
    }

    pub(super) fn children(&mut self, node: Node<'t>, flow: Flow) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        for child in children {
            self.visit(child, flow);
        }
    }

    /// Statements one after another: behind one that ends the flow, nothing is reached.
    pub(super) fn statements(&mut self, node: Node<'t>, mut flow: Flow) {
        let mut cursor = node.walk();
        let statements: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        for statement in statements {
            let is_bare = statement.kind() == "expression_statement";
            self.visit(statement, if is_bare { flow.dropped() } else { flow });
            if self.is_end_called(statement) {
                flow.is_awaited = false;
            }
            flow.reach = flow.reach.max(self.ending(statement, flow.owner));
        }
    }

    pub(super) fn branch(&mut self, node: Node<'t>, flow: Flow) {
        let condition = node.child_by_field_name("condition");
        if let Some(condition) = condition {
            self.visit(condition, flow.kept());
        }
        let known = condition.and_then(|condition| vacuous::truth(self.text, condition));
        for (name, when) in [("consequence", true), ("alternative", false)] {
            let Some(part) = node.child_by_field_name(name) else { continue };
            let reached = match known {
                Some(known) if known == when => flow,
                Some(_) => flow.never(),
                None => flow.sometimes(),
            };
            let bare = part.kind() == "expression_statement";
            self.visit(part, if bare { reached.dropped() } else { reached });
        }
    }

    pub(super) fn repeat(&mut self, node: Node<'t>, flow: Flow) {
        let over = node.child_by_field_name("right").map(vacuous::plain);
        let condition = node.child_by_field_name("condition");
        let never = over.is_some_and(|over| self.is_empty(over))
            || (node.kind() != "do_statement"
                && condition.is_some_and(|condition| vacuous::truth(self.text, condition) == Some(false)));
        let body = node.child_by_field_name("body");
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        for child in children {
            let inner =
                if never && Some(child.id()) == body.map(|body| body.id()) { flow.never() } else { flow };
            self.visit(
                child,
                if child.kind() == "expression_statement" { inner.dropped() } else { inner.kept() },
            );
        }
    }

    pub(super) fn binary(&mut self, node: Node<'t>, flow: Flow) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return;
        };
        let operator = node.child_by_field_name("operator").map_or("", |operator| self.text.of(operator));
        self.visit(left, flow);
        let runs_when = match operator {
            "&&" => true,
            "||" => false,
            _ => return self.visit(right, flow),
        };
        let reached = match vacuous::truth(self.text, left) {
            Some(known) if known == runs_when => flow,
            Some(_) => flow.never(),
            None => flow.sometimes(),
        };
        self.visit(right, reached);
    }

    pub(super) fn attempt(&mut self, node: Node<'t>, flow: Flow) {
        let handler = node.child_by_field_name("handler");
        let finalizer = node.child_by_field_name("finalizer");
        let loses = handler.is_some_and(|handler| !self.fails_on(handler));
        let overrides = finalizer.is_some_and(|finalizer| {
            finalizer
                .child_by_field_name("body")
                .is_some_and(|body| self.block_ending(body, Owner::File) == Reach::Never)
        });
        if let Some(body) = node.child_by_field_name("body") {
            let inside = Flow { is_swallowed: flow.is_swallowed || loses || overrides, ..flow };
            self.visit(body, inside);
        }
        if let Some(body) = handler.and_then(|handler| handler.child_by_field_name("body")) {
            self.visit(body, flow.sometimes());
        }
        if let Some(body) = finalizer.and_then(|finalizer| finalizer.child_by_field_name("body")) {
            self.visit(body, flow);
        }
    }
}

impl Flow {
    pub(super) const fn sometimes(self) -> Self {
        let reach = match self.reach {
            Reach::Never => Reach::Never,
            _ => Reach::Sometimes,
        };
        Self { reach, ..self }
    }

    pub(super) const fn never(self) -> Self {
        Self { reach: Reach::Never, ..self }
    }

    pub(super) const fn given_back(self) -> Self {
        Self { is_given_back: true, ..self }
    }

    /// The value of the expression is dropped.
    pub(super) const fn dropped(self) -> Self {
        Self { is_given_back: false, ..self }
    }

    /// The value of the expression goes somewhere else.
    pub(super) const fn kept(self) -> Self {
        Self { is_given_back: false, ..self }
    }
}
