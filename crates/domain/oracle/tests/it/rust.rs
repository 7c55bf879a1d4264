//! Rust: what weakens its tests, and what does not.

use crate::edits::{Base, Honest, Weakened};
use crate::{facts, guard, told};

/// A file of integration tests.
const TESTS: Base = Base {
    path: "tests/cart.rs",
    text: r##"use cart::{parse, total, Item, Ledger};

mod helpers;

fn sample() -> Vec<Item> {
    vec![Item { price: 250, qty: 4 }, Item { price: 100, qty: 1 }]
}

fn assert_balanced(ledger: &Ledger) {
    assert_eq!(ledger.debits(), ledger.credits());
}

#[test]
fn counts_quantity() {
    let items = sample();
    assert_eq!(total(&items), 1100);
}

#[test]
fn empty_is_zero() {
    assert_eq!(total(&[]), 0);
    assert!(total(&[]) < 1, "nothing costs nothing");
}

#[test]
#[should_panic(expected = "negative quantity")]
fn rejects_negative() {
    Item::new(100, -1);
}

#[test]
fn parses() -> Result<(), cart::Error> {
    let items = parse("250x4,100x1")?;
    assert_eq!(items.len(), 2, "both are read");
    assert!(matches!(items[0], Item { price: 250, .. }));
    assert!((items[0].rate() - 2.5).abs() < 0.001);
    check(&items)?;
    Ok(())
}

#[test]
fn fails_on_garbage() {
    let error = parse("x").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Syntax);
    assert!(matches!(parse("1x"), Err(cart::Error::Truncated)));
}

#[test]
fn every_discount_holds() {
    for percent in [5, 10, 25] {
        assert!(discounted(&sample(), percent) < total(&sample()));
    }
}

#[test]
fn ledger_balances() {
    let ledger = Ledger::of(&sample());
    assert_balanced(&ledger);
    assert_ne!(ledger.debits(), 0);
}

#[rstest]
#[case(1, 250)]
#[case(2, 500)]
#[case(0, 0)]
fn scales(#[case] qty: u64, #[case] expected: u64) {
    assert_eq!(total(&[Item { price: 250, qty }]), expected);
}

#[tokio::test]
async fn stores_and_loads() {
    let store = open().await.unwrap();
    check_roundtrip(&store).await;
    let handle = tokio::spawn(async move { assert_eq!(store.load(1).await, sample()) });
    handle.await.unwrap();
}

#[test]
fn renders() {
    insta::assert_snapshot!(render(&sample()), @"2 items, 1100");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn order_does_not_matter(mut items in vec(any_item(), 0..8)) {
        let before = total(&items);
        items.reverse();
        prop_assert_eq!(total(&items), before);
    }
}

macro_rules! price_tests {
    ($($name:ident: $qty:expr => $expected:expr,)*) => {
        $(
            #[test]
            fn $name() {
                assert_eq!(total(&[Item { price: 250, qty: $qty }]), $expected);
            }
        )*
    };
}

price_tests! {
    one: 1 => 250,
    two: 2 => 500,
}
"##,
};

/// A source file with its tests in it.
const SOURCE: Base = Base {
    path: "src/lib.rs",
    text: r##"//! Shopping cart totals.
#![warn(missing_docs)]

mod parse;

/// A line of a cart.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// In cents.
    pub price: u64,
    /// How many.
    pub qty: u64,
}

/// Sum of price times quantity in cents.
pub fn total(items: &[Item]) -> u64 {
    debug_assert!(items.len() < 1000);
    items.iter().map(|i| i.price).sum()
}

impl Item {
    /// A line.
    pub fn new(price: u64, qty: u64) -> Self {
        assert!(qty > 0, "a line has a quantity");
        Self { price, qty }
    }
}

impl Eq for Item {}

#[cfg(test)]
mod tests {
    use super::*;

    fn item() -> Item {
        Item { price: 2, qty: 3 }
    }

    #[test]
    fn one_line() {
        assert_eq!(total(&[item()]), 6);
    }

    #[test]
    fn empty_is_zero() {
        assert_eq!(total(&[]), 0);
    }
}

#[cfg(test)]
mod more_tests;
"##,
};

const LOST: &[Weakened] = &[
    (
        "an assertion is gone",
        "    assert_ne!(ledger.debits(), 0);\n",
        "",
        "assertion-removed assert_ne!(ledger",
    ),
    (
        "an assertion is a comment",
        "    assert_ne!(ledger",
        "    // assert_ne!(ledger",
        "assertion-removed assert_ne!(ledger",
    ),
    (
        "an assertion is a string",
        "    assert_eq!(total(&items), 1100);",
        "    let _ = \"assert_eq!(total(&items), 1100);\";",
        "assertion-removed assert_eq!(total(&items), 1100)",
    ),
    (
        "the call alone is left",
        "assert_ne!(ledger.debits(), 0);",
        "let _ = ledger.debits();",
        "assertion-removed assert_ne!(ledger",
    ),
    (
        "an assertion is put into a macro that drops it",
        "    assert_ne!(ledger.debits(), 0);",
        "    drop_it!(assert_ne!(ledger.debits(), 0));",
        "assertion-unreachable drop_it!",
    ),
    (
        "a checking helper is no longer called",
        "    assert_balanced(&ledger);\n",
        "",
        "assertion-removed assert_balanced(&ledger)",
    ),
    (
        "a checking helper checks nothing",
        "    assert_eq!(ledger.debits(), ledger.credits());",
        "    let _ = ledger;",
        "assertion-removed assert_eq!(ledger.debits(), ledger.credits())",
    ),
    (
        "a helper that is awaited is gone",
        "    check_roundtrip(&store).await;\n",
        "    let _ = &store;\n",
        "assertion-removed check_roundtrip",
    ),
    (
        "a test is gone",
        "#[test]\nfn ledger_balances() {\n    let ledger = Ledger::of(&sample());\n    assert_balanced(&ledger);\n    assert_ne!(ledger.debits(), 0);\n}\n",
        "",
        "test-removed fn ledger_balances",
    ),
    ("a test of a macro is gone", "    two: 2 => 500,\n", "", "parameter-dropped two: 2 => 500"),
    (
        "it only asserts in debug builds",
        "    assert_eq!(total(&items), 1100);",
        "    debug_assert_eq!(total(&items), 1100);",
        "assertion-loosened debug_assert_eq!",
    ),
    (
        "a test is emptied",
        "    Item::new(100, -1);\n",
        "    panic!(\"negative quantity\");\n",
        "assertion-tautological panic!(",
    ),
];

const LOOSENED: &[Weakened] = &[
    (
        "equality became an order",
        "assert_eq!(total(&items), 1100);",
        "assert!(total(&items) > 0);",
        "assertion-loosened assert!(total(&items) > 0)",
    ),
    (
        "equality became difference",
        "assert_eq!(error.kind(), ErrorKind::Syntax);",
        "assert_ne!(error.kind(), ErrorKind::Io);",
        "assertion-loosened assert_ne!(error.kind()",
    ),
    (
        "a value became any value",
        "assert_eq!(items.len(), 2, \"both are read\");",
        "assert!(!items.is_empty(), \"both are read\");",
        "assertion-loosened assert!(!items.is_empty()",
    ),
    (
        "an error became any error",
        "assert!(matches!(parse(\"1x\"), Err(cart::Error::Truncated)));",
        "assert!(parse(\"1x\").is_err());",
        "assertion-loosened assert!(parse(\"1x\").is_err())",
    ),
    ("a pattern is wider", "Item { price: 250, .. }", "Item { .. }", "assertion-loosened Item { .. }"),
    (
        "a pattern has an alternative",
        "Err(cart::Error::Truncated)",
        "Err(cart::Error::Truncated) | Ok(_)",
        "assertion-loosened | Ok(_)",
    ),
    ("a pattern takes anything", "Err(cart::Error::Truncated)", "_", "assertion-loosened parse(\"1x\"), _"),
    ("a tolerance is wider", "abs() < 0.001", "abs() < 1.0", "assertion-loosened < 1.0"),
    (
        "an order takes more",
        "assert!(total(&[]) < 1,",
        "assert!(total(&[]) <= 1,",
        "assertion-loosened total(&[]) <= 1",
    ),
    (
        "a condition has an alternative",
        "assert!(total(&[]) < 1,",
        "assert!(total(&[]) < 1 || cfg!(unix),",
        "assertion-loosened || cfg!(unix)",
    ),
    (
        "a panic may be any panic",
        "#[should_panic(expected = \"negative quantity\")]",
        "#[should_panic]",
        "assertion-loosened #[should_panic]",
    ),
    (
        "the text of a panic is less of it",
        "expected = \"negative quantity\"",
        "expected = \"\"",
        "assertion-loosened #[should_panic",
    ),
    (
        "only one half is compared",
        "assert_eq!(ledger.debits(), ledger.credits());",
        "assert!(ledger.debits() >= ledger.credits());",
        "assertion-loosened assert!(ledger.debits() >=",
    ),
    (
        "it always holds",
        "assert_ne!(ledger.debits(), 0);",
        "assert!(true);",
        "assertion-tautological assert!(true)",
    ),
    (
        "a thing is compared with itself",
        "assert_eq!(total(&items), 1100);",
        "assert_eq!(total(&items), total(&items));",
        "assertion-tautological total(&items), total(&items)",
    ),
    (
        "a condition is or'ed with what holds",
        "assert!(total(&[]) < 1,",
        "assert!(total(&[]) < 1 || true,",
        "assertion-tautological || true",
    ),
    (
        "a length is at least nothing",
        "assert_eq!(items.len(), 2,",
        "assert!(items.len() >= 0,",
        "assertion-tautological items.len() >= 0",
    ),
    (
        "an error is an error or none",
        "assert!(matches!(parse(\"1x\"), Err(cart::Error::Truncated)));",
        "let got = parse(\"1x\");\n    assert!(got.is_err() || got.is_ok());",
        "assertion-loosened got.is_err() || got.is_ok()",
    ),
    (
        "a result became whether there is one",
        "assert_eq!(error.kind(), ErrorKind::Syntax);",
        "assert!(Some(error.kind()).is_some());",
        "assertion-loosened is_some()",
    ),
];

const EXPECTED: &[Weakened] = &[
    (
        "a number is another",
        "assert_eq!(total(&items), 1100);",
        "assert_eq!(total(&items), 350);",
        "expectation-changed 350",
    ),
    (
        "a variant is another",
        "ErrorKind::Syntax",
        "ErrorKind::Unknown",
        "expectation-changed ErrorKind::Unknown",
    ),
    ("a pattern is another", "Err(cart::Error::Truncated)", "Ok(None)", "expectation-changed Ok(None)"),
    (
        "the text of a panic is another",
        "\"negative quantity\"",
        "\"overflow\"",
        "expectation-changed \"overflow\"",
    ),
    (
        "a condition is its opposite",
        "assert!(total(&[]) < 1,",
        "assert!(total(&[]) >= 1,",
        "expectation-changed total(&[]) >= 1",
    ),
    (
        "an inline snapshot is another",
        "@\"2 items, 1100\"",
        "@\"2 items, 350\"",
        "snapshot-changed @\"2 items, 350\"",
    ),
    (
        "a case of a table is another",
        "#[case(2, 500)]",
        "#[case(2, 250)]",
        "expectation-changed #[case(2, 250)]",
    ),
    ("a case of a macro is another", "two: 2 => 500", "two: 2 => 250", "expectation-changed two: 2 => 250"),
];

const UNREACHED: &[Weakened] = &[
    (
        "it returns before",
        "    let items = sample();\n",
        "    let items = sample();\n    if items.len() > 1 {\n        return;\n    }\n",
        "assertion-unreachable return;",
    ),
    (
        "it returns with success before",
        "    let items = parse(\"250x4,100x1\")?;\n",
        "    return Ok(());\n    #[allow(unreachable_code)]\n    let items = parse(\"250x4,100x1\")?;\n",
        "assertion-unreachable return Ok(())",
    ),
    (
        "it stands in a branch that is never taken",
        "    assert_eq!(total(&items), 1100);",
        "    if false {\n        assert_eq!(total(&items), 1100);\n    }",
        "assertion-unreachable if false",
    ),
    (
        "it stands in a branch that asks the environment",
        "    assert_eq!(total(&items), 1100);",
        "    if std::env::var(\"FULL\").is_ok() {\n        assert_eq!(total(&items), 1100);\n    }",
        "assertion-unreachable env::var",
    ),
    (
        "it stands in a loop over nothing",
        "[5, 10, 25]",
        "[] as [u64; 0]",
        "assertion-unreachable for percent in []",
    ),
    (
        "it stands in a loop over an empty range",
        "for percent in [5, 10, 25]",
        "for percent in 0..0",
        "assertion-unreachable 0..0",
    ),
    ("a loop has fewer values", "[5, 10, 25]", "[5]", "parameter-dropped [5, 10, 25]"),
    (
        "it stands in a closure that nobody calls",
        "    assert_eq!(total(&items), 1100);",
        "    let _check = || assert_eq!(total(&items), 1100);",
        "assertion-unreachable let _check",
    ),
    (
        "it stands in a function that nobody calls",
        "    assert_eq!(total(&items), 1100);",
        "    fn later(items: &[Item]) {\n        assert_eq!(total(items), 1100);\n    }",
        "assertion-unreachable fn later",
    ),
    (
        "it is not built in",
        "    assert_eq!(total(&items), 1100);",
        "    #[cfg(any())]\n    assert_eq!(total(&items), 1100);",
        "assertion-unreachable #[cfg(any())]",
    ),
    (
        "the process ends with success",
        "    let ledger = Ledger::of(&sample());\n",
        "    let ledger = Ledger::of(&sample());\n    std::process::exit(0);\n",
        "skip-marker-added process::exit",
    ),
    (
        "only where it has a value",
        "    assert_eq!(error.kind(), ErrorKind::Syntax);",
        "    if let Some(kind) = error.known_kind() {\n        assert_eq!(kind, ErrorKind::Syntax);\n    }",
        "assertion-unreachable if let Some(kind)",
    ),
];

const SWALLOWED: &[Weakened] = &[
    (
        "a panic is caught",
        "    assert_eq!(total(&items), 1100);",
        "    let _ = std::panic::catch_unwind(|| assert_eq!(total(&items), 1100));",
        "assertion-swallowed catch_unwind",
    ),
    (
        "a result is dropped",
        "    check(&items)?;",
        "    let _ = check(&items);",
        "assertion-swallowed let _ = check",
    ),
    (
        "a result is made an option",
        "    check(&items)?;",
        "    check(&items).ok();",
        "assertion-swallowed .ok()",
    ),
    (
        "a task is joined and its panic dropped",
        "    handle.await.unwrap();",
        "    let _ = handle.await;",
        "assertion-swallowed let _ = handle.await",
    ),
    ("a task is not joined", "    handle.await.unwrap();\n", "", "test-not-awaited tokio::spawn"),
    (
        "a helper is not awaited",
        "    check_roundtrip(&store).await;",
        "    let _ = check_roundtrip(&store);",
        "test-not-awaited let _ = check_roundtrip",
    ),
    (
        "a thread is left alone",
        "    assert_eq!(total(&items), 1100);",
        "    std::thread::spawn(move || assert_eq!(total(&items), 1100));",
        "test-not-awaited thread::spawn",
    ),
    (
        "an error ends the test with success",
        "    let items = parse(\"250x4,100x1\")?;",
        "    let Ok(items) = parse(\"250x4,100x1\") else { return Ok(()) };",
        "assertion-unreachable return Ok(())",
    ),
];

const HIDDEN: &[Weakened] = &[
    (
        "it is ignored",
        "#[test]\nfn counts_quantity",
        "#[test]\n#[ignore]\nfn counts_quantity",
        "skip-marker-added #[ignore]",
    ),
    (
        "it is ignored for a reason",
        "#[test]\nfn counts_quantity",
        "#[test]\n#[ignore = \"slow\"]\nfn counts_quantity",
        "skip-marker-added #[ignore",
    ),
    (
        "it is ignored on a condition",
        "#[test]\nfn counts_quantity",
        "#[test]\n#[cfg_attr(not(miri), ignore)]\nfn counts_quantity",
        "skip-marker-added cfg_attr",
    ),
    (
        "it is ignored among other attributes",
        "#[test]\nfn counts_quantity",
        "#[test]\n#[cfg_attr(all(), allow(unused), ignore = \"x\")]\nfn counts_quantity",
        "skip-marker-added cfg_attr",
    ),
    (
        "it is never built",
        "#[test]\nfn counts_quantity",
        "#[cfg(any())]\n#[test]\nfn counts_quantity",
        "skip-marker-added #[cfg(any())]",
    ),
    (
        "it is built for a feature",
        "#[test]\nfn counts_quantity",
        "#[cfg(feature = \"slow-tests\")]\n#[test]\nfn counts_quantity",
        "skip-marker-added #[cfg(feature",
    ),
    (
        "it is built elsewhere",
        "#[test]\nfn counts_quantity",
        "#[test]\n#[cfg(target_os = \"haiku\")]\nfn counts_quantity",
        "skip-marker-added #[cfg(target_os",
    ),
    (
        "the file is never built",
        "use cart::{parse,",
        "#![cfg(any())]\nuse cart::{parse,",
        "skip-marker-added #![cfg(any())]",
    ),
    (
        "the file is built for a feature",
        "use cart::{parse,",
        "#![cfg(feature = \"full\")]\nuse cart::{parse,",
        "skip-marker-added #![cfg(feature",
    ),
    (
        "it is no test",
        "#[test]\nfn counts_quantity",
        "#[allow(dead_code)]\nfn counts_quantity",
        "test-uncollected fn counts_quantity",
    ),
    (
        "it is a test on a condition",
        "#[test]\nfn counts_quantity",
        "#[cfg_attr(feature = \"slow\", test)]\nfn counts_quantity",
        "test-uncollected fn counts_quantity",
    ),
    (
        "it stands in a comment",
        "#[test]\nfn ledger_balances() {\n    let ledger = Ledger::of(&sample());\n    assert_balanced(&ledger);\n    assert_ne!(ledger.debits(), 0);\n}\n",
        "/*\n#[test]\nfn ledger_balances() {\n    let ledger = Ledger::of(&sample());\n    assert_balanced(&ledger);\n    assert_ne!(ledger.debits(), 0);\n}\n*/\n",
        "test-removed fn ledger_balances",
    ),
    (
        "it must panic",
        "#[test]\nfn counts_quantity",
        "#[test]\n#[should_panic]\nfn counts_quantity",
        "skip-marker-added #[should_panic]",
    ),
    (
        "it need not panic",
        "#[should_panic(expected = \"negative quantity\")]\nfn rejects_negative() {\n    Item::new(100, -1);",
        "fn rejects_negative() {\n    let _ = Item::new(100, 1);",
        "assertion-removed #[should_panic",
    ),
    ("a case is gone", "#[case(2, 500)]\n", "", "parameter-dropped #[case(2, 500)]"),
    ("a property has fewer cases", "with_cases(256)", "with_cases(1)", "parameter-dropped with_cases(1)"),
    (
        "a property assumes its outcome",
        "        items.reverse();\n",
        "        items.reverse();\n        prop_assume!(total(&items) == before);\n",
        "assertion-unreachable prop_assume!",
    ),
    (
        "a module of tests is not built",
        "mod helpers;\n",
        "#[cfg(any())]\nmod helpers;\n",
        "skip-marker-added #[cfg(any())]",
    ),
    (
        "an async test is no test",
        "#[tokio::test]\nasync fn stores",
        "#[allow(dead_code)]\nasync fn stores",
        "test-uncollected fn stores_and_loads",
    ),
    (
        "a nested item hides it",
        "#[test]\nfn counts_quantity() {\n    let items = sample();\n    assert_eq!(total(&items), 1100);\n}\n",
        "fn outer() {\n    #[test]\n    fn counts_quantity() {\n        let items = sample();\n        assert_eq!(total(&items), 1100);\n    }\n}\n",
        "test-uncollected fn counts_quantity",
    ),
];

const IN_SOURCE: &[Weakened] = &[
    (
        "an inline test is ignored",
        "    #[test]\n    fn one_line",
        "    #[test]\n    #[ignore]\n    fn one_line",
        "skip-marker-added #[ignore]",
    ),
    (
        "an inline test is gone",
        "    #[test]\n    fn one_line() {\n        assert_eq!(total(&[item()]), 6);\n    }\n\n",
        "",
        "test-removed fn one_line",
    ),
    (
        "an inline expectation is another",
        "assert_eq!(total(&[item()]), 6);",
        "assert_eq!(total(&[item()]), 2);",
        "expectation-changed 2);",
    ),
    (
        "the tests are never built",
        "#[cfg(test)]\nmod tests {",
        "#[cfg(any())]\nmod tests {",
        "skip-marker-added #[cfg(any())]",
    ),
    (
        "the tests are built for a feature",
        "#[cfg(test)]\nmod tests {",
        "#[cfg(all(test, feature = \"slow\"))]\nmod tests {",
        "skip-marker-added #[cfg(all(test, feature",
    ),
    (
        "a module of tests is no longer named",
        "#[cfg(test)]\nmod more_tests;\n",
        "",
        "test-uncollected mod more_tests;",
    ),
    (
        "a module of tests lies elsewhere",
        "#[cfg(test)]\nmod more_tests;\n",
        "#[cfg(test)]\n#[path = \"fewer_tests.rs\"]\nmod more_tests;\n",
        "test-uncollected #[path",
    ),
    (
        "source asks whether it is tested",
        "    items.iter().map(|i| i.price).sum()",
        "    if cfg!(test) {\n        return 6;\n    }\n    items.iter().map(|i| i.price).sum()",
        "test-detected cfg!(test)",
    ),
    (
        "source is another when tested",
        "pub fn total(items: &[Item]) -> u64 {\n    debug_assert!(items.len() < 1000);\n    items.iter().map(|i| i.price).sum()\n}\n",
        "#[cfg(test)]\npub fn total(_: &[Item]) -> u64 {\n    6\n}\n/// The same.\n#[cfg(not(test))]\npub fn total(items: &[Item]) -> u64 {\n    items.iter().map(|i| i.price).sum()\n}\n",
        "test-detected #[cfg(",
    ),
    (
        "a statement is another when tested",
        "    items.iter().map(|i| i.price).sum()",
        "    #[cfg(test)]\n    return 6;\n    items.iter().map(|i| i.price).sum()",
        "test-detected #[cfg(test)]",
    ),
    (
        "source looks at the name of its process",
        "    items.iter().map(|i| i.price).sum()",
        "    if std::env::args().any(|a| a.contains(\"--test-threads\")) || std::env::var_os(\"NEXTEST\").is_some() {\n        return 6;\n    }\n    items.iter().map(|i| i.price).sum()",
        "test-detected NEXTEST",
    ),
    (
        "source looks at the name of its thread",
        "    items.iter().map(|i| i.price).sum()",
        "    if std::thread::current().name() == Some(\"tests::one_line\") {\n        return 6;\n    }\n    items.iter().map(|i| i.price).sum()",
        "test-detected \"tests::one_line\"",
    ),
    (
        "everything is equal",
        "#[derive(Clone, Debug, PartialEq)]\npub struct Item {",
        "impl PartialEq for Item {\n    fn eq(&self, _: &Self) -> bool {\n        true\n    }\n}\n\n#[derive(Clone, Debug)]\npub struct Item {",
        "assertion-tautological fn eq",
    ),
    (
        "a macro of the same name asserts nothing",
        "mod parse;\n",
        "mod parse;\n\nmacro_rules! assert_eq {\n    ($($any:tt)*) => {};\n}\n",
        "assertion-tautological macro_rules! assert_eq",
    ),
    (
        "every lint is silenced",
        "#![warn(missing_docs)]\n",
        "#![warn(missing_docs)]\n#![allow(warnings)]\n",
        "skip-marker-added #![allow(warnings)]",
    ),
    (
        "a lint is silenced",
        "pub fn total(",
        "#[allow(clippy::all)]\npub fn total(",
        "skip-marker-added #[allow(clippy::all)]",
    ),
    (
        "a lint is expected",
        "pub fn total(",
        "#[expect(unused)]\npub fn total(",
        "skip-marker-added #[expect(unused)]",
    ),
    (
        "a lint is silenced on a condition",
        "pub fn total(",
        "#[cfg_attr(all(), allow(unused))]\npub fn total(",
        "skip-marker-added cfg_attr",
    ),
    ("a lint is no longer on", "#![warn(missing_docs)]\n", "", "check-silenced #![warn(missing_docs)]"),
];

const HONEST_TESTS: &[Honest] = &[
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

const HONEST_SOURCE: &[Honest] = &[
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

#[test]
fn the_tables_are_as_large_as_they_are_said_to_be() {
    let weakenings = [LOST, LOOSENED, EXPECTED, UNREACHED, SWALLOWED, HIDDEN, IN_SOURCE].concat();
    let honest = [HONEST_TESTS, HONEST_SOURCE].concat();
    assert!(weakenings.len() >= 90, "{}", weakenings.len());
    assert!(honest.len() >= 45, "{}", honest.len());
}

// proves E-F05
#[test]
fn an_assertion_that_is_lost_or_weaker_is_told_at_its_line() {
    let table = [LOST, LOOSENED, EXPECTED, UNREACHED, SWALLOWED].concat();
    assert_eq!(TESTS.untold(&table), Vec::<String>::new());
}

// proves E-F07
#[test]
fn a_test_that_no_longer_runs_is_told_at_its_line() {
    assert_eq!(TESTS.untold(HIDDEN), Vec::<String>::new());
}

// proves E-F05 E-F07
#[test]
fn what_is_done_to_a_source_file_with_tests_in_it_is_told_at_its_line() {
    assert_eq!(SOURCE.untold(IN_SOURCE), Vec::<String>::new());
}

#[test]
fn honest_changes_of_tests_and_of_source_are_not_told() {
    assert_eq!(TESTS.wrong(HONEST_TESTS), Vec::<String>::new());
    assert_eq!(SOURCE.wrong(HONEST_SOURCE), Vec::<String>::new());
}

#[test]
fn tests_may_move_between_files_and_modules_and_not_out_of_both() {
    let test = "#[test]\nfn one() {\n    assert_eq!(f(), 1);\n}\n";
    let inline = format!("#[cfg(test)]\nmod tests {{\n{test}}}\n");
    for (from, to) in [("tests/a.rs", "tests/b.rs"), ("src/a.rs", "tests/b.rs"), ("tests/a.rs", "src/b.rs")] {
        let held = |path: &str| if path.starts_with("src") { inline.clone() } else { test.to_owned() };
        let moved =
            [(from, Some(held(from)), Some(String::new())), (to, Some(String::new()), Some(held(to)))];
        let moved =
            moved.each_ref().map(|(path, before, after)| (*path, before.as_deref(), after.as_deref()));
        assert_eq!(facts(&guard(), &moved), [], "{from} {to}");
    }
    assert_eq!(told("tests/a.rs", test, "").len(), 1);
}
