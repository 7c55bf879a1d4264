//! What the names of a file stand for: test functions, assertion libraries, mocks.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::chain::Chain;
use super::text::Text;

/// An assertion library, as far as it decides what `equal` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Library {
    /// `equal` and `deepEqual` compare after conversion.
    Loose,
    /// They compare as they are.
    Strict,
    /// `equal` compares after conversion, `deepEqual` as they are.
    Chai,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role<'t> {
    /// A function that declares tests, by its name at the runner.
    Declares(&'t str),
    /// An object whose methods declare tests and assert, such as that of tap.
    Runner,
    /// An assertion library.
    Asserts(Library),
    /// One function of an assertion library.
    Asserting(Library, &'t str),
    /// A client of a model.
    Model,
}

/// Modules that declare tests.
const RUNNERS: [&str; 18] = [
    "node:test",
    "test",
    "vitest",
    "@jest/globals",
    "mocha",
    "ava",
    "tap",
    "tape",
    "@playwright/test",
    "bun:test",
    "uvu",
    "zora",
    "@japa/runner",
    "jasmine",
    "cypress",
    "@hapi/lab",
    "tapzero",
    "@tapjs/core",
];
/// Modules that are clients of models.
const MODELS: [&str; 12] = [
    "openai",
    "@anthropic-ai/sdk",
    "ai",
    "@google/generative-ai",
    "@google/genai",
    "ollama",
    "cohere-ai",
    "groq-sdk",
    "@mistralai/mistralai",
    "replicate",
    "langchain",
    "together-ai",
];
/// Functions that declare tests or groups of them, wherever a runner makes them global.
const GLOBALS: [&str; 22] = [
    "it",
    "test",
    "specify",
    "describe",
    "context",
    "suite",
    "xit",
    "xtest",
    "xspecify",
    "xdescribe",
    "xcontext",
    "xsuite",
    "fit",
    "ftest",
    "fspecify",
    "fdescribe",
    "fcontext",
    "fsuite",
    "scenario",
    "feature",
    "bench",
    "serial",
];

/// The names of a file.
#[derive(PartialEq, Eq)]
pub(super) struct Names<'t> {
    roles: BTreeMap<&'t str, Role<'t>>,
    /// Whether the tests drive a browser whose assertions wait.
    pub(super) is_of_browser: bool,
}

impl<'t> Names<'t> {
    /// Reads the imports at the top of the file.
    pub(super) fn of(root: Node<'t>, text: Text<'t>) -> Self {
        let mut names = Self { roles: BTreeMap::new(), is_of_browser: false };
        for name in GLOBALS {
            names.roles.insert(name, Role::Declares(name));
        }
        names.roles.insert("assert", Role::Asserts(Library::Loose));
        names.roles.insert("tap", Role::Runner);
        names.roles.insert("QUnit", Role::Runner);
        names.roles.insert("Deno", Role::Runner);
        let mut cursor = root.walk();
        for statement in root.children(&mut cursor) {
            match statement.kind() {
                "import_statement" => names.import(statement, text),
                "lexical_declaration" | "variable_declaration" => names.declaration(statement, text),
                _ => {}
            }
        }
        names
    }

    pub(super) fn role(&self, name: &str) -> Option<Role<'t>> {
        self.roles.get(name).copied()
    }

    fn import(&mut self, statement: Node<'t>, text: Text<'t>) {
        let Some(source) = statement.child_by_field_name("source") else { return };
        let module = text.unquoted(source);
        let mut pending: Vec<Node<'t>> = Vec::new();
        let mut cursor = statement.walk();
        pending.extend(statement.named_children(&mut cursor));
        while let Some(node) = pending.pop() {
            match node.kind() {
                "import_clause" | "named_imports" => {
                    let mut cursor = node.walk();
                    pending.extend(node.named_children(&mut cursor));
                }
                "identifier" => self.bind(text.of(node), module, "default"),
                "namespace_import" => {
                    if let Some(name) = node.named_child(0) {
                        self.bind(text.of(name), module, "*");
                    }
                }
                "import_specifier" => {
                    if let Some(name) = node.child_by_field_name("name") {
                        let local = node.child_by_field_name("alias").unwrap_or(name);
                        self.bind(text.of(local), module, text.unquoted(name));
                    }
                }
                _ => {}
            }
        }
    }

    /// `const x = require('y')`, `const { a: b } = require('y').c`.
    fn declaration(&mut self, statement: Node<'t>, text: Text<'t>) {
        let mut cursor = statement.walk();
        for declarator in statement.named_children(&mut cursor) {
            let name = declarator.child_by_field_name("name");
            let Some((name, value)) = name.zip(declarator.child_by_field_name("value")) else { continue };
            let chain = Chain::of(value, text);
            let first = chain.root();
            let required = matches!(first.name, "require" | "import");
            let argument = first.calls.first().and_then(|call| call.named_child(0));
            let Some(module) = argument.filter(|_| required).map(|argument| text.unquoted(argument)) else {
                continue;
            };
            let member = chain.links.get(1).map_or("default", |link| link.name);
            if name.kind() == "object_pattern" {
                let mut cursor = name.walk();
                for part in name.named_children(&mut cursor) {
                    let key = part.child_by_field_name("key").unwrap_or(part);
                    let local = part.child_by_field_name("value").unwrap_or(part);
                    self.bind(text.of(local), module, text.of(key));
                }
            } else {
                self.bind(text.of(name), module, member);
            }
        }
    }

    fn bind(&mut self, local: &'t str, module: &'t str, member: &'t str) {
        self.is_of_browser |= module.contains("playwright");
        let whole = matches!(member, "default" | "*");
        let plain = module.strip_prefix("node:").unwrap_or(module);
        let role = match plain {
            "assert" | "assert/strict" | "power-assert" => {
                let strict = plain == "assert/strict" || member == "strict";
                let library = if strict { Library::Strict } else { Library::Loose };
                if whole || matches!(member, "strict" | "assert") {
                    Role::Asserts(library)
                } else {
                    Role::Asserting(library, member)
                }
            }
            "chai" if member == "assert" => Role::Asserts(Library::Chai),
            _ if MODELS.contains(&module)
                || module.starts_with("@langchain/")
                || module.starts_with("@ai-sdk/") =>
            {
                Role::Model
            }
            _ if RUNNERS.contains(&module) || RUNNERS.contains(&plain) => match member {
                "default" | "*" if matches!(plain, "tap" | "tape" | "ava" | "test" | "zora") => {
                    if plain == "tap" { Role::Runner } else { Role::Declares("test") }
                }
                _ if GLOBALS.contains(&member) => Role::Declares(member),
                "assert" => Role::Asserts(Library::Strict),
                _ => return,
            },
            _ => return,
        };
        self.roles.insert(local, role);
    }
}
