//! Files are written by whoever wants to confuse their reader.

use ambit_oracle::FileChange;
use ambit_policy::{Fact, FactKind};
use proptest::prelude::*;
use proptest::sample::select;

use crate::{facts, guard, path, told};

const NAMES: [&str; 16] = [
    "tests/a.py",
    "tests/a.js",
    "tests/a.tsx",
    "tests/a.rs",
    "src/a.rs",
    "a_test.go",
    "tests/A.java",
    "a.py",
    "requirements.txt",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "Makefile",
];

const PIECES: [&str; 60] = [
    "\"",
    "'",
    "`",
    "\"\"\"",
    "'''",
    "/*",
    "*/",
    "//",
    "#",
    "\\",
    "\n",
    " ",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "${",
    "r#\"",
    "\"#",
    "'a",
    "/",
    "assert",
    "assert!(",
    "expect(",
    ").toBe(",
    "self.assertEqual(",
    "== ",
    " or ",
    "||",
    ",",
    "True",
    "x",
    "é",
    "\u{202e}",
    "#[cfg(test)]",
    "#[ignore]",
    "#[allow(",
    "cfg_attr(",
    ")]",
    "test.skip('",
    "it.only(",
    "@skip",
    "def f",
    "fn f",
    "# noqa",
    "// eslint-disable",
    "skip:",
    "install_requires=",
    "require (",
    "=>",
    "[project]",
    "dependencies",
    "=",
    "test:",
    "\t",
    "t.Fatal(",
    ".",
    "raise SkipTest",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn any_pieces_are_read_without_harm(
        name in select(&NAMES[..]),
        before in prop::collection::vec(select(&PIECES[..]), 0..60),
        after in prop::collection::vec(select(&PIECES[..]), 0..60),
    ) {
        let (before, after) = (before.concat(), after.concat());
        let found = facts(&guard(), &[(name, Some(&before), Some(&after))]);
        prop_assert!(found.is_sorted());
        let lines = u32::try_from(after.lines().count().max(1)).unwrap();
        for fact in &found {
            if let Fact::SkipMarkerAdded { line, .. } = fact {
                prop_assert!((1..=lines).contains(line), "{fact}");
            }
        }
        prop_assert_eq!(facts(&guard(), &[(name, Some(&after), Some(&after))]).iter().filter(|fact| {
            matches!(fact.kind(), FactKind::AssertionCountFell | FactKind::SkipMarkerAdded | FactKind::DependencyAdded)
        }).count(), 0);
    }

    #[test]
    fn any_bytes_are_read_without_harm(
        name in select(&NAMES[..]),
        before in prop::option::of(prop::collection::vec(any::<u8>(), 0..300)),
        after in prop::option::of(prop::collection::vec(any::<u8>(), 0..300)),
    ) {
        let path = path(name);
        let change = FileChange { path: &path, before: before.as_deref(), after: after.as_deref() };
        let _ = ambit_oracle::facts(&[change], &guard());
    }
}

#[test]
fn repeated_openings_cost_no_more_than_their_length() {
    for (name, piece) in [
        ("tests/a.py", "assert("),
        ("tests/a.py", "self.assertTrue("),
        ("tests/a.py", "x # noqa\n"),
        ("tests/a.py", "@skip "),
        ("tests/a.js", "expect("),
        ("tests/a.js", "=[/"),
        ("tests/a.js", "`${"),
        ("tests/a.js", "it."),
        ("tests/a.tsx", "'\n"),
        ("tests/a.rs", "#[cfg(test)]{"),
        ("tests/a.rs", "cfg_attr("),
        ("tests/a.rs", "#[ignore]\n"),
        ("src/a.rs", "#[cfg(test)] "),
        ("tests/a.rs", "/*"),
        ("setup.py", "install_requires=["),
        ("go.mod", "require (\n"),
    ] {
        let text = piece.repeat(100_000 / piece.len());
        let _ = facts(&guard(), &[(name, Some(&text), Some(&text))]);
    }
}

// proves E-F07
// break crates/domain/oracle/src/python/coding.rs: `<= STEPS` -> `<= usize::MAX`
#[test]
fn comments_that_would_keep_a_parser_busy_are_unclassified_and_those_that_people_write_are_not() {
    let text = "from shop import f\n\n\ndef test_f():\n    assert f() == 1\n";
    let commented = |lines: usize| format!("{text}{}", "# x\n".repeat(lines));
    assert_eq!(told("tests/test_a.py", text, &commented(2_000)), Vec::<String>::new());
    assert_eq!(
        told("tests/test_a.py", text, &commented(16_000)),
        ["cannot be classified: tests/test_a.py takes longer to read than what people write"]
    );
}
