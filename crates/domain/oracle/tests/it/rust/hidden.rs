//! Tests that no longer run, and what is done to a source file with tests in it.

use crate::edits::Weakened;

pub(super) const HIDDEN: &[Weakened] = &[
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

pub(super) const IN_SOURCE: &[Weakened] = &[
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
        "blanket-directive-added #![allow(warnings)]",
    ),
    (
        "a lint is silenced",
        "pub fn total(",
        "#[allow(clippy::all)]\npub fn total(",
        "blanket-directive-added #[allow(clippy::all)]",
    ),
    (
        "a lint is expected",
        "pub fn total(",
        "#[expect(unused)]\npub fn total(",
        "blanket-directive-added #[expect(unused)]",
    ),
    (
        "a lint is silenced on a condition",
        "pub fn total(",
        "#[cfg_attr(all(), allow(unused_mut))]\npub fn total(",
        "directive-added cfg_attr",
    ),
    ("a lint is no longer on", "#![warn(missing_docs)]\n", "", "check-silenced #![warn(missing_docs)]"),
];
