//! Output that runners write while the test runs. Where a runner is absent the test says so and ends.
#![expect(clippy::disallowed_methods, reason = "a test starts the runners whose output the domain reads")]
#![expect(clippy::print_stdout, reason = "a test that cannot run says so")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use ambit_gates::{Counts, Ending, FailureFingerprint, GateOutput, Runner, Summary, fingerprint, summarize};

use crate::gate;

struct Executed {
    stdout: String,
    stderr: String,
}

impl Executed {
    fn summary(&self) -> Summary {
        summarize(crate::FAILED, self.output()).unwrap()
    }

    fn fingerprint(&self) -> FailureFingerprint {
        fingerprint(&gate(), crate::FAILED, &BTreeSet::new(), self.output()).unwrap()
    }

    fn output(&self) -> GateOutput<'_> {
        GateOutput { stdout: self.stdout.as_bytes(), stderr: self.stderr.as_bytes() }
    }

    fn lines(&self) -> Vec<String> {
        self.summary().failures.iter().map(ToString::to_string).collect()
    }
}

/// Runs a command that fails in a new directory with these files, and shows that directory as the workspace.
fn execute(argv: &[&str], files: &[(&str, &str)]) -> Option<Executed> {
    let directory = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let ran = Command::new(argv[0])
        .args(&argv[1..])
        .current_dir(directory.path())
        .env("RUST_BACKTRACE", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env_remove("NODE_OPTIONS")
        .env_remove("NODE_TEST_CONTEXT")
        .output();
    let Ok(output) = ran else {
        println!("skipped: PROGRAM_ABSENT {}", argv[0]);
        return None;
    };
    assert!(!output.status.success(), "{argv:?} succeeded");
    let shown = |bytes: &[u8]| in_workspace(&String::from_utf8_lossy(bytes), directory.path());
    Some(Executed { stdout: shown(&output.stdout), stderr: shown(&output.stderr) })
}

fn in_workspace(text: &str, directory: &Path) -> String {
    let real = directory.canonicalize().unwrap();
    text.replace(real.to_str().unwrap(), "/workspace").replace(directory.to_str().unwrap(), "/workspace")
}

const CART: &str = "def lookup(d, k):\n    return d[k]\n\n\ndef total(d):\n    return lookup(d, 'a') + 1\n";
const CART_TEST: &str = "\
import unittest
from app.cart import total
class CartTest(unittest.TestCase):
    def test_total(self):
        '''Says what it tests.'''
        self.assertEqual(total({'a': 1}), 5)
    def test_missing(self):
        total({})
    def test_each(self):
        for i in range(2):
            with self.subTest(i=i):
                self.assertEqual(i, 1)
    def test_fine(self):
        pass
    @unittest.skip('x')
    def test_skipped(self):
        pass
";
const UNITTEST: [&str; 4] = ["python3", "-m", "unittest", "tests.test_cart"];

#[test]
fn unittest_tells_tests_types_and_deepest_frames() {
    let files = [("app/cart.py", CART), ("tests/test_cart.py", CART_TEST)];
    let Some(executed) = execute(&UNITTEST, &files) else { return };
    assert_eq!(executed.summary().runner, Some(Runner::Unittest));
    assert_eq!(executed.summary().counts, Some(Counts { passed: 1, failed: 3, skipped: 1 }));
    let mut lines = executed.lines();
    lines.sort();
    assert_eq!(
        lines,
        [
            "tests.test_cart.CartTest.test_each (i=0): AssertionError: 0 != 1 (tests/test_cart.py:12)",
            "tests.test_cart.CartTest.test_missing: KeyError: 'a' (app/cart.py:2)",
            "tests.test_cart.CartTest.test_total: AssertionError: 2 != 5 (tests/test_cart.py:6)",
        ]
    );
}

// proves E-D08 E-D09
// break crates/domain/gates/src/failure.rs: `Some(function) => format!("{} in {function}", place.path),` -> `Some(_) => format!("{}:{:?}", place.path, place.line),`
#[test]
fn a_cosmetic_edit_leaves_the_fingerprint_and_a_real_one_changes_it() {
    let run = |cart: &str, test: &str| {
        execute(&UNITTEST, &[("app/cart.py", cart), ("tests/test_cart.py", test)]).map(|e| e.fingerprint())
    };
    let Some(first) = run(CART, CART_TEST) else { return };
    let cosmetic = format!("# A comment above.\n\n{}", CART.replace("+ 1", "+ 1 - 0"));
    let moved = CART_TEST.replace("import unittest\n", "import unittest\n\n# Shifts every line.\n");
    assert_eq!(run(&cosmetic, &moved), Some(first.clone()));

    let other_value = CART.replace("+ 1", "+ 2");
    assert_eq!(run(&other_value, CART_TEST), Some(first.clone()), "another wrong value is the same failure");

    let other_type = CART.replace("return d[k]", "raise ValueError(k)");
    let other_place = CART.replace("lookup(d, 'a')", "d['a']");
    let one_fixed = CART.replace("return d[k]", "return d.get(k, 0)");
    for changed in [other_type, other_place, one_fixed] {
        assert_ne!(run(&changed, CART_TEST), Some(first.clone()), "{changed}");
    }
}

#[test]
fn a_module_that_does_not_load_is_told_with_what_it_lacks() {
    let load = |module: &str| {
        let source = format!("import {module}\n");
        execute(&UNITTEST, &[("tests/test_cart.py", &source)])
    };
    let (Some(one), Some(other)) = (load("nothing_here"), load("nothing_there")) else { return };
    assert_eq!(
        one.lines(),
        ["test_cart: ModuleNotFoundError: No module named 'nothing_here' (tests/test_cart.py:1)"]
    );
    assert_ne!(one.fingerprint(), other.fingerprint());

    let Some(script) = execute(&["python3", "main.py"], &[("main.py", "def f():\n    return 1 / 0\nf()\n")])
    else {
        return;
    };
    assert_eq!(script.summary().runner, Some(Runner::PythonTraceback));
    assert_eq!(script.lines(), ["ZeroDivisionError: division by zero (main.py:2)"]);
    assert_eq!(script.fingerprint().location.as_deref(), Some("main.py in f"));
}

const RUST: &str = "\
pub fn get(v: &[i32], i: usize) -> i32 { v[i] }
#[test] fn eq() { assert_eq!(1 + 1, 3); }
#[test] fn oob() { get(&[1], 3); }
#[test] fn fine() {}
#[test] fn res() -> Result<(), String> { Err(\"no\".into()) }
#[test] #[should_panic] fn sp() {}
#[test] #[ignore] fn ig() {}
";

#[test]
fn the_rust_harness_tells_panics_and_the_compiler_its_codes() {
    let files = [("lib.rs", RUST), ("run", "rustc -g --edition 2021 --test lib.rs -o t && ./t\n")];
    let Some(executed) = execute(&["sh", "run"], &files) else { return };
    if executed.stderr.contains("not found") {
        println!("skipped: PROGRAM_ABSENT rustc");
        return;
    }
    assert_eq!(executed.summary().runner, Some(Runner::Libtest));
    assert_eq!(executed.summary().counts, Some(Counts { passed: 1, failed: 4, skipped: 1 }));
    let lines = executed.lines();
    assert_eq!(
        lines[0],
        "eq: panic: assertion `left == right` failed: assertion `left == right` failed (lib.rs:2)"
    );
    assert!(lines[1].starts_with("oob: panic: index out of bounds: index out of bounds: the len is 1"));
    assert!(lines[1].ends_with("(lib.rs:1)"), "{lines:?}");
    assert_eq!(lines[2], "res: error returned: Error: \"no\"");
    assert!(lines[3].starts_with("sp: test failed: note: test did not panic"), "{lines:?}");

    let broken = [("lib.rs", "pub fn f() -> u8 { let _x: u8 = \"s\"; y }\n")];
    let Some(broken) = execute(&["rustc", "--crate-type", "lib", "lib.rs"], &broken) else { return };
    assert_eq!(broken.summary().runner, Some(Runner::Compiler));
    let mut lines = broken.lines();
    lines.sort();
    assert_eq!(
        lines,
        ["E0308: mismatched types (lib.rs:1)", "E0425: cannot find value `y` in this scope (lib.rs:1)",]
    );
}

const NODE_TEST: &str = "\
import test from 'node:test'
import assert from 'node:assert/strict'
import { total } from '../src/cart.js'
test('adds', () => { assert.equal(total({ x: 1 }), 5) })
test('suite', async (t) => { await t.test('throws', () => { total(null) }) })
test('fine', () => {})
test('later', { todo: true }, () => { assert.ok(false) })
";

#[test]
fn nodes_runner_tells_the_same_in_both_of_its_formats() {
    let files = [
        ("package.json", "{\"type\":\"module\"}"),
        ("src/cart.js", "export function total (d) { return d.x + 1 }\n"),
        ("test/cart.test.js", NODE_TEST),
    ];
    let run = |reporter| execute(&["node", "--test", reporter, "test/cart.test.js"], &files);
    let (Some(tap), Some(spec)) = (run("--test-reporter=tap"), run("--test-reporter=spec")) else { return };
    assert_eq!((tap.summary().runner, spec.summary().runner), (Some(Runner::Tap), Some(Runner::Node)));
    assert_eq!(tap.summary().counts, spec.summary().counts);
    for (executed, throws) in [(&tap, "suite > throws"), (&spec, "throws")] {
        let lines = executed.lines();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("adds: AssertionError: Expected values"), "{lines:?}");
        assert!(lines[0].ends_with("(test/cart.test.js:4)"), "{lines:?}");
        assert!(lines[1].starts_with(&format!("{throws}: TypeError: Cannot read")), "{lines:?}");
        assert!(lines[1].ends_with("(src/cart.js:1)"), "{lines:?}");
    }
}

#[test]
fn a_c_compiler_and_its_linker_tell_what_is_missing() {
    let source = [("a.c", "int main(void) { return x; }\n")];
    let Some(compiled) = execute(&["cc", "a.c"], &source) else { return };
    let lines = compiled.lines();
    assert!(lines[0].starts_with("error: ‘x’ undeclared") || lines[0].contains("undeclared"), "{lines:?}");
    assert!(lines[0].ends_with("(a.c:1)"), "{lines:?}");

    let source = [("a.c", "int foo(void);\nint main(void) { return foo(); }\n")];
    let Some(linked) = execute(&["cc", "a.c"], &source) else { return };
    assert_eq!(linked.fingerprint().class, "link error");
    assert!(linked.fingerprint().location.unwrap().contains("foo"));
}

#[test]
fn success_has_neither_fingerprint_nor_summary_whatever_it_prints() {
    let output = GateOutput { stdout: b"FAILED (failures=1)\nerror: all is lost", stderr: b"" };
    let passed = Ending::Exited { code: 0 };
    assert_eq!(summarize(passed, output), None);
    assert_eq!(fingerprint(&gate(), passed, &BTreeSet::new(), output), None);
    assert!(fingerprint(&gate(), crate::FAILED, &BTreeSet::new(), output).is_some());
}
