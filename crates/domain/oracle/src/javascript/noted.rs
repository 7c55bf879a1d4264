//! What is noted on the way: words that skip, stand-ins, queries, models, ends of the process.

use tree_sitter::Node;

use super::chain::{Chain, Link};
use super::declare::{self, is_function};
use super::found::{Marker, Mock, Owner, Reach};
use super::names::Role;
use super::said::arguments;
use super::tenancy;
use super::walk::{Flow, Walk};

impl<'t> Walk<'_, 't> {
    /// Calls that end a test before it has begun, or keep it from counting.
    pub(super) fn mark(&mut self, node: Node<'t>, chain: &Chain<'t>, flow: Flow) {
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

    /// Calls by which a test that failed is run again.
    pub(super) fn repeated(&mut self, node: Node<'t>, chain: &Chain<'t>) {
        let last = chain.last();
        let given = last.calls.last().and_then(|call| arguments(*call).first().copied());
        let number = match (last.name, given) {
            ("retryTimes" | "retries", Some(number)) => self.text.of(number).parse().ok(),
            ("configure" | "setConfig", Some(options)) => {
                let mut cursor = options.walk();
                options.named_children(&mut cursor).find_map(|pair| {
                    let key = pair.child_by_field_name("key").map(|key| self.text.unquoted(key))?;
                    let value =
                        pair.child_by_field_name("value").filter(|_| matches!(key, "retries" | "retry"))?;
                    self.text.of(value).parse().ok()
                })
            }
            _ => None,
        };
        if let Some(number) = number.filter(|_| chain.links.len() > 1) {
            let place = self.place(node);
            self.found.retries.push((number, place));
        }
    }

    /// Queries, and the predicates that hold them to a tenant; clients of models.
    pub(super) fn queried(&mut self, node: Node<'t>, chain: &Chain<'t>) {
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

    pub(super) fn predicates(&mut self, node: Node<'t>, predicates: Vec<String>) {
        let within = self.within.join(".");
        for predicate in predicates {
            let place = self.place(node);
            self.found.predicates.push((format!("{within} {predicate}"), place));
        }
        self.found.queries.push(within);
    }

    pub(super) fn string(&mut self, node: Node<'t>, flow: Flow) {
        if let Some(predicates) = tenancy::of_sql(self.text.unquoted(node)) {
            self.predicates(node, predicates);
        }
        self.children(node, flow.kept());
    }

    pub(super) fn assignment(&mut self, node: Node<'t>, flow: Flow) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return;
        };
        if self.text.of(left) == "process.exitCode" && self.text.of(right) == "0" {
            let place = self.place(node);
            self.found.endings.push(place);
        }
        if self.text.of(left) == "process.env.NODE_TLS_REJECT_UNAUTHORIZED"
            && self.text.unquoted(right) == "0"
        {
            let place = self.place(node);
            self.found.doors.push(place);
        }
        self.visit(left, flow.kept());
        if is_function(right) {
            self.named_function(right, "", flow);
        } else {
            self.visit(right, flow.given_back());
        }
    }

    /// Stand-ins for what is tested.
    pub(super) fn mock(&mut self, node: Node<'t>, chain: &Chain<'t>) {
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
                self.spy(node, &given(1), &names[2..]);
            }
            ["spyOn", ..] => self.spy(node, &given(0), &names[1..]),
            _ => {}
        }
    }

    pub(super) fn spy(&mut self, node: Node<'t>, given: &[Node<'t>], rest: &[&str]) {
        let [object, method, ..] = given else { return };
        let passes = rest.contains(&"callThrough");
        let of = format!("{}.{}", self.text.of(*object), self.text.unquoted(*method));
        if !passes {
            self.found.mocks.push(Mock { place: self.place(node), of, is_module: false });
        }
    }
}

/// Whether a call has a title and a function, as those have that declare tests.
fn names_test(link: &Link<'_>) -> bool {
    let given = link.calls.last().map(|call| arguments(*call)).unwrap_or_default();
    given.first().is_some_and(|first| matches!(first.kind(), "string" | "template_string"))
        && given.iter().any(|argument| is_function(*argument))
}
