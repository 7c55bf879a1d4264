//! Calls on the way: what they assert, and when the functions run that they are given.

use tree_sitter::Node;

use super::chain::Chain;
use super::declare::{self, is_function};
use super::found::{Assertion, Function, Marker, Owner, Reach};
use super::names::Role;
use super::said::{Reader, Said, arguments};
use super::vacuous;
use super::walk::{Flow, Walk};

/// Calls whose function runs when a test, or all of them, begin or end.
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

/// Calls whose function has been called when they come back.
const AT_ONCE: [&str; 20] = [
    "forEach",
    "map",
    "filter",
    "some",
    "every",
    "find",
    "findIndex",
    "flatMap",
    "reduce",
    "reduceRight",
    "sort",
    "from",
    "replace",
    "throws",
    "doesNotThrow",
    "expect",
    "each",
    "times",
    "act",
    "",
];

impl<'t> Walk<'_, 't> {
    pub(super) fn reader(&self) -> Reader<'_, 't> {
        Reader { text: self.text, names: self.names, objects: &self.objects, methods: &self.methods }
    }

    pub(super) fn call(&mut self, node: Node<'t>, flow: Flow) {
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
        self.repeated(node, &chain);
        self.mock(node, &chain);
        self.queried(node, &chain);
        self.routed(node, &chain);
        let is_late = said.iter().any(|said| said.is_late);
        let caught = self.is_caught(&chain);
        for said in said {
            self.assert(said, flow, is_late, caught);
        }
        self.parts(&chain, flow, caught);
    }

    pub(super) fn assert(&mut self, mut said: Said<'t>, flow: Flow, is_late: bool, caught: bool) {
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
            is_called_back: flow.is_called_back,
        });
    }

    /// Whether the chain ends with a handler that loses what failed before it.
    pub(super) fn is_caught(&self, chain: &Chain<'t>) -> bool {
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
    pub(super) fn parts(&mut self, chain: &Chain<'t>, flow: Flow, caught: bool) {
        let is_chained = chain
            .links
            .iter()
            .any(|link| matches!(link.name, "then" | "catch" | "finally") && !link.calls.is_empty());
        let over_nothing = self.is_empty(chain.root().node);
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
                        inner.is_called_back |= !AT_ONCE.contains(&link.name);
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
    pub(super) fn is_waited_for(
        &self,
        function: Node<'t>,
        called: &str,
        is_chained: bool,
        flow: Flow,
    ) -> bool {
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
    pub(super) fn body(&mut self, function: Node<'t>, flow: Flow) {
        if let Some(parameters) = function.child_by_field_name("parameters") {
            self.visit(parameters, flow.kept());
        }
        let Some(body) = function.child_by_field_name("body") else { return };
        // What an arrow gives back without a block is returned.
        let inner = if body.kind() == "statement_block" { flow.kept() } else { flow.given_back() };
        self.visit(body, inner);
    }

    /// A function that runs where it is called.
    pub(super) fn function(&mut self, node: Node<'t>, flow: Flow) {
        let name = node.child_by_field_name("name").map_or("", |name| self.text.of(name));
        self.named_function(node, name, flow);
    }

    pub(super) fn named_function(&mut self, node: Node<'t>, name: &'t str, flow: Flow) {
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
        let flow = Flow {
            owner,
            reach: Reach::Always,
            is_swallowed: false,
            is_awaited: true,
            is_given_back: false,
            is_called_back: false,
        };
        self.body(node, flow);
        self.within.pop();
    }

    pub(super) fn declarator(&mut self, node: Node<'t>, flow: Flow) {
        let Some(value) = node.child_by_field_name("value") else { return };
        let name = node.child_by_field_name("name").map_or("", |name| self.text.of(name));
        if vacuous::is_literal(value) {
            self.constants.insert(name, value);
        }
        // Named here, where it is empty, and once more.
        if self.is_empty(value) && self.count(name) == 2 {
            self.empties.insert(name);
        }
        if is_function(value) {
            self.named_function(value, name, flow);
        } else {
            self.visit(value, flow.given_back());
        }
    }

    /// How often the file says a word.
    fn count(&mut self, word: &str) -> u32 {
        let text = self.text;
        self.words.get_or_insert_with(|| text.words()).get(word).copied().unwrap_or_default()
    }

    /// Whether it is a list of nothing.
    pub(super) fn is_empty(&self, node: Node<'t>) -> bool {
        (node.kind() == "array" && node.named_child_count() == 0)
            || (node.kind() == "identifier" && self.empties.contains(self.text.of(node)))
    }

    /// A member that is not called: a modifier of a test function under another name.
    pub(super) fn member(&mut self, node: Node<'t>, flow: Flow) {
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
}
