//! Declared tests on the way.

use tree_sitter::Node;

use super::declare::{self, Declared};
use super::found::{Marker, Owner, Test};
use super::walk::{Flow, Walk};

impl<'t> Walk<'_, 't> {
    pub(super) fn declare(&mut self, node: Node<'t>, declared: Declared<'t>, flow: Flow) {
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

    pub(super) fn test(
        &mut self,
        node: Node<'t>,
        body: Option<Node<'t>>,
        table: Option<Node<'t>>,
        flow: Flow,
    ) {
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
            has_body: body.is_some(),
            takes_end: false,
            waits: body.is_some_and(|body| self.waits(body)),
        });
        let Some(body) = body else { return };
        let owner = Owner::Test(self.found.tests.len() - 1);
        let (objects, methods, ends) =
            (self.objects.len(), self.methods.len(), std::mem::take(&mut self.ends));
        self.parameters(body);
        if let Some(test) = self.found.tests.last_mut() {
            test.takes_end = self.ends.iter().any(|name| !name.is_empty());
            test.waits |= !self.ends.is_empty();
        }
        let inner = Flow {
            owner,
            is_swallowed: flow.is_swallowed,
            is_awaited: true,
            is_given_back: false,
            is_called_back: false,
            reach: flow.reach,
        };
        self.body(body, inner);
        self.objects.truncate(objects);
        self.methods.truncate(methods);
        self.ends = ends;
    }

    /// Whether the runner is given something to wait for.
    fn waits(&self, body: Node<'t>) -> bool {
        let gives = body.child_by_field_name("body").is_some_and(|inner| inner.kind() != "statement_block");
        let text = self.text.of(body);
        gives || text.starts_with("async") || text.contains("return ")
    }

    /// What a test calls what it is given: the object of its runner, or the function that ends it.
    pub(super) fn parameters(&mut self, body: Node<'t>) {
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
    pub(super) fn taken(&mut self, pattern: Node<'t>) {
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
}
