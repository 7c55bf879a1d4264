//! What takes a runner its teeth: its classes, its checks and the built-in names changed from within, by a test file or by
//! the source that is tested.

use ambit_policy::FactKind;
use tree_sitter::Node;

use super::Reader;
use super::nodes::{argument, first, folded};
use crate::outline::Told;
use crate::reading::Reading as _;

/// Modules that a program has no use for where no test runs it.
const FRAMEWORKS: [&str; 7] = ["pytest", "_pytest", "unittest", "nose", "nose2", "unittest2", "pluggy"];
/// What unittest calls to run a test and to tell its failure.
const MACHINERY: [&str; 9] = [
    "run",
    "__call__",
    "debug",
    "failureException",
    "_callTestMethod",
    "_callSetUp",
    "addTypeEqualityFunc",
    "_getAssertEqualityFunc",
    "defaultTestResult",
];
/// Checks of unittest.
const CHECKS: &str = "assertEqual assertNotEqual assertTrue assertFalse assertIs assertIsNot assertIsNone assertIsNotNone \
    assertIn assertNotIn assertIsInstance assertNotIsInstance assertRaises assertRaisesRegex assertWarns assertWarnsRegex \
    assertLogs assertNoLogs assertAlmostEqual assertNotAlmostEqual assertGreater assertGreaterEqual assertLess \
    assertLessEqual assertRegex assertNotRegex assertCountEqual assertMultiLineEqual assertSequenceEqual assertListEqual \
    assertTupleEqual assertSetEqual assertDictEqual _baseAssertEqual assertEquals assert_ fail";
/// Calls that reach for what no name leads to, or that see every step of the program.
const REACHES: [&str; 5] =
    ["gc.get_objects", "gc.get_referrers", "sys.settrace", "sys.setprofile", "threading.settrace"];
/// What tells a program who runs it.
const SURROUNDINGS: [&str; 6] =
    ["sys.argv", "f_code", "co_filename", "sys.modules", "inspect.stack", "_getframe"];

fn is_check(name: &str) -> bool {
    CHECKS.split_whitespace().any(|check| check == name)
}

fn is_framework(module: &str) -> bool {
    FRAMEWORKS.contains(&module.split('.').next().unwrap_or(""))
}

impl Reader<'_> {
    pub(super) fn disarms(&mut self, node: Node<'_>) {
        match node.kind() {
            "class_definition" => self.overrides(node),
            "assignment" => self.patches(node),
            "call" => self.patching_call(node),
            "import_statement" | "import_from_statement" if !self.is_test_file => self.framework(node),
            "subscript" if !self.is_test_file => self.looked_up(node),
            "string" if !self.is_test_file => self.names_tests(node),
            "expression_statement" if !self.is_test_file => self.ends_import(node),
            _ => {}
        }
    }

    /// Members of a class of tests that stand in the place of those of unittest.
    fn overrides(&mut self, class: Node<'_>) {
        let Some(body) = class.child_by_field_name("body") else { return };
        let bases = self.field(class, "superclasses");
        let is_case = bases.contains("TestCase") || (self.is_test_file && bases.contains("Test"));
        let mut cursor = body.walk();
        for child in body.named_children(&mut cursor) {
            let (item, _) = super::decorator::taken_apart(child);
            let inner =
                if item.kind() == "expression_statement" { first(item).unwrap_or(item) } else { item };
            let name = match inner.kind() {
                "function_definition" => self.field(inner, "name"),
                "assignment" => self.field(inner, "left"),
                _ => continue,
            };
            if is_check(name) && (is_case || self.is_test_file) || is_case && MACHINERY.contains(&name) {
                self.find(FactKind::RunnerChanged, Told::WhereAdded, inner, name);
            }
        }
    }

    fn patches(&mut self, node: Node<'_>) {
        let left = self.tight_field(node, "left");
        let (of, last) = left.rsplit_once('.').unwrap_or(("", left.as_str()));
        let is_machine = MACHINERY.contains(&last) && of.contains("TestCase");
        let is_builtin =
            left.contains("builtins__") || left.contains("builtins.__dict__") || left.contains("(builtins)");
        let is_error = left == "AssertionError" || left.ends_with(".excepthook");
        if (!of.is_empty() && is_check(last)) || is_machine || is_builtin || is_error {
            self.find(FactKind::RunnerChanged, Told::WhereAdded, node, &left);
        }
        if self.is_test_file && left.starts_with("sys.modules[") {
            self.find(FactKind::ModuleShadowed, Told::WhereAdded, node, &left);
        }
    }

    fn patching_call(&mut self, node: Node<'_>) {
        let name = self.tight_field(node, "function");
        match name.as_str() {
            "setattr" | "delattr" | "type.__setattr__" | "object.__setattr__" => {
                let of = argument(node, 0).map_or_else(String::new, |of| self.tight(of));
                let member =
                    argument(node, 1).and_then(|member| folded(self.text, member)).unwrap_or_default();
                let is_runner = is_framework(&of) || of.contains("TestCase") || of.contains("builtins");
                if is_runner || is_check(&member) {
                    self.find(FactKind::RunnerChanged, Told::WhereAdded, node, &format!("{of} {member}"));
                } else if self.is_test_file && (member.starts_with("test") || of.starts_with("Test")) {
                    self.find(FactKind::TestShadowed, Told::WhereAdded, node, &format!("{of} {member}"));
                }
            }
            "getattr" if self.is_test_file => {
                let of = argument(node, 0).map_or_else(String::new, |of| self.tight(of));
                let said = argument(node, 1).filter(|member| member.kind() != "string");
                let member =
                    argument(node, 1).and_then(|member| folded(self.text, member)).unwrap_or_default();
                let skips = matches!(member.as_str(), "skip" | "skipif" | "xfail" | "skipTest" | "SkipTest");
                if skips || (said.is_some() && (of.ends_with("mark") || is_framework(&of))) {
                    self.find(FactKind::SkipMarkerAdded, Told::WhereAdded, node, &self.tight(node));
                }
            }
            "unittest.main" if self.tight(node).contains("exit=False") => {
                self.find(FactKind::RunnerChanged, Told::WhereAdded, node, "exit=False");
            }
            _ if self.is_test_file => {}
            "__import__"
            | "importlib.import_module"
            | "import_module"
            | "importlib.__import__"
            | "sys.modules.get"
            | "importlib.util.find_spec"
            | "find_spec" => {
                let module =
                    argument(node, 0).and_then(|module| folded(self.text, module)).unwrap_or_default();
                if is_framework(&module) {
                    self.find(FactKind::TestDetected, Told::WhereAdded, node, &module);
                }
            }
            _ if REACHES.contains(&name.as_str()) => {
                self.find(FactKind::TestDetected, Told::WhereAdded, node, &name);
            }
            _ => {}
        }
    }

    /// Source that imports what runs its tests.
    fn framework(&mut self, node: Node<'_>) {
        let text = self.without_comments(node);
        let names = text.trim_start_matches("from").trim_start_matches("import");
        let names = names.split(" import").next().unwrap_or("");
        let found =
            names.split(',').map(str::trim).find(|name| is_framework(name.split(' ').next().unwrap_or("")));
        if let Some(name) = found {
            self.find(FactKind::TestDetected, Told::WhereAdded, node, name.split('.').next().unwrap_or(name));
        }
    }

    fn looked_up(&mut self, node: Node<'_>) {
        let is_modules = self.tight_field(node, "value") == "sys.modules";
        let key = node.child_by_field_name("subscript").filter(|_| is_modules);
        if let Some(module) = key.and_then(|key| folded(self.text, key)).filter(|module| is_framework(module))
        {
            self.find(FactKind::TestDetected, Told::WhereAdded, node, &module);
        }
    }

    /// A text of source that names a file of tests, or that asks whether a test is what runs.
    fn names_tests(&mut self, node: Node<'_>) {
        let text = self.of(node).trim_matches(['"', '\'']);
        if text.contains('\n') || text.contains(' ') {
            return;
        }
        let last = text.rsplit('/').next().unwrap_or("");
        let is_file = last.ends_with(".py") && (last.starts_with("test_") || last.ends_with("_test.py"));
        let shown = self.shown(node);
        let asks = text.contains("test") && SURROUNDINGS.iter().any(|place| shown.contains(place));
        if is_file || text.starts_with("tests/") || asks {
            self.find(FactKind::TestDetected, Told::WhereAdded, node, text);
        }
    }

    /// Source that ends its program when it is loaded.
    fn ends_import(&mut self, node: Node<'_>) {
        let call = first(node).filter(|call| call.kind() == "call" && super::nodes::is_of_module(*call));
        let name = call.map_or_else(String::new, |call| self.tight_field(call, "function"));
        // What a program answers is computed; what is said outright ends whoever loads it.
        let is_said = call.is_some_and(|call| {
            argument(call, 0).is_none_or(|code| matches!(code.kind(), "integer" | "none" | "false"))
        });
        if is_said && matches!(name.as_str(), "sys.exit" | "exit" | "quit" | "os.abort") {
            self.find(FactKind::AssertionUnreachable, Told::WhereAdded, node, &name);
        }
    }
}
