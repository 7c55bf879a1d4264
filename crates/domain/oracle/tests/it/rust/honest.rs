//! Edits that weaken nothing.

use crate::edits::Honest;

pub(super) const HONEST_TESTS: &[Honest] = &[
    (
        "a line is broken",
        "    assert_eq!(total(&items), 1100);",
        "    assert_eq!(\n        total(&items),\n        1100,\n    );",
    ),
    (
        "a message is added",
        "assert_eq!(total(&items), 1100);",
        "assert_eq!(total(&items), 1100, \"of {items:?}\");",
    ),
    ("a message is another", "\"both are read\"", "\"both lines are read\""),
    ("a comment is added", "    let items = sample();\n", "    // Two lines.\n    let items = sample();\n"),
    (
        "a variable has another name",
        "    let items = sample();\n    assert_eq!(total(&items), 1100);",
        "    let cart = sample();\n    assert_eq!(total(&cart), 1100);",
    ),
    (
        "a value is put in place",
        "    let items = sample();\n    assert_eq!(total(&items), 1100);",
        "    assert_eq!(total(&sample()), 1100);",
    ),
    (
        "a value has a name",
        "    assert_eq!(total(&items), 1100);",
        "    let sum = total(&items);\n    assert_eq!(sum, 1100);",
    ),
    ("the sides change places", "assert_eq!(total(&items), 1100);", "assert_eq!(1100, total(&items));"),
    ("a test has another name", "fn counts_quantity()", "fn quantity_is_counted()"),
    (
        "a test has another name and place",
        "#[test]\nfn counts_quantity() {\n    let items = sample();\n    assert_eq!(total(&items), 1100);\n}\n",
        "mod quantities {\n    use super::*;\n\n    #[test]\n    fn are_counted() {\n        let items = sample();\n        assert_eq!(total(&items), 1100);\n    }\n}\n",
    ),
    (
        "a test is added",
        "#[test]\nfn ledger_balances",
        "#[test]\nfn one_is_one() {\n    assert_eq!(total(&[Item { price: 1, qty: 1 }]), 1);\n}\n\n#[test]\nfn ledger_balances",
    ),
    (
        "a test that must panic is added",
        "#[test]\nfn ledger_balances",
        "#[test]\n#[should_panic]\nfn zero_is_refused() {\n    Item::new(1, 0);\n}\n\n#[test]\nfn ledger_balances",
    ),
    (
        "an assertion is added",
        "    assert_balanced(&ledger);\n",
        "    assert_balanced(&ledger);\n    assert!(ledger.is_closed());\n",
    ),
    (
        "a helper takes the assertion",
        "fn assert_balanced(ledger: &Ledger) {\n    assert_eq!(ledger.debits(), ledger.credits());\n}\n",
        "fn assert_balanced(ledger: &Ledger) {\n    assert_sides(ledger.debits(), ledger.credits());\n}\n\nfn assert_sides(debits: u64, credits: u64) {\n    assert_eq!(debits, credits);\n}\n",
    ),
    (
        "a helper is written out",
        "    assert_balanced(&ledger);\n",
        "    assert_eq!(ledger.debits(), ledger.credits());\n",
    ),
    ("a case is added", "#[case(2, 500)]\n", "#[case(2, 500)]\n#[case(3, 750)]\n"),
    (
        "cases are in another order",
        "#[case(1, 250)]\n#[case(2, 500)]\n",
        "#[case(2, 500)]\n#[case(1, 250)]\n",
    ),
    ("a value is added to a loop", "[5, 10, 25]", "[5, 10, 25, 50]"),
    ("a case of a macro is added", "    two: 2 => 500,\n", "    two: 2 => 500,\n    three: 3 => 750,\n"),
    ("a tolerance is tighter", "abs() < 0.001", "abs() < 0.0001"),
    ("a pattern is tighter", "Item { price: 250, .. }", "Item { price: 250, qty: 4 }"),
    (
        "is_ok became a value",
        "assert!(total(&[]) < 1, \"nothing costs nothing\");",
        "assert_eq!(total(&[]), 0, \"nothing costs nothing\");",
    ),
    ("a panic is named closer", "expected = \"negative quantity\"", "expected = \"negative quantity -1\""),
    (
        "matches became assert_matches",
        "assert!(matches!(parse(\"1x\"), Err(cart::Error::Truncated)));",
        "assert_matches!(parse(\"1x\"), Err(cart::Error::Truncated));",
    ),
    (
        "it is handed on instead of unwrapped",
        "    handle.await.unwrap();",
        "    handle.await.expect(\"the task ends well\");",
    ),
    ("a property has more cases", "with_cases(256)", "with_cases(1024)"),
    (
        "another attribute is there",
        "#[tokio::test]\nasync fn",
        "#[tokio::test(flavor = \"multi_thread\")]\nasync fn",
    ),
    (
        "imports are in another order",
        "use cart::{parse, total, Item, Ledger};",
        "use cart::{Item, Ledger, parse, total};",
    ),
    ("a path is written out", "insta::assert_snapshot!(", "assert_snapshot!("),
    (
        "tests are in another order",
        "#[test]\nfn counts_quantity() {\n    let items = sample();\n    assert_eq!(total(&items), 1100);\n}\n\n#[test]\nfn empty_is_zero() {\n    assert_eq!(total(&[]), 0);\n    assert!(total(&[]) < 1, \"nothing costs nothing\");\n}\n",
        "#[test]\nfn empty_is_zero() {\n    assert_eq!(total(&[]), 0);\n    assert!(total(&[]) < 1, \"nothing costs nothing\");\n}\n\n#[test]\nfn counts_quantity() {\n    let items = sample();\n    assert_eq!(total(&items), 1100);\n}\n",
    ),
    (
        "a call of the product has another argument",
        "    let ledger = Ledger::of(&sample());\n",
        "    let ledger = Ledger::of(&sample(), Rounding::None);\n",
    ),
    (
        "the product has another name",
        "use cart::{parse, total, Item, Ledger};",
        "use basket::{parse, total, Item, Ledger};",
    ),
    ("a check of a file that was not there", "mod helpers;\n", "mod helpers;\nmod stores;\n"),
];

pub(super) const HONEST_SOURCE: &[Honest] = &[
    ("the fix", "items.iter().map(|i| i.price).sum()", "items.iter().map(|i| i.price * i.qty).sum()"),
    ("an assertion of the product is gone", "        assert!(qty > 0, \"a line has a quantity\");\n", ""),
    (
        "an assertion of the product is for debug builds",
        "        assert!(qty > 0,",
        "        debug_assert!(qty > 0,",
    ),
    (
        "an inline test is added",
        "    #[test]\n    fn one_line",
        "    #[test]\n    fn two() {\n        assert_eq!(total(&[item(), item()]), 12);\n    }\n\n    #[test]\n    fn one_line",
    ),
    (
        "a module of tests is added",
        "#[cfg(test)]\nmod more_tests;\n",
        "#[cfg(test)]\nmod more_tests;\n#[cfg(test)]\nmod others;\n",
    ),
    (
        "a helper of tests is added",
        "impl Eq for Item {}\n",
        "impl Eq for Item {}\n\n#[cfg(test)]\nimpl Item {\n    pub(crate) fn sample() -> Self {\n        Self { price: 2, qty: 3 }\n    }\n}\n",
    ),
    (
        "an import for tests is added",
        "mod parse;\n",
        "mod parse;\n\n#[cfg(test)]\nuse std::collections::BTreeMap;\n",
    ),
    (
        "equality is by one field",
        "#[derive(Clone, Debug, PartialEq)]\npub struct Item {",
        "impl PartialEq for Item {\n    fn eq(&self, other: &Self) -> bool {\n        self.price == other.price\n    }\n}\n\n#[derive(Clone, Debug)]\npub struct Item {",
    ),
    ("a function is built for one system", "pub fn total(", "#[cfg(unix)]\npub fn total("),
    (
        "an early return in the product",
        "    debug_assert!(items.len() < 1000);\n",
        "    if items.is_empty() {\n        return 0;\n    }\n",
    ),
    ("a lint is on", "#![warn(missing_docs)]\n", "#![warn(missing_docs)]\n#![deny(unsafe_code)]\n"),
    (
        "a doc has an example",
        "/// Sum of price times quantity in cents.\n",
        "/// Sum of price times quantity in cents.\n///\n/// ```\n/// assert_eq!(cart::total(&[]), 0);\n/// ```\n",
    ),
    (
        "a result is dropped in the product",
        "        assert!(qty > 0, \"a line has a quantity\");\n",
        "        let _ = std::fs::remove_file(\"x\");\n",
    ),
];
