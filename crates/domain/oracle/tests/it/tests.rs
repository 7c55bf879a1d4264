//! Assertions that a patch takes away.

use ambit_policy::{Fact, FactKind};

use crate::{facts, guard, told};

fn kinds(changes: &[(&str, Option<&str>, Option<&str>)]) -> Vec<FactKind> {
    facts(&guard(), changes).iter().map(Fact::kind).collect()
}

// proves E-F05
// break crates/domain/oracle/src/facts.rs: `facts.extend(compare(&outlines, &collection));` -> `let _ = compare(&outlines, &collection);`
#[test]
fn a_removed_assertion_is_told_however_it_is_removed() {
    use FactKind::{AssertionRemoved, AssertionTautological, TestRemoved};
    let before = "def test_a():\n    assert f() == 1\n    assert g() == 2\n";
    for (after, kind) in [
        ("def test_a():\n    assert f() == 1\n    g()\n", AssertionRemoved),
        ("def test_a():\n    assert f() == 1\n    # assert g() == 2\n", AssertionRemoved),
        ("def test_a():\n    assert f() == 1\n    '''assert g() == 2'''\n", AssertionRemoved),
        ("def test_a():\n    assert f() == 1\n    assert True\n", AssertionTautological),
        ("def test_a():\n    assert f() == 1\n    assert g() == 2 or True\n", AssertionTautological),
        ("def test_a():\n    assert f() == 1\n    assert g() == g()\n", AssertionTautological),
    ] {
        assert_eq!(kinds(&[("tests/test_a.py", Some(before), Some(after))]), [kind], "{after}");
    }
    assert_eq!(kinds(&[("tests/test_a.py", Some(before), None)]), [TestRemoved]);
    assert_eq!(told("tests/test_a.py", before, &before.replace("== 1", "== 1, 'why'")), Vec::<String>::new());
    assert_eq!(told("app/a.py", before, ""), Vec::<String>::new(), "no test file");
}

#[test]
fn assertions_may_move_between_the_test_files_of_one_patch() {
    let both = "assert f()\nassert g()\n";
    let moved = [
        ("tests/test_a.py", Some(both), Some("assert f()\n")),
        ("tests/test_b.py", None, Some("assert g()\n")),
    ];
    assert_eq!(facts(&guard(), &moved), []);
    let renamed = [("tests/test_a.py", Some(both), None), ("tests/unit/test_a.py", None, Some(both))];
    assert_eq!(facts(&guard(), &renamed), []);
    let lost = [
        ("tests/test_a.py", Some(both), None),
        ("tests/test_b.py", Some(""), Some("assert g()\nassert True\n")),
    ];
    assert_eq!(kinds(&lost).len(), 1);
    let out_of_tests = [("tests/test_a.py", Some(both), None), ("app/a.py", None, Some(both))];
    assert_eq!(kinds(&out_of_tests), [FactKind::TestRemoved]);
}

#[test]
fn every_language_loses_assertions_in_its_own_forms() {
    for (name, kind, before, after) in [
        (
            "tests/a.rs",
            FactKind::AssertionLoosened,
            "#[test] fn a() { assert_eq!(f(), 1) }",
            "#[test] fn a() { debug_assert_eq!(f(), 1) }",
        ),
        (
            "src/lib.rs",
            FactKind::AssertionRemoved,
            "#[cfg(test)] mod t { fn a() { assert!(f()) } }",
            "#[cfg(test)] mod t { fn a() { f(); } }",
        ),
        (
            "pkg/a_test.go",
            FactKind::AssertionRemoved,
            "package a\nfunc TestA(t *testing.T) { if f() != 1 { t.Fatal(\"no\") } }",
            "package a\nfunc TestA(t *testing.T) { if f() != 1 { t.Log(\"no\") } }",
        ),
        (
            "tests/ATest.java",
            FactKind::AssertionRemoved,
            "class ATest { @Test void a() { assertEquals(1, f()); } }",
            "class ATest { @Test void a() { f(); } }",
        ),
    ] {
        let found = facts(&guard(), &[(name, Some(before), Some(after))]);
        let kinds: Vec<FactKind> = found.iter().map(Fact::kind).collect();
        assert_eq!(kinds, [kind], "{name}");
        assert_eq!(facts(&guard(), &[(name, Some(after), Some(before))]), [], "{name}");
    }
}
