//! Java: what weakens its tests, and what does not.

use crate::edits::{Base, Honest, Weakened};

const TESTS: Base = Base {
    path: "tests/CartTest.java",
    text: r##"package shop;

import static org.junit.jupiter.api.Assertions.*;
import static org.mockito.Mockito.*;

import java.util.List;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.*;

class CartTest {
    private final Ledger ledger = mock(Ledger.class);

    private static List<Item> sample() {
        return List.of(new Item(250, 4), new Item(100, 1));
    }

    private void assertBalanced(Cart cart) {
        assertEquals(cart.debits(), cart.credits());
    }

    @Test
    void countsQuantity() {
        Cart cart = new Cart(sample());
        assertEquals(1100, cart.total());
        assertNotNull(cart.lines());
    }

    @Test
    void balances() {
        Cart cart = new Cart(sample());
        assertBalanced(cart);
        assertTrue(cart.total() > 0, "it costs something");
        assertEquals(2.5, cart.rate(), 0.001);
        assertThat(cart.lines()).hasSize(2).containsExactly("a", "b");
    }

    @Test
    void refusesNegative() {
        IllegalArgumentException thrown =
            assertThrows(IllegalArgumentException.class, () -> new Item(100, -1));
        assertEquals("negative quantity", thrown.getMessage());
    }

    @Test
    void refusesNothing() {
        try {
            Cart.parse("");
            fail("an empty text is no cart");
        } catch (ParseException expected) {
            assertEquals(0, expected.getOffset());
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 250", "2, 500", "0, 0"})
    void scales(int quantity, int expected) {
        assertEquals(expected, new Cart(List.of(new Item(250, quantity))).total());
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 10, 25})
    void discounts(int percent) {
        assertTrue(new Cart(sample()).discounted(percent) < 1100);
    }

    @Test
    @Timeout(2)
    void writesToLedger() {
        new Cart(sample()).bookTo(ledger);
        verify(ledger, times(2)).write(any());
        verifyNoMoreInteractions(ledger);
    }

    @Nested
    class Empty {
        @Test
        void isZero() {
            assertEquals(0, new Cart(List.of()).total());
        }
    }
}
"##,
};

const SOURCE: Base = Base {
    path: "src/main/java/shop/Cart.java",
    text: r##"package shop;

import java.util.List;

/** A cart. */
public final class Cart {
    private final List<Item> lines;

    public Cart(List<Item> lines) {
        this.lines = lines;
    }

    /** The sum in cents. */
    public int total() {
        return lines.stream().mapToInt(Item::price).sum();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Cart that && lines.equals(that.lines);
    }
}
"##,
};

const LOST: &[Weakened] = &[
    (
        "an assertion is gone",
        "        assertEquals(1100, cart.total());\n",
        "",
        "assertion-removed assertEquals(1100",
    ),
    (
        "an assertion is a comment",
        "        assertEquals(1100, cart.total());\n",
        "        // assertEquals(1100, cart.total());\n",
        "assertion-removed assertEquals(1100",
    ),
    (
        "the call alone is left",
        "assertEquals(1100, cart.total());",
        "cart.total();",
        "assertion-removed assertEquals(1100",
    ),
    (
        "a checking helper is no longer called",
        "        assertBalanced(cart);\n",
        "",
        "assertion-removed assertBalanced(cart)",
    ),
    (
        "a checking helper checks nothing",
        "        assertEquals(cart.debits(), cart.credits());\n",
        "",
        "assertion-removed assertEquals(cart.debits()",
    ),
    (
        "a call is no longer verified",
        "        verify(ledger, times(2)).write(any());\n",
        "",
        "assertion-removed verify(ledger",
    ),
    (
        "more calls are allowed",
        "        verifyNoMoreInteractions(ledger);\n",
        "",
        "assertion-removed verifyNoMoreInteractions",
    ),
    ("a fail is gone", "            fail(\"an empty text is no cart\");\n", "", "assertion-removed fail("),
    (
        "nothing need be thrown",
        "        IllegalArgumentException thrown =\n            assertThrows(IllegalArgumentException.class, () -> new Item(100, -1));\n        assertEquals(\"negative quantity\", thrown.getMessage());\n",
        "        new Item(100, 1);\n",
        "assertion-removed assertThrows",
    ),
    (
        "a chain is shorter",
        ".hasSize(2).containsExactly(\"a\", \"b\")",
        ".hasSize(2)",
        "assertion-removed containsExactly",
    ),
    (
        "a chain asks nothing",
        "assertThat(cart.lines()).hasSize(2).containsExactly(\"a\", \"b\");",
        "assertThat(cart.lines());",
        "assertion-removed assertThat(cart.lines())",
    ),
    (
        "a test is gone",
        "    @Test\n    void countsQuantity() {\n        Cart cart = new Cart(sample());\n        assertEquals(1100, cart.total());\n        assertNotNull(cart.lines());\n    }\n",
        "",
        "test-removed void countsQuantity",
    ),
    (
        "a nested test is gone",
        "        @Test\n        void isZero() {\n            assertEquals(0, new Cart(List.of()).total());\n        }\n",
        "",
        "test-removed void isZero",
    ),
];

const LOOSENED: &[Weakened] = &[
    (
        "equal became not null",
        "assertEquals(1100, cart.total());",
        "assertNotNull(cart.total());",
        "assertion-loosened assertNotNull(cart.total())",
    ),
    (
        "equal became different",
        "assertEquals(1100, cart.total());",
        "assertNotEquals(0, cart.total());",
        "assertion-loosened assertNotEquals",
    ),
    (
        "equal became an order",
        "assertEquals(1100, cart.total());",
        "assertTrue(cart.total() > 0);",
        "assertion-loosened assertTrue(cart.total() > 0);",
    ),
    (
        "any exception is right",
        "assertThrows(IllegalArgumentException.class,",
        "assertThrows(Throwable.class,",
        "assertion-loosened Throwable.class",
    ),
    (
        "a tolerance is wider",
        "cart.rate(), 0.001)",
        "cart.rate(), 10)",
        "assertion-loosened cart.rate(), 10)",
    ),
    ("an order takes more", "cart.total() > 0,", "cart.total() >= 0,", "assertion-loosened >= 0"),
    (
        "a condition has an alternative",
        "cart.total() > 0,",
        "cart.total() > 0 || cart.isNew(),",
        "assertion-loosened || cart.isNew()",
    ),
    (
        "any number of calls is right",
        "verify(ledger, times(2))",
        "verify(ledger, atLeast(0))",
        "assertion-loosened atLeast(0)",
    ),
    (
        "one call is enough",
        "verify(ledger, times(2))",
        "verify(ledger, atLeastOnce())",
        "assertion-loosened atLeastOnce()",
    ),
    ("the order does not matter", "containsExactly(", "containsAnyOf(", "assertion-loosened containsAnyOf("),
    (
        "it always holds",
        "assertEquals(1100, cart.total());",
        "assertTrue(true);",
        "assertion-tautological assertTrue(true)",
    ),
    (
        "a thing is compared with itself",
        "assertEquals(1100, cart.total());",
        "assertEquals(cart.total(), cart.total());",
        "assertion-tautological cart.total(), cart.total()",
    ),
    (
        "a condition is or'ed with what holds",
        "cart.total() > 0,",
        "cart.total() > 0 || true,",
        "assertion-tautological || true",
    ),
    (
        "a number is another",
        "assertEquals(1100, cart.total());",
        "assertEquals(350, cart.total());",
        "expectation-changed 350",
    ),
    (
        "a text is another",
        "assertEquals(\"negative quantity\",",
        "assertEquals(\"overflow\",",
        "expectation-changed \"overflow\"",
    ),
    (
        "a condition is its opposite",
        "assertTrue(cart.total() > 0,",
        "assertFalse(cart.total() > 0,",
        "expectation-changed assertFalse(cart.total()",
    ),
    (
        "another exception is right",
        "assertThrows(IllegalArgumentException.class,",
        "assertThrows(ArithmeticException.class,",
        "expectation-changed ArithmeticException.class",
    ),
    ("a row is another", "\"2, 500\"", "\"2, 250\"", "expectation-changed \"2, 250\""),
];

const HIDDEN: &[Weakened] = &[
    (
        "it is disabled",
        "    @Test\n    void countsQuantity",
        "    @Test\n    @Disabled\n    void countsQuantity",
        "skip-marker-added @Disabled",
    ),
    (
        "it is disabled on a condition",
        "    @Test\n    void countsQuantity",
        "    @Test\n    @DisabledIfEnvironmentVariable(named = \"CI\", matches = \".*\")\n    void countsQuantity",
        "skip-marker-added @DisabledIf",
    ),
    (
        "it is enabled on a condition",
        "    @Test\n    void countsQuantity",
        "    @Test\n    @EnabledIfSystemProperty(named = \"full\", matches = \"1\")\n    void countsQuantity",
        "skip-marker-added @EnabledIf",
    ),
    (
        "it is enabled on one system",
        "    @Test\n    void countsQuantity",
        "    @Test\n    @EnabledOnOs(OS.AIX)\n    void countsQuantity",
        "skip-marker-added @EnabledOnOs",
    ),
    (
        "the class is disabled",
        "class CartTest {",
        "@Disabled(\"later\")\nclass CartTest {",
        "skip-marker-added @Disabled",
    ),
    (
        "it is ignored",
        "    @Test\n    void countsQuantity",
        "    @Ignore\n    @Test\n    void countsQuantity",
        "skip-marker-added @Ignore",
    ),
    (
        "it is no test",
        "    @Test\n    void countsQuantity",
        "    void countsQuantity",
        "test-uncollected void countsQuantity",
    ),
    (
        "it is private",
        "    @Test\n    void countsQuantity",
        "    @Test\n    private void countsQuantity",
        "test-uncollected void countsQuantity",
    ),
    ("a nested class is no part", "    @Nested\n", "", "test-uncollected void isZero"),
    (
        "it assumes",
        "        assertEquals(1100, cart.total());\n",
        "        assumeTrue(cart.total() == 1100);\n        assertEquals(1100, cart.total());\n",
        "skip-marker-added assumeTrue",
    ),
    (
        "it is not enabled",
        "    @Test\n    void countsQuantity",
        "    @Test(enabled = false)\n    void countsQuantity",
        "skip-marker-added enabled = false",
    ),
    (
        "any exception is expected",
        "    @Test\n    void countsQuantity",
        "    @Test(expected = Throwable.class)\n    void countsQuantity",
        "assertion-swallowed expected = Throwable",
    ),
    ("a value is gone", "{5, 10, 25}", "{5, 10}", "parameter-dropped {5, 10, 25}"),
    (
        "a row is gone",
        "\"1, 250\", \"2, 500\", \"0, 0\"",
        "\"1, 250\", \"0, 0\"",
        "parameter-dropped \"2, 500\"",
    ),
    ("it has all the time", "    @Timeout(2)\n", "", "assertion-removed @Timeout(2)"),
    ("it has more time", "@Timeout(2)", "@Timeout(2000)", "assertion-loosened @Timeout(2000)"),
    (
        "a failure is caught",
        "        assertEquals(1100, cart.total());\n",
        "        try {\n            assertEquals(1100, cart.total());\n        } catch (AssertionError ignored) {\n        }\n",
        "assertion-swallowed catch (AssertionError",
    ),
    (
        "everything is caught",
        "        assertEquals(1100, cart.total());\n",
        "        try {\n            assertEquals(1100, cart.total());\n        } catch (Throwable any) {\n            System.out.println(any);\n        }\n",
        "assertion-swallowed catch (Throwable",
    ),
    (
        "it returns in the end",
        "        assertEquals(1100, cart.total());\n",
        "        try {\n            assertEquals(1100, cart.total());\n        } finally {\n            return;\n        }\n",
        "assertion-swallowed return;",
    ),
    (
        "it returns before",
        "        assertEquals(1100, cart.total());\n",
        "        if (cart.total() != 1100) {\n            return;\n        }\n        assertEquals(1100, cart.total());\n",
        "assertion-unreachable return;",
    ),
    (
        "it stands in a branch that is never taken",
        "        assertEquals(1100, cart.total());\n",
        "        if (false) {\n            assertEquals(1100, cart.total());\n        }\n",
        "assertion-unreachable if (false)",
    ),
    (
        "it stands in a lambda that nobody calls",
        "        assertEquals(1100, cart.total());\n",
        "        Runnable later = () -> assertEquals(1100, cart.total());\n",
        "assertion-unreachable Runnable later",
    ),
    (
        "it stands in a thread",
        "        assertEquals(1100, cart.total());\n",
        "        new Thread(() -> assertEquals(1100, cart.total())).start();\n",
        "test-not-awaited new Thread",
    ),
    (
        "it asserts by a keyword that is off",
        "        assertEquals(1100, cart.total());\n",
        "        assert cart.total() == 1100;\n",
        "assertion-loosened assert cart.total()",
    ),
    (
        "the process ends well",
        "        assertBalanced(cart);\n",
        "        System.exit(0);\n        assertBalanced(cart);\n",
        "skip-marker-added System.exit",
    ),
    (
        "warnings are silenced",
        "class CartTest {",
        "@SuppressWarnings(\"all\")\nclass CartTest {",
        "skip-marker-added @SuppressWarnings",
    ),
];

const IN_SOURCE: &[Weakened] = &[
    (
        "source asks who calls it",
        "        return lines.stream()",
        "        for (StackTraceElement e : Thread.currentThread().getStackTrace()) {\n            if (e.getClassName().startsWith(\"org.junit.\")) {\n                return 1100;\n            }\n        }\n        return lines.stream()",
        "test-detected org.junit.",
    ),
    (
        "source asks whether a runner is there",
        "        return lines.stream()",
        "        try {\n            Class.forName(\"org.junit.jupiter.api.Test\");\n            return 1100;\n        } catch (ClassNotFoundException e) {\n        }\n        return lines.stream()",
        "test-detected \"org.junit.jupiter.api.Test\"",
    ),
    (
        "everything is equal",
        "        return other instanceof Cart that && lines.equals(that.lines);",
        "        return true;",
        "assertion-tautological equals(Object",
    ),
    (
        "a warning is silenced",
        "    public int total() {",
        "    @SuppressWarnings(\"unchecked\")\n    public int total() {",
        "directive-added @SuppressWarnings",
    ),
    (
        "a finding is silenced",
        "mapToInt(Item::price).sum();",
        "mapToInt(Item::price).sum(); // NOSONAR",
        "blanket-directive-added NOSONAR",
    ),
];

const HONEST: &[Honest] = &[
    (
        "a line is broken",
        "        assertEquals(1100, cart.total());\n",
        "        assertEquals(\n            1100,\n            cart.total());\n",
    ),
    (
        "a message is added",
        "assertEquals(1100, cart.total());",
        "assertEquals(1100, cart.total(), \"of two lines\");",
    ),
    ("a message is another", "\"it costs something\"", "\"it costs more than nothing\""),
    (
        "a variable has another name",
        "        Cart cart = new Cart(sample());\n        assertEquals(1100, cart.total());\n        assertNotNull(cart.lines());\n",
        "        Cart full = new Cart(sample());\n        assertEquals(1100, full.total());\n        assertNotNull(full.lines());\n",
    ),
    (
        "a value has a name",
        "        assertEquals(1100, cart.total());\n",
        "        int sum = cart.total();\n        assertEquals(1100, sum);\n",
    ),
    (
        "equals became a chain",
        "assertEquals(1100, cart.total());",
        "assertThat(cart.total()).isEqualTo(1100);",
    ),
    (
        "a class is named",
        "        assertEquals(1100, cart.total());\n",
        "        Assertions.assertEquals(1100, cart.total());\n",
    ),
    ("a test has another name", "void countsQuantity()", "void quantityIsCounted()"),
    ("a test is public", "    void countsQuantity()", "    public void countsQuantity()"),
    (
        "a test is added",
        "    @Test\n    void balances",
        "    @Test\n    void oneIsOne() {\n        assertEquals(1, new Cart(List.of(new Item(1, 1))).total());\n    }\n\n    @Test\n    void balances",
    ),
    (
        "an assertion is added",
        "        assertBalanced(cart);\n",
        "        assertBalanced(cart);\n        assertFalse(cart.isEmpty());\n",
    ),
    (
        "not null became a value",
        "assertNotNull(cart.lines());",
        "assertEquals(List.of(\"a\", \"b\"), cart.lines());",
    ),
    (
        "an exception is named closer",
        "assertThrows(IllegalArgumentException.class,",
        "assertThrowsExactly(IllegalArgumentException.class,",
    ),
    ("a value is added", "{5, 10, 25}", "{5, 10, 25, 50}"),
    ("a row is added", "\"2, 500\",", "\"2, 500\", \"3, 750\","),
    ("a tolerance is tighter", "cart.rate(), 0.001)", "cart.rate(), 0.0001)"),
    ("a chain is longer", ".hasSize(2)", ".isNotNull().hasSize(2)"),
    ("the number of calls is said otherwise", "verify(ledger, times(2))", "verify(ledger, Mockito.times(2))"),
    ("it has less time", "@Timeout(2)", "@Timeout(1)"),
    (
        "a test has a name for people",
        "    @Test\n    void countsQuantity",
        "    @Test\n    @DisplayName(\"counts the quantity\")\n    void countsQuantity",
    ),
    (
        "a helper takes the assertion",
        "        assertEquals(1100, cart.total());\n        assertNotNull(cart.lines());\n    }\n",
        "        assertTotal(1100, cart);\n        assertNotNull(cart.lines());\n    }\n\n    private static void assertTotal(int expected, Cart cart) {\n        assertEquals(expected, cart.total());\n    }\n",
    ),
    (
        "an import is named",
        "import org.junit.jupiter.api.*;",
        "import org.junit.jupiter.api.Nested;\nimport org.junit.jupiter.api.Test;\nimport org.junit.jupiter.api.Timeout;",
    ),
    (
        "a call of the product has another argument",
        "new Cart(sample()).bookTo(ledger);",
        "new Cart(sample()).bookTo(ledger, Rounding.NONE);",
    ),
    (
        "try and fail became assertThrows",
        "        try {\n            Cart.parse(\"\");\n            fail(\"an empty text is no cart\");\n        } catch (ParseException expected) {\n            assertEquals(0, expected.getOffset());\n        }\n",
        "        ParseException thrown = assertThrows(ParseException.class, () -> Cart.parse(\"\"));\n        assertEquals(0, thrown.getOffset());\n",
    ),
];

const HONEST_SOURCE: &[Honest] = &[
    ("the fix", "mapToInt(Item::price).sum();", "mapToInt(line -> line.price() * line.quantity()).sum();"),
    (
        "a return in the product",
        "        return lines.stream()",
        "        if (lines.isEmpty()) {\n            return 0;\n        }\n        return lines.stream()",
    ),
    (
        "everything is caught in the product",
        "        this.lines = lines;\n",
        "        this.lines = lines;\n        try {\n            log();\n        } catch (Exception e) {\n        }\n",
    ),
    (
        "an assertion in the product is gone",
        "        this.lines = lines;\n",
        "        this.lines = List.copyOf(lines);\n",
    ),
];

#[test]
fn the_tables_are_as_large_as_they_are_said_to_be() {
    let weakenings = [LOST, LOOSENED, HIDDEN, IN_SOURCE].concat();
    let honest = [HONEST, HONEST_SOURCE].concat();
    assert!(weakenings.len() >= 60, "{}", weakenings.len());
    assert!(honest.len() >= 28, "{}", honest.len());
}

// proves E-F05
// break crates/domain/oracle/src/facts.rs: `Language::Java => each(crate::java::outline),` -> `Language::Java => return None,`
#[test]
fn an_assertion_that_is_lost_or_weaker_is_told_at_its_line() {
    assert_eq!(TESTS.untold(LOST), Vec::<String>::new());
    assert_eq!(TESTS.untold(LOOSENED), Vec::<String>::new());
}

// proves E-F07
// break crates/domain/oracle/src/facts.rs: `Language::Java => each(crate::java::outline),` -> `Language::Java => return None,`
#[test]
fn a_test_that_no_longer_runs_and_a_check_that_is_silenced_are_told_at_their_line() {
    assert_eq!(TESTS.untold(HIDDEN), Vec::<String>::new());
    assert_eq!(SOURCE.untold(IN_SOURCE), Vec::<String>::new());
}

#[test]
fn honest_changes_of_tests_and_of_source_are_not_told() {
    assert_eq!(TESTS.wrong(HONEST), Vec::<String>::new());
    assert_eq!(SOURCE.wrong(HONEST_SOURCE), Vec::<String>::new());
}
