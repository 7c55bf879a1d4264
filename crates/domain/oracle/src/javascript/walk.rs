//! The walk through the tree of a file, which follows how it would run.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::chain::Chain;
use super::compared::mark_unused;
use super::declare::{self, Declared, is_function};
use super::detect;
use super::found::{Assertion, Found, Function, Marker, Mock, Owner, Place, Reach, Test};
use super::names::{Names, Role};
use super::said::{Reader, Said, arguments};
use super::tenancy;
use super::text::Text;
use super::vacuous;

/// What is true of the place that the walk has come to.
#[derive(Clone, Copy)]
pub(super) struct Flow {
    owner: Owner,
    reach: Reach,
    is_swallowed: bool,
    /// Whether the test waits for what is done here.
    is_awaited: bool,
    /// Whether what the expression gives is awaited or returned.
    is_given_back: bool,
}

pub(super) struct Walk<'r, 't> {
    text: Text<'t>,
    names: &'r Names<'t>,
    found: Found,
    titles: Vec<String>,
    /// What tests call the object that they are given.
    objects: Vec<&'t str>,
    /// What tests call the methods that they take from it.
    methods: Vec<(&'t str, &'t str)>,
    /// What tests call the function that ends them, and whether the flow has called it.
    ends: Vec<&'t str>,
    /// Names, and how often they are used.
    written: BTreeMap<String, u32>,
    /// The functions that the walk is in.
    within: Vec<&'t str>,
    /// Names of values that are written out where they are declared.
    constants: BTreeMap<&'t str, Node<'t>>,
}

/// The longest text of a place that is kept.
const SHOWN_BYTES: usize = 200;

const HOOKS: [&str; 12] = [
    "before",
    "after",
    "beforeEach",
    "afterEach",
    "beforeAll",
    "afterAll",
    "teardown",
    "setup",
    "onTestFinished",
    "onTestFailed",
    "suiteSetup",
    "suiteTeardown",
];
/// Calls whose function is not called before the one that they stand in has come to its end.
const LATER: [&str; 16] = [
    "then",
    "catch",
    "finally",
    "setTimeout",
    "setImmediate",
    "setInterval",
    "nextTick",
    "queueMicrotask",
    "on",
    "once",
    "addListener",
    "addEventListener",
    "subscribe",
    "requestAnimationFrame",
    "pipe",
    "emit",
];

impl<'r, 't> Walk<'r, 't> {
    pub(super) fn through(root: Node<'t>, text: Text<'t>, names: &'r Names<'t>) -> Found {
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
        };
        let flow = Flow {
            owner: Owner::File,
            reach: Reach::Always,
            is_swallowed: false,
            is_awaited: true,
            is_given_back: false,
        };
        walk.statements(root, flow);
        mark_unused(&mut walk.found, &walk.written);
        walk.found
    }

    fn place(&self, node: Node<'t>) -> Place {
        let text = self.text.of(node);
        let shown = &text[..text.floor_char_boundary(SHOWN_BYTES)];
        let line = u32::try_from(node.start_position().row).map_or(u32::MAX, |row| row.saturating_add(1));
        Place { line, shown: shown.to_owned() }
    }

    fn use_name(&mut self, name: &str) {
        *self.written.entry(name.to_owned()).or_default() += 1;
    }

    fn visit(&mut self, node: Node<'t>, flow: Flow) {
        if detect::detects(node, self.text) {
            let place = self.place(node);
            self.found.detections.push(place);
        }
        match node.kind() {
            "program" | "statement_block" => self.statements(node, flow),
            "if_statement" | "ternary_expression" => self.branch(node, flow),
            "while_statement" | "for_statement" | "for_in_statement" | "do_statement" => {
                self.repeat(node, flow)
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
            | "generator_function_declaration"
            | "method_definition" => self.function(node, flow),
            "variable_declarator" => self.declarator(node, flow),
            "parenthesized_expression" | "as_expression" | "non_null_expression" | "satisfies_expression" => {
                self.children(node, flow);
            }
            "identifier" | "shorthand_property_identifier" => self.use_name(self.text.of(node)),
            "string" | "template_string" => self.string(node, flow),
            "assignment_expression" => self.assignment(node, flow),
            "pair" => self.children(node, flow.given_back()),
            "array" => self.children(node, flow),
            _ => self.children(node, flow.kept()),
        }
    }

    fn children(&mut self, node: Node<'t>, flow: Flow) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        for child in children {
            self.visit(child, flow);
        }
    }

    /// Statements one after another: behind one that ends the flow, nothing is reached.
    fn statements(&mut self, node: Node<'t>, mut flow: Flow) {
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

    /// Whether the statement is `done()`, by which a test says that it has come to its end.
    fn is_end_called(&self, statement: Node<'t>) -> bool {
        let call = statement.named_child(0).filter(|_| statement.kind() == "expression_statement");
        let Some(call) = call.filter(|call| call.kind() == "call_expression") else { return false };
        let name = call.child_by_field_name("function").map_or("", |function| self.text.of(function));
        let has_arguments =
            call.child_by_field_name("arguments").is_some_and(|given| given.named_child_count() > 0);
        self.ends.contains(&name) && !has_arguments
    }

    /// How what follows the statement is reached.
    fn ending(&self, statement: Node<'t>, owner: Owner) -> Reach {
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
    fn hands_on(&self, statement: Node<'t>) -> bool {
        let done = statement.child_by_field_name("consequence").map_or("", |branch| self.text.of(branch));
        ["reject(", "done(", "next(", "cb(", "callback(", ".fail(", "fail(", ".error(", "ifError(", "throw ", "expect("]
            .iter()
            .any(|word| done.contains(word))
    }

    /// How what follows a block is reached, where the flow ends in it.
    fn block_ending(&self, node: Node<'t>, owner: Owner) -> Reach {
        if !matches!(node.kind(), "statement_block" | "else_clause") {
            return self.ending(node, owner);
        }
        let mut cursor = node.walk();
        node.named_children(&mut cursor).map(|part| self.ending(part, owner)).max().unwrap_or(Reach::Always)
    }

    fn branch(&mut self, node: Node<'t>, flow: Flow) {
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

    fn repeat(&mut self, node: Node<'t>, flow: Flow) {
        let over = node.child_by_field_name("right").map(vacuous::plain);
        let condition = node.child_by_field_name("condition");
        let never = over.is_some_and(|over| over.kind() == "array" && over.named_child_count() == 0)
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

    fn binary(&mut self, node: Node<'t>, flow: Flow) {
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

    fn attempt(&mut self, node: Node<'t>, flow: Flow) {
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

    /// Whether a handler lets a failure through, or looks at it: it throws, asserts, or hands the error on.
    fn fails_on(&self, handler: Node<'t>) -> bool {
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

    fn reader(&self) -> Reader<'_, 't> {
        Reader { text: self.text, names: self.names, objects: &self.objects, methods: &self.methods }
    }

    fn call(&mut self, node: Node<'t>, flow: Flow) {
        let chain = Chain::of(node, self.text);
        if let Some(declared) = declare::declared(&chain, self.names, &self.objects, self.text) {
            return self.declare(node, declared, flow);
        }
        let said = self.reader().read(node, &chain);
        if let Some(first) = chain
            .last()
            .calls
            .first()
            .and_then(|call| call.named_child(0))
            .filter(|first| first.kind() == "string")
        {
            let title = self.text.normal(first);
            self.found.named.insert(title);
        }
        self.mark(node, &chain, flow);
        self.mock(node, &chain);
        self.queried(node, &chain);
        let is_late = said.iter().any(|said| said.is_late);
        let caught = self.is_caught(&chain);
        for said in said {
            self.assert(said, flow, is_late, caught);
        }
        self.parts(&chain, flow, caught);
    }

    fn assert(&mut self, mut said: Said<'t>, flow: Flow, is_late: bool, caught: bool) {
        for one in &mut said.expected {
            *one = self.constants.get(self.text.of(*one)).copied().unwrap_or(*one);
        }
        let expected = said.expected.iter().map(|one| self.text.normal(*one));
        let by_name = (!said.by_name.is_empty()).then(|| said.by_name.to_owned());
        let wild = said.expected.iter().map(|one| vacuous::wildness(self.text, *one, said.relation)).sum();
        let is_primitive = said.expected.iter().all(|one| {
            matches!(
                vacuous::plain(*one).kind(),
                "number" | "string" | "true" | "false" | "null" | "undefined"
            )
        });
        self.found.assertions.push(Assertion {
            owner: flow.owner,
            place: self.place(said.node),
            expected: by_name.into_iter().chain(expected).collect(),
            relation: said.relation,
            negated: said.negated,
            subject: if said.subject.is_empty() { said.name.clone() } else { said.subject },
            name: said.name,
            wild,
            is_primitive,
            reach: flow.reach,
            is_swallowed: flow.is_swallowed || caught,
            is_awaited: flow.is_awaited && (!is_late || flow.is_given_back),
            is_vacuous: said.is_vacuous,
        });
    }

    /// Whether the chain ends with a handler that loses what failed before it.
    fn is_caught(&self, chain: &Chain<'t>) -> bool {
        chain.links.iter().skip(1).any(|link| {
            let Some(call) = link.calls.last() else { return false };
            let given = arguments(*call);
            let handler = match link.name {
                "catch" => given.first(),
                "then" => given.get(1),
                _ => None,
            };
            handler.is_some_and(|handler| is_function(*handler) && !self.fails_on(*handler))
        })
    }

    /// The parts of a call: its functions run when their turn comes, or never.
    fn parts(&mut self, chain: &Chain<'t>, flow: Flow, caught: bool) {
        let is_chained = chain
            .links
            .iter()
            .any(|link| matches!(link.name, "then" | "catch" | "finally") && !link.calls.is_empty());
        let over_nothing = chain.root().node.kind() == "array" && chain.root().node.named_child_count() == 0;
        for link in &chain.links {
            if link.name.is_empty() {
                let inner = if is_function(link.node) { flow } else { flow.kept() };
                self.visit(link.node, inner);
            } else if link.node.kind() == "identifier" {
                self.use_name(link.name);
            }
            for call in &link.calls {
                let is_hook = HOOKS.contains(&link.name);
                for argument in arguments(*call) {
                    let mut inner = Flow { is_swallowed: flow.is_swallowed || caught, ..flow };
                    if is_function(argument) {
                        inner.is_awaited = flow.is_awaited
                            && (is_hook || self.is_waited_for(argument, link.name, is_chained, flow));
                        inner.reach = if over_nothing { Reach::Never } else { flow.reach };
                        self.body(argument, inner);
                    } else {
                        let passes_on = chain.root().name == "Promise";
                        self.visit(argument, if passes_on { inner } else { inner.kept() });
                    }
                }
            }
        }
    }

    /// Whether the test does not end before the function that is given to a call has.
    fn is_waited_for(&self, function: Node<'t>, called: &str, is_chained: bool, flow: Flow) -> bool {
        if flow.is_given_back || !matches!(flow.owner, Owner::Test(_)) || !self.ends.is_empty() {
            return true;
        }
        let is_async = self.text.of(function).starts_with("async");
        let parameters =
            function.child_by_field_name("parameters").or_else(|| function.child_by_field_name("parameter"));
        let first = parameters.map_or("", |parameters| self.text.of(parameters));
        let first = first.trim_start_matches('(').split([',', ')', ':']).next().unwrap_or("").trim();
        let takes_error = matches!(first, "err" | "error" | "er" | "_err");
        !(is_async || takes_error || (LATER.contains(&called) && (is_chained || called != "then")))
    }

    /// A function that runs where it stands.
    fn body(&mut self, function: Node<'t>, flow: Flow) {
        if let Some(parameters) = function.child_by_field_name("parameters") {
            self.visit(parameters, flow.kept());
        }
        let Some(body) = function.child_by_field_name("body") else { return };
        // What an arrow gives back without a block is returned.
        let inner = if body.kind() == "statement_block" { flow.kept() } else { flow.given_back() };
        self.visit(body, inner);
    }

    /// A function that runs where it is called.
    fn function(&mut self, node: Node<'t>, flow: Flow) {
        let name = node.child_by_field_name("name").map_or("", |name| self.text.of(name));
        self.named_function(node, name, flow);
    }

    fn named_function(&mut self, node: Node<'t>, name: &'t str, flow: Flow) {
        let owner = Owner::Function(self.found.functions.len());
        if name.is_empty() {
            return self.body(node, flow.kept());
        }
        let is_open = node.kind() == "method_definition"
            || node.parent().is_some_and(|up| up.kind() == "export_statement")
            || node
                .parent()
                .and_then(|up| up.parent())
                .and_then(|up| up.parent())
                .is_some_and(|up| up.kind() == "export_statement");
        self.found.functions.push(Function { name: name.to_owned(), is_open });
        self.found.named.insert(name.to_owned());
        self.within.push(name);
        let flow =
            Flow { owner, reach: Reach::Always, is_swallowed: false, is_awaited: true, is_given_back: false };
        self.body(node, flow);
        self.within.pop();
    }

    fn declarator(&mut self, node: Node<'t>, flow: Flow) {
        let Some(value) = node.child_by_field_name("value") else { return };
        let name = node.child_by_field_name("name").map_or("", |name| self.text.of(name));
        if vacuous::is_literal(value) {
            self.constants.insert(name, value);
        }
        if is_function(value) {
            self.named_function(value, name, flow)
        } else {
            self.visit(value, flow.given_back())
        }
    }

    fn declare(&mut self, node: Node<'t>, declared: Declared<'t>, flow: Flow) {
        let anchor = declared.title.clone();
        for word in &declared.markers {
            self.found.markers.push(Marker {
                name: word.marker,
                place: self.place(word.node),
                anchor: anchor.clone(),
                is_declared: true,
                depends: word.depends,
            });
        }
        self.titles.push(declared.title);
        if declared.is_group {
            if let Some(body) = declared.body {
                let inner = Flow { owner: Owner::File, is_awaited: true, ..flow };
                self.body(body, inner.kept());
            }
        } else {
            self.test(node, declared.body, declared.table, flow);
        }
        self.titles.pop();
    }

    fn test(&mut self, node: Node<'t>, body: Option<Node<'t>>, table: Option<Node<'t>>, flow: Flow) {
        let (rows, table) = match table.map(|table| declare::rows(table, self.text)) {
            Some(Ok(rows)) => {
                (rows.into_iter().map(|(row, node)| (row, self.place(node))).collect(), String::new())
            }
            Some(Err(table)) => (Vec::new(), table),
            None => (Vec::new(), String::new()),
        };
        let is_inner = matches!(flow.owner, Owner::Test(_));
        self.found.tests.push(Test {
            titles: self.titles.clone(),
            place: self.place(node),
            rows,
            table,
            is_awaited: is_inner.then_some(flow.is_given_back),
            awaits: body.map_or(0, |body| self.text.of(body).matches("await ").count()),
        });
        let Some(body) = body else { return };
        let owner = Owner::Test(self.found.tests.len() - 1);
        let (objects, methods, ends) = (self.objects.len(), self.methods.len(), std::mem::take(&mut self.ends));
        self.parameters(body);
        let inner = Flow {
            owner,
            is_swallowed: flow.is_swallowed,
            is_awaited: true,
            is_given_back: false,
            reach: flow.reach,
        };
        self.body(body, inner);
        self.objects.truncate(objects);
        self.methods.truncate(methods);
        self.ends = ends;
    }

    /// What a test calls what it is given: the object of its runner, or the function that ends it.
    fn parameters(&mut self, body: Node<'t>) {
        let Some(parameters) =
            body.child_by_field_name("parameters").or_else(|| body.child_by_field_name("parameter"))
        else {
            return;
        };
        let mut names = Vec::new();
        if parameters.kind() == "identifier" {
            names.push(self.text.of(parameters));
        } else {
            let mut cursor = parameters.walk();
            for parameter in parameters.named_children(&mut cursor) {
                let plain = parameter.child_by_field_name("pattern").unwrap_or(parameter);
                if plain.kind() == "object_pattern" {
                    self.taken(plain);
                }
                names.push(if plain.kind() == "identifier" { self.text.of(plain) } else { "" });
            }
        }
        for (at, name) in names.into_iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            let ends = matches!(name, "done" | "next" | "cb" | "callback" | "finish" | "end") || at == 1;
            if ends { self.ends.push(name) } else { self.objects.push(name) }
        }
        let body = self.text.of(body);
        let objects = self.objects.iter().map(|name| (name, format!("{name}.plan("), format!("{name}.end(")));
        let counted = objects.into_iter().any(|(_, plan, end)| body.contains(&plan) || body.contains(&end));
        if counted || body.contains("expect.assertions(") {
            self.ends.push("");
        }
    }

    /// `({ equal, end: done }) => …`: the methods of the object of a runner by their own names.
    fn taken(&mut self, pattern: Node<'t>) {
        let mut cursor = pattern.walk();
        for part in pattern.named_children(&mut cursor) {
            let key = self.text.of(part.child_by_field_name("key").unwrap_or(part));
            let local = self.text.of(part.child_by_field_name("value").unwrap_or(part));
            match key {
                "end" | "plan" | "pass" | "fail" | "done" => self.ends.push(local),
                _ => self.methods.push((local, key)),
            }
        }
    }

    /// A member that is not called: a modifier of a test function under another name.
    fn member(&mut self, node: Node<'t>, flow: Flow) {
        let chain = Chain::of(node, self.text);
        let modified =
            chain.links.len() > 1 && matches!(self.names.role(chain.root().name), Some(Role::Declares(_)));
        let last = chain.last();
        if let Some(name) = declare::modifier(last.name).filter(|_| modified) {
            self.found.markers.push(Marker {
                name,
                place: self.place(last.node),
                anchor: String::new(),
                is_declared: true,
                depends: false,
            });
        }
        for said in self.reader().read(node, &chain) {
            let is_late = said.is_late;
            self.assert(said, flow, is_late, false);
        }
        self.parts(&chain, flow, false);
    }

    /// Calls that end a test before it has begun, or keep it from counting.
    fn mark(&mut self, node: Node<'t>, chain: &Chain<'t>, flow: Flow) {
        let (root, last) = (chain.root().name, chain.last());
        if last.calls.is_empty() {
            return;
        }
        let is_object = self.objects.contains(&root)
            || root == "this"
            || matches!(self.names.role(root), Some(Role::Declares(_) | Role::Runner));
        let marker = match (last.name, chain.links.len()) {
            ("skip" | "skipIf" | "bailout" | "fixme", 2) if is_object => Some(".skip("),
            ("todo", 2) if is_object => Some(".todo("),
            ("fail" | "failing", 2) if matches!(self.names.role(root), Some(Role::Declares(_))) => {
                Some(".failing(")
            }
            (word @ ("skip" | "only" | "todo"), 2..) if names_test(last) => declare::modifier(word),
            ("pending", 1) => Some(".skip("),
            ("skip", 1) if flow.owner != Owner::File => Some(".skip("),
            ("exit", 2) if root == "process" => Some("process.exit"),
            _ => None,
        };
        if let Some(name) = marker {
            let anchor = self.titles.last().cloned().unwrap_or_default();
            self.found.markers.push(Marker {
                name,
                place: self.place(node),
                anchor,
                is_declared: false,
                depends: flow.reach == Reach::Sometimes,
            });
        }
    }

    /// Queries, and the predicates that hold them to a tenant; clients of models.
    fn queried(&mut self, node: Node<'t>, chain: &Chain<'t>) {
        if let Some(predicates) = tenancy::of_chain(chain, self.text) {
            self.predicates(node, predicates);
        }
        let root = chain.root();
        let name = root.name.to_ascii_lowercase();
        let made = root.node.child_by_field_name("constructor").map_or("", |made| self.text.of(made));
        let is_model = [root.name, made].into_iter().any(|name| self.names.role(name) == Some(Role::Model))
            || ["judge", "llm", "openai", "anthropic"].iter().any(|word| name.contains(word));
        if is_model {
            let place = self.place(node);
            self.found.models.push(place);
        }
        if root.name == "process"
            && chain.links.len() == 2
            && chain.last().name == "exit"
            && self.within.is_empty()
        {
            let fails = chain
                .last()
                .calls
                .iter()
                .flat_map(|call| arguments(*call))
                .any(|status| self.text.of(status) != "0");
            if !fails && self.titles.is_empty() {
                let place = self.place(node);
                self.found.endings.push(place);
            }
        }
    }

    fn predicates(&mut self, node: Node<'t>, predicates: Vec<String>) {
        let within = self.within.join(".");
        for predicate in predicates {
            let place = self.place(node);
            self.found.predicates.push((format!("{within} {predicate}"), place));
        }
        self.found.queries.push(within);
    }

    fn string(&mut self, node: Node<'t>, flow: Flow) {
        if let Some(predicates) = tenancy::of_sql(self.text.unquoted(node)) {
            self.predicates(node, predicates);
        }
        self.children(node, flow.kept());
    }

    fn assignment(&mut self, node: Node<'t>, flow: Flow) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return;
        };
        if self.text.of(left) == "process.exitCode" && self.text.of(right) == "0" {
            let place = self.place(node);
            self.found.endings.push(place);
        }
        self.visit(left, flow.kept());
        if is_function(right) {
            self.named_function(right, "", flow)
        } else {
            self.visit(right, flow.given_back())
        }
    }

    /// Stand-ins for what is tested.
    fn mock(&mut self, node: Node<'t>, chain: &Chain<'t>) {
        let names: Vec<&str> = chain.links.iter().map(|link| link.name).collect();
        let given = |at: usize| chain.links[at].calls.last().map(|call| arguments(*call)).unwrap_or_default();
        match names[..] {
            ["jest" | "vi", "mock" | "doMock" | "unstable_mockModule"] => {
                if let Some(first) = given(1).first() {
                    self.found.mocks.push(Mock {
                        place: self.place(node),
                        of: self.text.unquoted(*first).to_owned(),
                        is_module: true,
                    });
                }
            }
            ["jest" | "vi" | "sinon", "spyOn" | "stub" | "replace", ..] => {
                self.spy(node, &given(1), &names[2..])
            }
            ["spyOn", ..] => self.spy(node, &given(0), &names[1..]),
            _ => {}
        }
    }

    fn spy(&mut self, node: Node<'t>, given: &[Node<'t>], rest: &[&str]) {
        let [object, method, ..] = given else { return };
        let passes = rest.contains(&"callThrough");
        let of = format!("{}.{}", self.text.of(*object), self.text.unquoted(*method));
        if !passes {
            self.found.mocks.push(Mock { place: self.place(node), of, is_module: false });
        }
    }
}

/// Whether a call has a title and a function, as those have that declare tests.
fn names_test(link: &super::chain::Link<'_>) -> bool {
    let given = link.calls.last().map(|call| arguments(*call)).unwrap_or_default();
    given.first().is_some_and(|first| matches!(first.kind(), "string" | "template_string"))
        && given.iter().any(|argument| is_function(*argument))
}

impl Flow {
    const fn sometimes(self) -> Self {
        let reach = match self.reach {
            Reach::Never => Reach::Never,
            _ => Reach::Sometimes,
        };
        Self { reach, ..self }
    }

    const fn never(self) -> Self {
        Self { reach: Reach::Never, ..self }
    }

    const fn given_back(self) -> Self {
        Self { is_given_back: true, ..self }
    }

    /// The value of the expression is dropped.
    const fn dropped(self) -> Self {
        Self { is_given_back: false, ..self }
    }

    /// The value of the expression goes somewhere else.
    const fn kept(self) -> Self {
        Self { is_given_back: false, ..self }
    }
}
