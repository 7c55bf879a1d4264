//! Markers that a patch adds.

use ambit_policy::{Fact, FactKind};

use crate::{facts, guard, told};

/// The markers that are added to an empty file at this path.
fn added(name: &str, after: &str) -> Vec<String> {
    facts(&guard(), &[(name, Some(""), Some(after))])
        .into_iter()
        .map(|fact| match fact {
            Fact::SkipMarkerAdded { line, marker, .. } => format!("{line} {marker}"),
            other => other.to_string(),
        })
        .collect()
}

// proves E-F07
// break crates/domain/oracle/src/marker/mod.rs: `found.extend(call::find(language, &tight, source, place));` -> ``
#[test]
fn a_test_that_is_kept_from_running_is_told_with_its_line() {
    for (name, text, marker) in [
        ("tests/test_a.py", "\n@unittest.skip('x')\ndef test_a(): pass", "2 unittest.skip"),
        ("tests/test_a.py", "@pytest.mark.skipif(True, reason='')\ndef test_a(): pass", "1 skipIf"),
        ("tests/test_a.py", "@__import__('pytest') . mark .skip\ndef test_a(): pass", "1 pytest.skip"),
        (
            "tests/test_a.py",
            "from unittest import skip as later, skip\n@skip('x')\ndef test_a(): pass",
            "2 pytest.skip",
        ),
        ("tests/test_a.py", "def test_a():\n    import pytest; pytest.skip('env')", "2 pytest.skip"),
        ("tests/test_a.py", "def test_a():\n    raise unittest.SkipTest('x')", "2 SkipTest"),
        ("tests/test_a.py", "@unittest.expectedFailure\ndef test_a(): pass", "1 unittest.expectedFailure"),
        ("tests/test_a.py", "pytestmark = pytest.mark.xfail", "1 xfail"),
        ("tests/test_a.py", "import os\nos._exit(0)", "2 os._exit"),
        ("tests/test_a.py", "class A:\n    __test__ = False", "2 __test__"),
        ("tests/a.test.js", "it.skip('x', () => {})", "1 .skip("),
        ("tests/a.test.js", "test.concurrent . only('x', () => {})", "1 .only("),
        ("tests/a.test.js", "describe.only.each([1])('x', () => {})", "1 .only("),
        ("tests/a.test.js", "it.todo('x')", "1 .todo("),
        ("src/a.ts", "Deno.test.ignore('x', () => {})", "1 .skip("),
        ("tests/a.test.js", "xdescribe('x', () => {})", "1 .skip("),
        ("tests/a.test.js", "test('x', { skip: true }, () => {})", "1 .skip("),
        ("tests/a.test.js", "check.skip('renamed', () => {})", "1 .skip("),
        ("src/a.test.ts", "test.skip('x', () => {})", "1 .skip("),
        ("tests/a.rs", "#[test]\n#[ignore = \"slow\"]\nfn a() {}", "2 #[ignore]"),
        ("tests/a.rs", "# [ ignore ]\nfn a() {}", "1 #[ignore]"),
        ("tests/a.rs", "#[cfg_attr(all(), ignore)]\nfn a() {}", "1 #[ignore]"),
        ("pkg/a_test.go", "func TestA(t *testing.T) { t.SkipNow() }", "1 t.Skip"),
        ("pkg/a_test.go", "//go:build never\npackage a", "1 go:build"),
        ("tests/ATest.java", "@Disabled(\"x\")\n@Test void a() {}", "1 @Disabled"),
        ("tests/ATest.java", "@Test void a() { assumeTrue(false); }", "1 assume"),
    ] {
        assert_eq!(added(name, text), [marker], "{text}");
    }
}

#[test]
fn words_and_other_things_of_the_same_name_are_no_markers() {
    for (name, text) in [
        ("README.md", "Use test.skip with care; never eslint-disable. # noqa"),
        (
            "app/a.py",
            "'''Never skip an item; # noqa'''\n# we skip nothing and have no type: ignore here\nx.skip(3)",
        ),
        ("app/a.py", "def skip(n):\n    return skip_to(n)\nskipped = rows.skip(2)"),
        ("app/a.py", "import sys\nsys.exit(main())"),
        ("src/a.js", "stream.skip(3).only(x => x); const s = 'test.skip(1)'; // no need for eslint-disable"),
        ("src/a.ts", "const options = { skip: 10, only: ['a'] }"),
        ("tests/a.test.js", "test('x', { skip: false }, () => { cursor.skip(10) })"),
        ("src/a.rs", "let x = v.iter().skip(1); // #[ignore]\nlet s = \"#[allow(x)]\";"),
        ("tests/a.rs", "#[test]\n#[should_panic]\nfn new_test() {}"),
        ("pkg/a_test.go", "func TestMain(m *testing.M) { os.Exit(m.Run()) }"),
        ("src/A.java", "@Override void skip() { list.stream().skip(1); }"),
    ] {
        assert_eq!(added(name, text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_marker_that_stays_with_its_test_is_not_added_and_one_that_moves_is() {
    let skipped =
        |name: &str| format!("@unittest.skip('x')\ndef {name}():\n    f()\n\n\ndef other():\n    g()\n");
    let both = format!("import x\n\n{}", skipped("test_a").replace("f()", "h(1)"));
    assert_eq!(told("tests/test_a.py", &skipped("test_a"), &both), Vec::<String>::new());
    let moved = "def test_a():\n    f()\n\n\n@unittest.skip('x')\ndef other():\n    g()\n";
    assert_eq!(told("tests/test_a.py", &skipped("test_a"), moved), ["tests/test_a.py:5 adds unittest.skip"]);
}

#[test]
fn what_turns_a_failure_into_success_fits_only_a_new_test() {
    let plain = "#[test]\nfn a() { f() }\n";
    let inverted = "#[test]\n#[should_panic]\nfn a() { f() }\n";
    assert_eq!(told("tests/a.rs", plain, inverted), ["tests/a.rs:2 adds #[should_panic]"]);
    assert_eq!(
        told("tests/a.rs", plain, &format!("{plain}{}", inverted.replace("fn a", "fn b"))),
        Vec::<String>::new()
    );
}

#[test]
fn of_many_markers_in_one_file_some_are_told() {
    let many = "import unittest\n".to_owned() + &"@unittest.skip('x')\n".repeat(500) + "def test_a(): pass\n";
    let found = facts(&guard(), &[("tests/test_a.py", Some(""), Some(&many))]);
    let markers = found.iter().filter(|fact| fact.kind() == FactKind::SkipMarkerAdded).count();
    assert_eq!(markers, 32);
}
