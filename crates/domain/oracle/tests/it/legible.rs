//! Test files whose trees do not tell what they say.

use ambit_policy::{Fact, FactKind};

use crate::{facts, guard, told};

const TESTS: [(&str, &str); 4] = [
    ("tests/test_a.py", "def test_a():\n    assert f() == 1\n"),
    ("tests/a.rs", "#[test]\nfn a() { assert_eq!(f(), 1) }\n"),
    (
        "tests/a_test.go",
        "package a\n\nfunc TestA(t *testing.T) {\n\tif f() != 1 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n",
    ),
    ("tests/ATest.java", "class ATest {\n    @Test void a() { assertEquals(1, f()); }\n}\n"),
];

/// What no parser of Python makes sense of.
const BUSY: &str = "@x(";

fn unclassified(name: &str, before: &str, after: &str) -> Vec<String> {
    let found = facts(&guard(), &[(name, Some(before), Some(after))]);
    let whys = found.into_iter().filter_map(|fact| match fact {
        Fact::Unclassified { why } => Some(why),
        _ => None,
    });
    whys.collect()
}

// proves E-F05
// break crates/domain/oracle/src/tree.rs: `if after.errors > before.errors {` -> `if false {`
#[test]
fn a_test_file_that_no_longer_parses_is_unclassified_and_one_that_never_did_is_as_before() {
    for (name, text) in TESTS {
        assert_eq!(told(name, text, &format!("{text}\n\n")), Vec::<String>::new(), "{name}");
        let broken = format!("{text}\n) = ) (\n");
        assert_eq!(unclassified(name, text, &broken), [format!("{name} is not what its name says")]);
        assert_eq!(unclassified(name, &broken, &format!("{broken}\n")), Vec::<String>::new(), "{name}");
        let added = facts(&guard(), &[(name, None, Some(&broken))]);
        assert!(added.iter().any(|fact| fact.kind() == FactKind::Unclassified), "{name}: {added:?}");
    }
}

// proves E-F05
#[test]
fn source_of_rust_that_the_grammar_does_not_know_is_unclassified_where_it_speaks_of_tests() {
    let (plain, odd) = ("pub fn total() -> u32 { 6 }\n", "pub fn total() -> u32 { 6 }\n) = ) (\n");
    assert_eq!(unclassified("src/lib.rs", plain, odd), Vec::<String>::new());
    for test in
        ["#[test]\nfn a() {}\n", "#[cfg(all(test, unix))]\nmod tests;\n", "#[tokio::test(flavor = \"x\")]\n"]
    {
        let why = ["src/lib.rs is not what its name says"];
        assert_eq!(unclassified("src/lib.rs", plain, &format!("{odd}{test}")), why);
        assert_eq!(unclassified("src/lib.rs", &format!("{plain}{test}"), odd), why);
    }
}

// proves E-F05
// break crates/domain/oracle/src/tree.rs: `if after.depth > DEPTH.max(before.depth) { Err(Unreadable::Nested) } else { Ok(()) }` -> `Ok(())`
#[test]
fn a_test_that_lies_deeper_than_anybody_follows_is_unclassified() {
    let deep =
        |terms: usize| format!("def test_a():\n    assert f() == 1\n    x = {}1\n", "1 + ".repeat(terms));
    let why = "tests/test_a.py is nested deeper than people write";
    assert_eq!(unclassified("tests/test_a.py", &deep(2), &deep(40)), Vec::<String>::new());
    assert_eq!(unclassified("tests/test_a.py", &deep(2), &deep(400)), [why]);
    assert_eq!(unclassified("tests/test_a.py", &deep(400), &deep(400)), Vec::<String>::new());
}

// proves E-F05
// break crates/domain/oracle/src/tree.rs: `rounds > most` -> `false`
#[test]
fn source_that_keeps_its_reader_busy_is_unclassified_on_either_side() {
    let (name, plain) = ("app/a.py", "def f():\n    return 1\n");
    let busy = BUSY.repeat(20_000);
    let why = [format!("{name} takes longer to read than what people write")];
    assert_eq!(unclassified(name, plain, &busy), why);
    assert_eq!(unclassified(name, &busy, plain), why);
    let long = plain.repeat(5_000);
    assert_eq!(unclassified(name, plain, &long), Vec::<String>::new());
}
