//! Tests that move to where their runner does not look for them, and tests that move to where it does.

use ambit_policy::{Fact, FactKind};

use crate::{facts, set};

const PYTHON: &str =
    "from shop import f\n\ndef test_f():\n    assert f() == 1\n\ndef test_g():\n    assert f(2) == 4\n";
const UNITTEST: &str = "import unittest\nfrom shop import f\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        \
    self.assertEqual(f(), 1)\n";
const GO: &str = "package a\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif F() != 1 {\n\t\tt.Fatal(F())\n\t}\n}\n";
const RUST: &str = "use shop::f;\n\n#[test]\nfn f_is_one() {\n    assert_eq!(f(), 1);\n}\n";
const JAVA: &str =
    "class CartTest {\n  @Test\n  void total() {\n    assertEquals(5, new Cart().total());\n  }\n}\n";
const KOTLIN: &str =
    "class CartTest {\n  @Test\n  fun total() {\n    assertEquals(5, Cart().total())\n  }\n}\n";
const SPEC: &str = "import { f } from '../src/a';\n\ntest('f', () => {\n  expect(f()).toBe(1);\n});\n";
const MOCHA: &str =
    "const { expect } = require('chai');\n\nit('f', () => {\n  expect(f()).to.equal(1);\n});\n";

fn told(text: &str, from: &str, to: &str, beside: &[(&str, Option<&str>, Option<&str>)]) -> Vec<Fact> {
    let guard = ambit_oracle::Guard {
        tests: set(&["**/tests/**", "**/test/**", "**/*_test.go", "**/test_*.py", "**/*.test.*"]),
        scope: set(&["**"]),
        ..ambit_oracle::Guard::default()
    };
    let mut changes = vec![(from, Some(text), None), (to, None, Some(text))];
    changes.extend(beside);
    facts(&guard, &changes)
}

// proves E-F05
// break crates/domain/oracle/src/outline/compared.rs: `(has_left || !after.unit.is_collected)` -> `!after.unit.is_collected`
// break crates/domain/oracle/src/facts.rs: `facts.extend(collection.moved(guard));` -> ``
#[test]
fn a_test_that_moves_to_where_nobody_collects_it_is_told_at_its_new_place() {
    for (text, from, to) in [
        (PYTHON, "tests/test_a.py", "tests/helper_a.py"),
        (PYTHON, "tests/test_a.py", "tests/old/a.py"),
        (PYTHON, "tests/test_a.py", "tests/a_test_.py"),
        (PYTHON, "tests/test_a.py", "tests/Test_a.py"),
        (PYTHON, "tests/test_a.py", "tests/testa.py"),
        (PYTHON, "tests/test_a.py", "tests/build/test_a.py"),
        (PYTHON, "tests/test_a.py", "tests/.hidden/test_a.py"),
        (PYTHON, "tests/test_a.py", "tests/x.egg/test_a.py"),
        (UNITTEST, "tests/test_a.py", "tests/a_test.py"),
        (UNITTEST, "tests/test_a.py", "tests/un-it/test_a.py"),
        (GO, "a_test.go", "a_windows_test.go"),
        (GO, "a_test.go", "a_linux_arm64be_test.go"),
        (GO, "a_test.go", "_a_test.go"),
        (GO, "a_test.go", "testdata/a_test.go"),
        (GO, "b/a_test.go", "_b/a_test.go"),
        (RUST, "tests/cart.rs", "tests/old/cart.rs"),
        (RUST, "crates/a/tests/cart.rs", "crates/a/tests/old/cart.rs"),
        (JAVA, "src/test/java/CartTest.java", "src/test/java/CartCheck.java"),
        (KOTLIN, "src/test/kotlin/CartTest.kt", "src/test/kotlin/CartCheck.kt"),
        (SPEC, "test/a.test.js", "test/a.off.js"),
        (SPEC, "test/a.test.js", "test/.old/a.test.js"),
        (SPEC, "src/__tests__/a.ts", "src/tests-old/a.ts"),
        (MOCHA, "test/a.js", "old/a.js"),
    ] {
        let facts = told(text, from, to, &[]);
        let is_told = |fact: &Fact| {
            fact.kind() == FactKind::TestUncollected
                && fact.weakening().is_some_and(|place| place.path.to_string() == to)
        };
        assert!(facts.iter().any(is_told), "{from} -> {to}: {facts:?}");
    }
}

// proves E-F05
#[test]
fn a_test_that_moves_to_where_it_is_collected_is_not_told() {
    let declares = [("tests/it/main.rs", Some("mod a;\n"), Some("mod a;\nmod cart;\n"))];
    let none: &[(&str, Option<&str>, Option<&str>)] = &[];
    for (text, from, to, beside) in [
        (PYTHON, "tests/test_a.py", "tests/unit/test_a.py", none),
        (PYTHON, "tests/test_a.py", "tests/test_cart.py", none),
        (PYTHON, "tests/test_a.py", "tests/a_test.py", none),
        // A project that says which files its runner collects.
        (PYTHON, "tests/check_a.py", "tests/check_cart.py", none),
        (UNITTEST, "tests/test_a.py", "tests/unit/test_a.py", none),
        (GO, "a_test.go", "cart_test.go", none),
        (GO, "a_test.go", "windows_test.go", none),
        (GO, "a_windows_test.go", "b_windows_test.go", none),
        (RUST, "tests/cart.rs", "tests/total.rs", none),
        (RUST, "tests/cart.rs", "tests/cart/main.rs", none),
        (RUST, "tests/cart.rs", "tests/it/cart.rs", declares.as_slice()),
        (JAVA, "src/test/java/CartTest.java", "src/test/java/shop/CartTests.java", none),
        (KOTLIN, "src/test/kotlin/CartTest.kt", "src/test/kotlin/shop/CartTest.kt", none),
        (SPEC, "test/a.test.js", "test/unit/a.spec.js", none),
        (SPEC, "src/__tests__/a.ts", "src/a.test.ts", none),
        (MOCHA, "test/a.test.js", "test/unit/a.js", none),
    ] {
        assert_eq!(told(text, from, to, beside), Vec::new(), "{from} -> {to}");
    }
}
