//! Assertions that are lost, weaker, expect another thing, are not reached or are swallowed.

use crate::edits::Weakened;

pub(super) const LOST: &[Weakened] = &[
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

pub(super) const LOOSENED: &[Weakened] = &[
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

pub(super) const EXPECTED: &[Weakened] = &[
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

pub(super) const UNREACHED: &[Weakened] = &[
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

pub(super) const SWALLOWED: &[Weakened] = &[
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
