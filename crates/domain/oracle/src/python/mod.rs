//! Reads Python: tests of pytest and unittest, functions that check for them, and source that knows of them.

mod access;
mod body;
mod check;
mod coding;
mod condition;
mod decorator;
mod disarmed;
mod nodes;
mod source;
mod tenancy;
mod test_call;
mod undone;

use std::collections::BTreeSet;

use ambit_policy::FactKind;
use tree_sitter::{Node, Tree};

pub(crate) use coding::{is_known as is_in_a_known_coding, is_read_soon};
use nodes::{first, is_text, unsaid, yields};

use crate::outline::{Bindings, Check, Obstacle, Outline, Relation, Told, Unit, squeezed};
use crate::reading::{DEPTH, Next, Reading, each_node};
use crate::tree::{Side, Sides};

/// Functions that wait for what they are given.
const WAITS: [&str; 3] = ["asyncio.run", "run_until_complete", "anyio.run"];
/// Beginnings of the names of constants that tests compare with.
const EXPECTATIONS: [&str; 4] = ["expected", "want", "golden", "reference"];
/// Marks of an asynchronous test that a runner waits for.
const ASYNC_MARKS: [&str; 5] = ["asyncio", "anyio", "trio", "tornado", "gen_test"];

/// The outlines of both sides of a file.
pub(crate) fn outlines(trees: &Sides<'_>, is_test_file: bool) -> (Outline, Outline) {
    let mut before = Reader::new(&trees.before, is_test_file);
    let mut after = Reader::new(&trees.after, is_test_file);
    before.learn();
    after.learn();
    // What one side waits for is to be waited for on the other.
    let awaited: BTreeSet<String> = before.awaited.union(&after.awaited).cloned().collect();
    before.awaited.clone_from(&awaited);
    after.awaited = awaited;
    before.read();
    after.read();
    after.functions.extend(trees.left_out.iter().cloned());
    tenancy::forget_what_went_with_its_function(&mut before.outline, &after.functions);
    let is_asked_of_all = after.asks_of_all && !before.asks_of_all;
    access::forget_what_is_asked_elsewhere(&mut before.outline, &after.functions, is_asked_of_all);
    (before.outline, after.outline)
}

struct Reader<'t> {
    text: &'t str,
    tree: &'t Tree,
    is_test_file: bool,
    outline: Outline,
    /// Names of all functions of the file.
    functions: BTreeSet<String>,
    /// Whether a login is asked of everything that a router holds.
    asks_of_all: bool,
    /// Functions that answer nothing.
    returns_nothing: BTreeSet<String>,
    /// Functions that are awaited somewhere.
    awaited: BTreeSet<String>,
    /// Classes that a class of tests takes its tests from.
    mixins: BTreeSet<String>,
    /// What names of the module are bound to.
    constants: Bindings,
    /// The module's lists, by name: where they stand.
    lists: Vec<(String, std::ops::Range<usize>)>,
}

/// What stands around a function.
#[derive(Clone, Debug, Default)]
struct Scope {
    /// The classes around it, joined by a dot.
    classes: String,
    /// Whether a runner looks for tests here.
    is_collected: bool,
    /// Whether the class is one of unittest.
    is_unittest: bool,
    depth: u32,
}

impl<'t> Reading<'t> for Reader<'t> {
    fn text(&self) -> &'t str {
        self.text
    }
}

impl<'t> Reader<'t> {
    fn new(side: &'t Side<'t>, is_test_file: bool) -> Self {
        Self {
            text: &side.text,
            tree: &side.tree,
            is_test_file,
            outline: Outline::default(),
            functions: BTreeSet::new(),
            asks_of_all: false,
            returns_nothing: BTreeSet::new(),
            awaited: BTreeSet::new(),
            mixins: BTreeSet::new(),
            constants: Bindings::default(),
            lists: Vec::new(),
        }
    }

    /// Collects what must be known of a file before its tests are read.
    fn learn(&mut self) {
        each_node(self.tree.root_node(), |node, depth| {
            self.name(node, depth);
            Next::Within
        });
    }

    fn read(&mut self) {
        let root = self.tree.root_node();
        self.source(root);
        if self.is_test_file {
            let scope = Scope { is_collected: true, ..Scope::default() };
            self.items(root, &scope);
            self.script(root);
        }
    }

    /// What a test file checks outside of every function, whenever it is loaded.
    fn script(&mut self, root: Node<'_>) {
        let mut unit = Unit {
            name: "module".to_owned(),
            line: 1,
            shown: "module".to_owned(),
            is_collected: true,
            ..Unit::default()
        };
        let mut walk = body::Walk::of_module(root, self.constants.clone());
        self.block(root, &mut unit, &mut walk);
        self.expectations(root, &mut unit);
        if !unit.checks.is_empty() {
            self.outline.units.push(unit);
        }
    }

    /// The text in one spelling: without white space, and strings in double quotation marks where that changes nothing.
    fn plain(&self, node: Node<'_>) -> String {
        let text = squeezed(&self.without_comments(node));
        if text.contains('"') { text } else { text.replace('\'', "\"") }
    }

    /// The text of a node that holds no comment: what is said beside a value is no part of it.
    fn without_comments(&self, node: Node<'_>) -> String {
        let mut text = self.of(node).to_owned();
        if !text.contains('#') && !text.contains("\\\n") && !text.contains("\\\r") {
            return text;
        }
        let mut found = Vec::new();
        unsaid(node, 0, &mut found);
        for range in found.into_iter().rev() {
            let start = range.start - node.start_byte();
            text.replace_range(start..range.end - node.start_byte(), "");
        }
        text
    }

    /// The text without white space, comments and joins of lines.
    fn tight(&self, node: Node<'_>) -> String {
        squeezed(&self.without_comments(node))
    }

    /// The same of a child by the name of its field; empty where there is none.
    fn tight_field(&self, node: Node<'_>, name: &str) -> String {
        node.child_by_field_name(name).map_or_else(String::new, |child| self.tight(child))
    }

    fn find(&mut self, kind: FactKind, told: Told, node: Node<'_>, key: &str) {
        let finding = self.finding(kind, told, node, key);
        self.outline.findings.push(finding);
    }

    /// Collects the name of a function, what is awaited, what the module binds.
    fn name(&mut self, node: Node<'_>, depth: u32) {
        match node.kind() {
            "function_definition" => {
                let name = self.field(node, "name").to_owned();
                let text = self.field(node, "body");
                if !text.contains("return ") && !text.contains("yield") || text.trim() == "return None" {
                    self.returns_nothing.insert(name.clone());
                }
                self.functions.insert(name);
            }
            "await" => {
                let called = first(node).filter(|inner| inner.kind() == "call");
                if let Some(call) = called {
                    self.awaited.insert(self.tight_field(call, "function"));
                }
            }
            "call" if WAITS.iter().any(|name| self.field(node, "function").ends_with(name)) => {
                let arguments = node.child_by_field_name("arguments");
                let called = arguments.and_then(|list| first(list)).filter(|it| it.kind() == "call");
                if let Some(call) = called {
                    self.awaited.insert(self.tight_field(call, "function"));
                }
            }
            "class_definition" => {
                let bases = self.field(node, "superclasses");
                if bases.contains("TestCase") || self.field(node, "name").starts_with("Test") {
                    let bases = bases.trim_matches(['(', ')']).split(',').map(str::trim);
                    self.mixins.extend(bases.map(str::to_owned));
                }
            }
            // A statement of the module is one deep, what it says two.
            "assignment" if depth == 2 && self.tree.root_node().kind() == "module" => self.bind_module(node),
            _ => {}
        }
    }

    fn bind_module(&mut self, node: Node<'_>) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return;
        };
        if left.kind() != "identifier" {
            return;
        }
        match right.kind() {
            "integer" | "float" | "string" | "true" | "false" | "none" | "unary_operator" => {
                self.constants.bind(self.of(left), &self.plain(right));
            }
            "concatenated_string" | "parenthesized_expression" if is_text(right) => {
                self.constants.bind(self.of(left), &self.plain(right));
            }
            "list" | "tuple" => self.lists.push((self.of(left).to_owned(), right.byte_range())),
            _ => {}
        }
    }

    fn items(&mut self, node: Node<'_>, scope: &Scope) {
        if scope.depth > DEPTH {
            return;
        }
        let first_unit = self.outline.units.len();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            let (item, decorators) = decorator::taken_apart(child);
            if scope.is_collected {
                self.undoes(item);
            }
            match item.kind() {
                "block" if is_dead_branch(self, node, child) => {
                    let is_collected = false;
                    self.items(item, &Scope { depth: scope.depth + 1, is_collected, ..scope.clone() });
                }
                "function_definition" => self.function(item, &decorators, scope),
                "class_definition" => self.class(item, scope),
                "if_statement" | "try_statement" | "with_statement" | "else_clause" | "block"
                | "except_clause" | "elif_clause" => {
                    self.items(item, &Scope { depth: scope.depth + 1, ..scope.clone() });
                }
                _ => {}
            }
        }
        self.shadowed(first_unit, scope);
    }

    /// Of two functions of one name in one place the later one is there.
    fn shadowed(&mut self, first: usize, scope: &Scope) {
        let mut seen = BTreeSet::new();
        for place in (first..self.outline.units.len()).rev() {
            let unit = &mut self.outline.units[place];
            // One function for each version of Python, or one for each overload, asserts nothing.
            let matters = unit.is_collected || !unit.checks.is_empty();
            if !matters || !unit.name.starts_with(&scope.classes) || seen.insert(unit.name.clone()) {
                continue;
            }
            unit.obstacles.push(Obstacle {
                kind: FactKind::TestShadowed,
                key: "shadowed".to_owned(),
                line: unit.line,
                shown: unit.shown.clone(),
            });
        }
    }

    /// Constants of a test file that say by their names what is expected.
    fn expectations(&self, root: Node<'_>, unit: &mut Unit) {
        let mut cursor = root.walk();
        let assignments = root.named_children(&mut cursor).filter_map(|statement| first(statement));
        for assignment in assignments.filter(|inner| inner.kind() == "assignment") {
            let name = self.field(assignment, "left");
            let lower = name.to_ascii_lowercase();
            let Some(value) = assignment.child_by_field_name("right") else { continue };
            if EXPECTATIONS.iter().any(|start| lower.starts_with(start)) {
                let (line, shown) = (self.line(assignment), self.shown(assignment));
                unit.checks.push(Check::new(line, shown, Relation::Equals, name, &self.plain(value)));
            }
        }
    }

    fn class(&mut self, node: Node<'_>, scope: &Scope) {
        let Some(body) = node.child_by_field_name("body") else { return };
        let name = self.field(node, "name");
        let bases = self.field(node, "superclasses");
        let is_unittest = bases.contains("TestCase") || scope.is_unittest;
        let inherits = is_unittest || bases.contains("Test");
        let mut cursor = body.walk();
        let is_off = body.named_children(&mut cursor).any(|child| {
            let (item, _) = decorator::taken_apart(child);
            match item.kind() {
                "function_definition" => !inherits && self.field(item, "name") == "__init__",
                _ => self.tight(item).starts_with("__test__=False"),
            }
        });
        let inner = Scope {
            classes: format!("{}{name}.", scope.classes),
            is_collected: scope.is_collected
                && (inherits || name.starts_with("Test") || self.mixins.contains(name))
                && !is_off,
            is_unittest,
            depth: scope.depth + 1,
        };
        self.items(body, &inner);
    }

    fn function(&mut self, node: Node<'_>, decorators: &[Node<'_>], scope: &Scope) {
        let Some(body) = node.child_by_field_name("body") else { return };
        let name = self.field(node, "name");
        let mut unit = Unit {
            name: format!("{}{name}", scope.classes),
            line: self.line(node),
            shown: self.shown(node).trim_end_matches(':').to_owned(),
            is_collected: scope.is_collected && name.starts_with("test"),
            ..Unit::default()
        };
        self.decorators(decorators, &mut unit);
        self.replaced_by(decorators, &mut unit);
        let mut walk = body::Walk::new(body, self.constants.clone());
        if unit.is_collected {
            self.never_runs(node, decorators, scope, &mut unit);
        }
        self.block(body, &mut unit, &mut walk);
        walk.patched.extend(decorator::patched(self, decorators));
        unit.checks.iter_mut().for_each(|check| walk.note_patched(check));
        unit.keep_words(self.of(body));
        if !unit.is_collected && unit.checks.is_empty() {
            // What a fixture goes through is no table.
            unit.cases.clear();
        }
        self.outline.units.push(unit);
    }

    /// A test whose body is not run when it is called.
    fn never_runs(&self, node: Node<'_>, decorators: &[Node<'_>], scope: &Scope, unit: &mut Unit) {
        let is_async = self.of(node).starts_with("async");
        let is_marked = |text: &str| ASYNC_MARKS.iter().any(|mark| text.contains(mark));
        let is_waited_for = if !is_async {
            // The text is looked through for the few that matter alone.
            true
        } else if scope.is_unittest {
            self.text.contains("IsolatedAsyncioTestCase")
        } else {
            decorators.iter().any(|decorator| is_marked(self.of(*decorator)))
                || self.text.contains("pytestmark") && is_marked(self.text)
        };
        if is_async && !is_waited_for {
            unit.obstacles.push(self.obstacle(FactKind::TestNotAwaited, "async", node));
        }
        if node.child_by_field_name("body").is_some_and(yields) {
            unit.obstacles.push(self.obstacle(FactKind::AssertionUnreachable, "yield", node));
        }
    }
}

/// Whether a block is the one that runs where a condition holds that never does.
fn is_dead_branch(reader: &Reader<'_>, of: Node<'_>, block: Node<'_>) -> bool {
    of.kind() == "if_statement"
        && of.child_by_field_name("consequence") == Some(block)
        && undone::is_dead(&reader.tight_field(of, "condition"))
}
