//! What weakens by standing anywhere in a file: source that asks whether a test runs it, an equality that always holds,
//! a program that ends its runner, a model that judges.

use ambit_policy::FactKind;
use tree_sitter::Node;

use super::Reader;
use super::nodes::first;
use crate::outline::Told;
use crate::reading::{Next, Reading as _, each_node};

/// What only a test run has in its surroundings.
const SIGNS: [&str; 6] = [
    "PYTEST_CURRENT_TEST",
    "PYTEST_VERSION",
    "PYTEST_XDIST_WORKER",
    "_called_from_test",
    "UNITTEST_RUNNING",
    "sys._called_from_test",
];
/// Modules whose presence tells that a test runs.
const RUNNERS: [&str; 5] = ["pytest", "_pytest", "unittest", "nose", "coverage"];
/// Libraries that ask a model.
const MODELS: [&str; 12] = [
    "openai",
    "anthropic",
    "litellm",
    "deepeval",
    "ragas",
    "langchain",
    "llama_index",
    "promptfoo",
    "cohere",
    "mistralai",
    "ollama",
    "transformers",
];
/// Words in the names of functions that ask a model.
const JUDGES: [&str; 5] = ["llm", "judge", "ask_model", "gpt", "claude"];
/// Hooks by which a file changes what a runner collects or reports.
const HOOKS: [&str; 9] = [
    "pytest_collection_modifyitems",
    "pytest_runtest_makereport",
    "pytest_sessionfinish",
    "pytest_ignore_collect",
    "pytest_runtest_call",
    "pytest_pyfunc_call",
    "pytest_runtest_protocol",
    "pytest_deselected",
    "load_tests",
];

impl Reader<'_> {
    pub(super) fn source(&mut self, root: Node<'_>) {
        // The functions around a place, with how deep they lie.
        let mut around: Vec<(u32, &str)> = Vec::new();
        each_node(root, |node, depth| {
            while around.last().is_some_and(|(function, _)| *function >= depth) {
                around.pop();
            }
            let function = around.last().map_or("", |(_, name)| name);
            match node.kind() {
                "function_definition" => {
                    let name = self.field(node, "name");
                    self.definition(node, name);
                    around.push((depth, name));
                }
                "import_statement" | "import_from_statement" => self.import(node),
                "call" => self.called(node, depth),
                "string" | "comparison_operator" | "keyword_argument" => self.tenant(node, function),
                "assignment" => self.assigned(node),
                _ => {}
            }
            self.access(node, around.last().map_or("", |(_, name)| name));
            self.disarms(node);
            if !self.is_test_file {
                self.asks_for_tests(node);
            }
            Next::Within
        });
    }

    fn definition(&mut self, node: Node<'_>, name: &str) {
        if HOOKS.contains(&name) {
            self.find(FactKind::RunnerChanged, Told::WhereAdded, node, name);
        }
        let body = node.child_by_field_name("body");
        let only = body.filter(|body| body.named_child_count() == 1).and_then(|body| first(body));
        let returns = only.filter(|only| only.kind() == "return_statement").map(|only| self.tight(only));
        let holds = |said: &str| {
            let value = said.strip_prefix("return").unwrap_or(said).trim();
            matches!(value, "True" | "1" | "notFalse" | "not False" | "(True)")
        };
        if matches!(name, "__eq__" | "__bool__" | "__contains__" | "__hash__")
            && returns.as_deref().is_some_and(holds)
        {
            self.find(FactKind::AssertionTautological, Told::WhereAdded, node, name);
        }
        if name == "__ne__" && returns.as_deref() == Some("return False") {
            self.find(FactKind::AssertionTautological, Told::WhereAdded, node, name);
        }
    }

    fn import(&mut self, node: Node<'_>) {
        let text = self.tight(node);
        let module = text.split([' ', '.', ',']).nth(1).unwrap_or("");
        if self.is_test_file && MODELS.contains(&module) {
            self.find(FactKind::GateJudgedByModel, Told::WhereAdded, node, module);
        }
    }

    fn called(&mut self, node: Node<'_>, depth: u32) {
        let name = self.tight_field(node, "function");
        let last = name.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
        // That a test file ends its runner at once is told as a marker.
        let ends = if self.is_test_file {
            depth <= 2 && matches!(name.as_str(), "sys.exit" | "exit" | "quit" | "os.abort")
        } else {
            name == "os._exit"
        };
        if ends {
            self.find(FactKind::AssertionUnreachable, Told::WhereAdded, node, &name);
        }
        if name == "atexit.register" && self.of(node).contains("exit") {
            self.find(FactKind::AssertionUnreachable, Told::WhereAdded, node, &name);
        }
        let words = |word: &&str| last.split('_').any(|part| part == *word) || last == **word;
        if self.is_test_file && JUDGES.iter().any(words) {
            self.find(FactKind::GateJudgedByModel, Told::WhereAdded, node, &name);
        }
    }

    fn assigned(&mut self, node: Node<'_>) {
        let left = self.tight_field(node, "left");
        let is_runner = RUNNERS.iter().any(|module| left.starts_with(&format!("{module}.")));
        if is_runner || left.starts_with("builtins.") {
            self.find(FactKind::RunnerChanged, Told::WhereAdded, node, &left);
        }
        let right = self.field(node, "right");
        if matches!(left.as_str(), "collect_ignore" | "collect_ignore_glob") {
            self.find(FactKind::RunnerChanged, Told::WhereAdded, node, &format!("{left} {right}"));
        }
    }

    /// Source that behaves otherwise where a test runs it.
    fn asks_for_tests(&mut self, node: Node<'_>) {
        let is_sign = match node.kind() {
            "string" => {
                let text = self.of(node).trim_matches(['"', '\'']);
                SIGNS.contains(&text)
            }
            "comparison_operator" => {
                let text = self.tight(node);
                let names_runner = RUNNERS.iter().any(|runner| {
                    text.contains(&format!("\"{runner}\"")) || text.contains(&format!("'{runner}'"))
                });
                let looks = ["sys.modules", "sys.argv", "sys.gettrace", "__main__", "f_code", "filename"];
                names_runner && looks.iter().any(|look| text.contains(look))
            }
            "call" => {
                let text = self.tight(node);
                let looks = text.starts_with("inspect.stack(") || text.starts_with("sys._getframe(");
                looks && self.shown(node).contains("test")
            }
            _ => false,
        };
        if is_sign {
            self.find(FactKind::TestDetected, Told::WhereAdded, node, &self.tight(node));
        }
    }
}
