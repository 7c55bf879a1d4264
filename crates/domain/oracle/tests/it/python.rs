//! Python: what weakens its tests, and what does not.

use crate::edits::{Base, Honest, Weakened};
use crate::{facts, guard, told};

/// A file of tests, for pytest and for unittest.
const TESTS: Base = Base {
    path: "tests/test_cart.py",
    text: r#"import asyncio
import unittest
from decimal import Decimal

import pytest
from cart import Cart, CartError, fetch, total

EXPECTED_TOTAL = 11.0
CASES = [
    ("a", 1),
    ("b", 2),
]


def assert_balanced(cart):
    assert cart.debits == cart.credits


def test_total():
    items = [("a", 2.5, 4), ("b", 1.0, 1)]
    assert total(items) == 11.0
    assert total(items, discount=0) == EXPECTED_TOTAL


def test_rounding():
    assert total([("a", 0.1, 3)]) == pytest.approx(0.3, abs=1e-9)
    assert abs(total([("b", 0.2, 2)]) - 0.4) < 1e-9


def test_rejects():
    with pytest.raises(CartError, match="negative"):
        total([("a", -1.0, 1)])


def test_contents():
    cart = Cart()
    cart.add("a")
    cart.add("b")
    assert cart.names == ["a", "b"]
    assert cart.is_open and cart.owner == "ada"
    assert isinstance(cart, Cart)
    assert_balanced(cart)


def test_messages():
    error = None
    try:
        total(None)
    except TypeError as caught:
        error = caught
    assert "None" in str(error)


@pytest.mark.parametrize("name, count", [
    ("one", 1),
    ("two", 2),
    ("three", 3),
])
def test_names(name, count):
    assert len(Cart.named(name)) == count


@pytest.mark.parametrize("name, count", CASES)
def test_cases(name, count):
    assert Cart.count(name) == count


@pytest.mark.asyncio
async def test_fetch():
    assert await fetch("a") == 1
    assert await fetch("b") == 2


def test_each():
    for name in ["x", "y"]:
        assert Cart.named(name)


class CartTest(unittest.TestCase):
    def test_equal(self):
        self.assertEqual(total([]), 0)
        self.assertAlmostEqual(total([("a", 0.1, 3)]), 0.3, places=7)

    def test_raises(self):
        with self.assertRaises(CartError):
            total([("a", -1, 1)])

    def test_flags(self):
        self.assertTrue(Cart().is_open)
        self.assertIn("a", Cart.names)
        self.assertFalse(Cart().is_paid)
"#,
};

const SOURCE: Base = Base {
    path: "app/store.py",
    text: r#"import os
import sys


class Order:
    def __eq__(self, other):
        return self.key == other.key


def find(db, tenant, key):
    return db.execute("SELECT * FROM orders WHERE tenant_id = ? AND key = ?", (tenant, key))


def mine(session, tenant):
    return session.query(Order).filter_by(tenant_id=tenant).all()


def rate(order):
    return order.price * 0.9
"#,
};

const WEAKENED: [Weakened; 50] = [
    (
        "an assertion goes",
        "    assert total(items) == 11.0\n",
        "    total(items)\n",
        "assertion-removed assert total(items) == 11.0",
    ),
    (
        "any value will do",
        "assert total(items) == 11.0",
        "assert total(items)",
        "assertion-loosened assert total",
    ),
    (
        "any value but none",
        "assert total(items) == 11.0",
        "assert total(items) is not None",
        "assertion-loosened is not None",
    ),
    (
        "a kind of value",
        "assert total(items) == 11.0",
        "assert isinstance(total(items), float)",
        "assertion-loosened isinstance",
    ),
    ("one side of it", "assert total(items) == 11.0", "assert total(items) > 0", "assertion-loosened > 0"),
    (
        "one of several",
        "assert total(items) == 11.0",
        "assert total(items) in (11.0, 3.5)",
        "assertion-loosened in (11.0",
    ),
    ("another value", "assert total(items) == 11.0", "assert total(items) == 3.5", "expectation-changed 3.5"),
    (
        "another constant",
        "EXPECTED_TOTAL = 11.0",
        "EXPECTED_TOTAL = 3.5",
        "expectation-changed EXPECTED_TOTAL",
    ),
    (
        "or anything",
        "assert total(items) == 11.0",
        "assert total(items) == 11.0 or True",
        "assertion-tautological or True",
    ),
    (
        "or another",
        "assert total(items) == 11.0",
        "assert total(items) == 11.0 or total(items) == 3.5",
        "assertion-loosened or total",
    ),
    (
        "a tuple",
        "assert total(items) == 11.0",
        "assert (total(items) == 11.0, \"total\")",
        "assertion-tautological (total",
    ),
    (
        "itself",
        "assert total(items) == 11.0",
        "assert total(items) == total(items)",
        "assertion-tautological == total",
    ),
    (
        "a generator",
        "assert cart.names == [\"a\", \"b\"]",
        "assert (name in cart.names for name in \"ab\")",
        "assertion-tautological for name",
    ),
    (
        "it never happens",
        "    items = [(\"a\", 2.5, 4), (\"b\", 1.0, 1)]\n",
        "    items = [(\"a\", 2.5, 4), (\"b\", 1.0, 1)]\n    return\n",
        "assertion-unreachable return",
    ),
    (
        "it happens sometimes",
        "    assert total(items) == 11.0\n",
        "    if items is None:\n        assert total(items) == 11.0\n",
        "assertion-unreachable if items",
    ),
    (
        "it happens never",
        "    assert total(items) == 11.0\n",
        "    if False:\n        assert total(items) == 11.0\n",
        "assertion-unreachable if False",
    ),
    (
        "it is caught",
        "    assert total(items) == 11.0\n",
        "    try:\n        assert total(items) == 11.0\n    except AssertionError:\n        pass\n",
        "assertion-swallowed except",
    ),
    (
        "it is suppressed",
        "    assert total(items) == 11.0\n",
        "    with contextlib.suppress(Exception):\n        assert total(items) == 11.0\n",
        "assertion-swallowed suppress",
    ),
    (
        "it must fail",
        "    assert total(items) == 11.0\n",
        "    with pytest.raises(AssertionError):\n        assert total(items) == 11.0\n",
        "assertion-swallowed raises",
    ),
    (
        "the check is not called",
        "    assert total(items) == 11.0\n",
        "    def later():\n        assert total(items) == 11.0\n",
        "assertion-unreachable def later",
    ),
    ("a wider tolerance", "abs=1e-9", "abs=1e-1", "assertion-loosened abs=1e-1"),
    ("a wider distance", "- 0.4) < 1e-9", "- 0.4) < 0.5", "assertion-loosened < 0.5"),
    (
        "near in the place of equal",
        "assert total(items) == 11.0",
        "assert total(items) == pytest.approx(11.0, rel=0.5)",
        "assertion-loosened approx(11.0",
    ),
    (
        "any error",
        "pytest.raises(CartError, match=\"negative\")",
        "pytest.raises(Exception)",
        "assertion-loosened raises(Exception)",
    ),
    (
        "any message",
        "pytest.raises(CartError, match=\"negative\")",
        "pytest.raises(CartError)",
        "assertion-loosened raises(CartError)",
    ),
    (
        "another error",
        "pytest.raises(CartError, match=\"negative\")",
        "pytest.raises(ValueError, match=\"negative\")",
        "expectation-changed ValueError",
    ),
    (
        "one of two goes",
        "assert cart.is_open and cart.owner == \"ada\"",
        "assert cart.is_open",
        "assertion-removed cart.owner",
    ),
    ("the helper goes", "    assert_balanced(cart)\n", "", "assertion-removed assert_balanced(cart)"),
    (
        "the helper is emptied",
        "    assert cart.debits == cart.credits\n",
        "    pass\n",
        "assertion-removed cart.debits",
    ),
    (
        "a text that is in every text",
        "assert \"None\" in str(error)",
        "assert \"\" in str(error)",
        "assertion-loosened \"\" in",
    ),
    ("a row goes", "    (\"two\", 2),\n", "", "parameter-dropped (\"two\", 2)"),
    (
        "a row expects another",
        "    (\"two\", 2),\n    (\"three\", 3),\n",
        "    (\"two\", 5),\n    (\"three\", 3),\n",
        "expectation-changed (\"two\", 5)",
    ),
    ("a row of the module goes", "    (\"b\", 2),\n", "", "parameter-dropped (\"b\", 2)"),
    (
        "a value of a loop goes",
        "for name in [\"x\", \"y\"]",
        "for name in [\"x\"]",
        "parameter-dropped for name in",
    ),
    (
        "a loop of nothing",
        "for name in [\"x\", \"y\"]",
        "for name in []",
        "assertion-unreachable for name in []",
    ),
    (
        "it is not awaited",
        "assert await fetch(\"a\") == 1",
        "assert fetch(\"a\") == 1",
        "test-not-awaited fetch(\"a\")",
    ),
    ("it is not found", "def test_total():", "def check_total():", "test-uncollected def check_total"),
    (
        "a class is not found",
        "class CartTest(unittest.TestCase):",
        "class Carts:",
        "test-uncollected def test_",
    ),
    (
        "a generator does not run",
        "def test_total():\n",
        "def test_total():\n    yield\n",
        "assertion-unreachable def test_total",
    ),
    (
        "it is shadowed",
        "def test_each():",
        "def test_total():\n    assert True\n\n\ndef test_each():",
        "test-shadowed def test_total",
    ),
    (
        "it is gone",
        "def test_messages():\n    error = None\n    try:\n        total(None)\n    except TypeError as caught:\n        error = caught\n    assert \"None\" in str(error)\n",
        "",
        "test-removed def test_messages",
    ),
    (
        "unittest: another value",
        "self.assertEqual(total([]), 0)",
        "self.assertEqual(total([]), 1)",
        "expectation-changed total([]), 1",
    ),
    (
        "unittest: any value",
        "self.assertEqual(total([]), 0)",
        "self.assertIsNotNone(total([]))",
        "assertion-loosened assertIsNotNone",
    ),
    ("unittest: fewer places", "places=7", "places=1", "assertion-loosened places=1"),
    (
        "unittest: any error",
        "self.assertRaises(CartError)",
        "self.assertRaises(Exception)",
        "assertion-loosened assertRaises(Exception)",
    ),
    (
        "unittest: turned round",
        "self.assertFalse(Cart().is_paid)",
        "self.assertTrue(Cart().is_paid)",
        "expectation-changed is_paid",
    ),
    ("unittest: it is gone", "        self.assertIn(\"a\", Cart.names)\n", "", "assertion-removed assertIn"),
    (
        "the subject is replaced",
        "    items = [(\"a\", 2.5, 4), (\"b\", 1.0, 1)]\n",
        "    items = [(\"a\", 2.5, 4), (\"b\", 1.0, 1)]\n    mocker.patch(\"cart.total\", return_value=11.0)\n",
        "assertion-tautological assert total(items)",
    ),
    (
        "it may run again",
        "def test_total():",
        "@pytest.mark.flaky(reruns=5)\ndef test_total():",
        "assertion-swallowed flaky",
    ),
    (
        "a model judges",
        "    assert total(items) == 11.0\n",
        "    assert llm_judge(\"is this right?\")\n",
        "gate-judged-by-model llm_judge",
    ),
];

const HONEST: [Honest; 24] = [
    ("a message", "assert total(items) == 11.0", "assert total(items) == 11.0, \"the sum\""),
    ("the sides exchanged", "assert total(items) == 11.0", "assert 11.0 == total(items)"),
    ("in brackets", "assert total(items) == 11.0", "assert (total(items) == 11.0)"),
    (
        "by a variable",
        "    assert total(items) == 11.0\n",
        "    found = total(items)\n    assert found == 11.0\n",
    ),
    (
        "another name",
        "    items = [(\"a\", 2.5, 4), (\"b\", 1.0, 1)]\n    assert total(items) == 11.0\n    assert total(items, discount=0) == EXPECTED_TOTAL\n",
        "    rows = [(\"a\", 2.5, 4), (\"b\", 1.0, 1)]\n    assert total(rows) == 11.0\n    assert total(rows, discount=0) == EXPECTED_TOTAL\n",
    ),
    (
        "more is asked",
        "assert total(items) == 11.0\n",
        "assert total(items) == 11.0\n    assert total(items) > 10\n",
    ),
    ("a smaller tolerance", "abs=1e-9", "abs=1e-12"),
    ("a narrower error", "self.assertRaises(CartError)", "self.assertRaisesRegex(CartError, \"negative\")"),
    (
        "a message is asked for",
        "self.assertEqual(total([]), 0)",
        "self.assertEqual(total([]), 0, \"nothing\")",
    ),
    (
        "two in the place of one",
        "assert cart.is_open and cart.owner == \"ada\"",
        "assert cart.is_open\n    assert cart.owner == \"ada\"",
    ),
    ("unittest becomes plain", "self.assertEqual(total([]), 0)", "assert total([]) == 0"),
    ("equal becomes true of equal", "self.assertEqual(total([]), 0)", "self.assertTrue(total([]) == 0)"),
    ("a row more", "    (\"two\", 2),\n", "    (\"two\", 2),\n    (\"four\", 4),\n"),
    (
        "rows in another order",
        "    (\"one\", 1),\n    (\"two\", 2),\n",
        "    (\"two\", 2),\n    (\"one\", 1),\n",
    ),
    (
        "a test more",
        "def test_each():",
        "def test_nothing():\n    assert total([]) == 0\n\n\ndef test_each():",
    ),
    ("another name of a test", "def test_messages():", "def test_the_message_says_what():"),
    ("a comment", "def test_each():\n", "def test_each():\n    # each of them\n"),
    ("a documented test", "def test_each():\n", "def test_each():\n    \"\"\"Each of them.\"\"\"\n"),
    (
        "a helper more",
        "def test_each():",
        "def made(name):\n    return Cart.named(name)\n\n\ndef test_each():",
    ),
    ("an import", "import pytest\n", "import pytest\nimport json\n"),
    ("a value of a loop more", "for name in [\"x\", \"y\"]", "for name in [\"x\", \"y\", \"z\"]"),
    ("a type", "def assert_balanced(cart):", "def assert_balanced(cart: Cart) -> None:"),
    ("another list of what goes in", "cart.add(\"b\")\n", "cart.add(\"b\")\n    cart.close()\n"),
    ("other quotation marks", "cart.owner == \"ada\"", "cart.owner == 'ada'"),
];

const WEAKENED_SOURCE: [Weakened; 8] = [
    (
        "it knows of tests",
        "    return order.price * 0.9\n",
        "    if \"PYTEST_CURRENT_TEST\" in os.environ:\n        return 9\n    return order.price * 0.9\n",
        "test-detected PYTEST_CURRENT_TEST",
    ),
    (
        "it looks for the runner",
        "    return order.price * 0.9\n",
        "    if \"pytest\" in sys.modules:\n        return 9\n    return order.price * 0.9\n",
        "test-detected sys.modules",
    ),
    ("it ends the runner", "import sys\n", "import sys\nos._exit(0)\n", "assertion-unreachable os._exit"),
    (
        "everything is equal",
        "        return self.key == other.key\n",
        "        return True\n",
        "assertion-tautological __eq__",
    ),
    (
        "SQL forgets the tenant",
        "WHERE tenant_id = ? AND key = ?\", (tenant, key)",
        "WHERE key = ?\", (key,)",
        "tenancy-widened tenant_id = ?",
    ),
    (
        "SQL takes all",
        "WHERE tenant_id = ? AND key = ?",
        "WHERE tenant_id = ? OR 1=1 AND key = ?",
        "tenancy-widened OR 1=1",
    ),
    ("a query forgets the tenant", ".filter_by(tenant_id=tenant)", "", "tenancy-widened filter_by"),
    (
        "a runner is replaced",
        "import sys\n",
        "import sys\nimport unittest\nunittest.TestCase.assertEqual = lambda *a: None\n",
        "runner-changed unittest.TestCase",
    ),
];

const HONEST_SOURCE: [Honest; 6] = [
    ("another rate", "return order.price * 0.9", "return order.price * 0.8"),
    (
        "a function goes whole",
        "def mine(session, tenant):\n    return session.query(Order).filter_by(tenant_id=tenant).all()\n",
        "",
    ),
    ("more is asked of rows", "tenant_id = ? AND key = ?", "tenant_id = ? AND key = ? AND open = 1"),
    ("the environment is read", "import sys\n", "import sys\nMODE = os.environ.get(\"MODE\")\n"),
    (
        "an equality of more",
        "return self.key == other.key",
        "return self.key == other.key and self.at == other.at",
    ),
    (
        "a script",
        "import sys\n",
        "import sys\n\n\ndef main():\n    return 0\n\n\nif __name__ == \"__main__\":\n    sys.exit(main())\n",
    ),
];

// proves E-F05 E-F07
// break crates/domain/oracle/src/python/condition.rs: `"==" | "is" => self.equality(node, &one, &other),` -> `"==" | "is" => new(Relation::Holds, &one, &other),`
#[test]
fn what_weakens_a_test_is_told_where_it_is() {
    assert_eq!(TESTS.untold(&WEAKENED), Vec::<String>::new());
}

#[test]
fn what_weakens_no_test_is_not_told() {
    assert_eq!(TESTS.wrong(&HONEST), Vec::<String>::new());
}

// proves E-F06
// break crates/domain/oracle/src/python/tenancy.rs: `if holds {` -> `if holds && false {`
#[test]
fn source_that_knows_of_tests_or_forgets_the_tenant_is_told() {
    assert_eq!(SOURCE.untold(&WEAKENED_SOURCE), Vec::<String>::new());
    assert_eq!(SOURCE.wrong(&HONEST_SOURCE), Vec::<String>::new());
}

#[test]
fn a_test_may_move_to_another_file() {
    let moved = "def test_total():\n    assert total([1]) == 1\n";
    let facts = facts(
        &guard(),
        &[("tests/test_a.py", Some(moved), Some("")), ("tests/test_b.py", None, Some(moved))],
    );
    assert_eq!(facts, []);
    assert_eq!(told("tests/test_a.py", moved, "").len(), 1);
}
