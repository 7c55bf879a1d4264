//! Output that was recorded from runners which are not everywhere installed.

use ambit_gates::{Counts, Runner};

use crate::{seen, told};

fn lines(log: &str) -> Vec<String> {
    told(log).failures.iter().map(ToString::to_string).collect()
}

#[test]
fn pytest_tells_the_same_in_its_long_and_in_its_short_form() {
    let long = include_str!("logs/pytest-long.txt");
    let short = include_str!("logs/pytest-short.txt");
    assert_eq!(told(long).runner, Some(Runner::Pytest));
    assert_eq!(told(long).counts, Some(Counts { passed: 2, failed: 7, skipped: 1 }));
    assert_eq!(
        lines(long),
        [
            "tests/test_a.py::test_eq: AssertionError: assert 2 == 5 (tests/test_a.py:4)",
            "tests/test_a.py::test_key: KeyError: 'a' (app/cart.py:2)",
            "tests/test_a.py::TestC::test_m: AssertionError: assert <object object at 0x7f8035cc5420> == 1 (tests/test_a.py:12)",
            "tests/test_a.py::CartTest::test_err: ValueError: bad (tests/test_a.py:26)",
            "tests/test_a.py::CartTest::test_sub (i=0): AssertionError: 0 != 1 (tests/test_a.py:21)",
            "tests/test_a.py::CartTest::test_sub (i=2): AssertionError: 2 != 1 (tests/test_a.py:21)",
            "tests/test_a.py::CartTest::test_u: AssertionError: 2 != 5 (tests/test_a.py:17)",
        ]
    );
    assert_eq!(seen(long), seen(short));
    assert_eq!(
        seen(long).location.as_deref(),
        Some("tests/test_a.py::CartTest::test_sub (i=0): tests/test_a.py in test_sub")
    );
}

#[test]
fn pytest_tells_of_native_tracebacks_and_of_what_it_could_not_collect() {
    assert_eq!(
        lines(include_str!("logs/pytest-native.txt")),
        [
            "tests/test_a.py::test_eq: AssertionError: assert 2 == 5 (tests/test_a.py:4)",
            "tests/test_a.py::test_key: KeyError: 'a' (app/cart.py:2)",
        ]
    );
    assert_eq!(
        lines(include_str!("logs/pytest-collection.txt")),
        ["tests/test_b.py: ModuleNotFoundError: No module named 'nothing_here' (tests/test_b.py:1)"]
    );
}

#[test]
fn pytest_without_tracebacks_is_read_from_its_short_summary() {
    let log = include_str!("logs/pytest-short.txt");
    let (_, summary) = log.split_once("=========================== short").unwrap();
    let told = lines(&format!("=========================== short{summary}"));
    assert_eq!(told.len(), 7);
    assert!(told.contains(&"tests/test_a.py::test_key: KeyError: 'a'".to_owned()), "{told:?}");
}

#[test]
fn jest_tells_matchers_and_errors() {
    let log = include_str!("logs/jest.txt");
    assert_eq!(told(log).counts, Some(Counts { passed: 1, failed: 2, skipped: 0 }));
    assert_eq!(
        lines(log),
        [
            "j.spec.cjs › suite › adds: toBe: expect(received).toBe(expected) // Object.is equality (j.spec.cjs:2)",
            "j.spec.cjs › suite › throws: TypeError: Cannot read properties of undefined (reading 'y') (j.spec.cjs:1)",
        ]
    );
}

#[test]
fn node_tells_each_failure_once_and_no_suite() {
    let log = include_str!("logs/node.txt");
    assert_eq!(told(log).runner, Some(Runner::Node));
    assert_eq!(told(log).counts, Some(Counts { passed: 1, failed: 3, skipped: 2 }));
    assert_eq!(
        lines(log),
        [
            "total counts: AssertionError: Expected values to be strictly equal: (test/cart.test.js:4)",
            "total throws: TypeError: Cannot read properties of undefined (reading 'y') (src/cart.js:1)",
            "inner fails: AssertionError: The expression evaluated to a falsy value: (test/cart.test.js:6)",
        ]
    );
}

#[test]
fn go_tells_subtests_panics_and_what_does_not_build() {
    assert_eq!(
        lines(include_str!("logs/go.txt")),
        [
            "example.com/m.TestEq: test failed: x_test.go:3: got 1, want 2",
            "example.com/m.TestSub/inner_case: test failed: x_test.go:4: boom",
            "example.com/m.TestOob: panic: runtime error: index out of range [#] with length #: \
             panic: runtime error: index out of range [3] with length 1 (x.go:2)",
            "example.com/m/sub.TestZ: test failed: s_test.go:3: hello",
        ]
    );
    let build = include_str!("logs/go-build.txt");
    assert_eq!(
        lines(build),
        ["compile error: undefined: y (x.go:2)", "example.com/m/sub.TestZ: test failed: s_test.go:3: hello"]
    );
}

#[test]
fn compilers_tell_codes_and_places() {
    assert_eq!(
        lines(include_str!("logs/tsc-pretty.txt")),
        [
            "TS2322: Type 'string' is not assignable to type 'number'. (a.ts:1)",
            "TS2304: Cannot find name 'foo'. (a.ts:1)",
        ]
    );
    assert_eq!(
        lines(include_str!("logs/javac.txt")),
        [
            "error: incompatible types: String cannot be converted to int (A.java:1)",
            "error: cannot find symbol (A.java:1)",
        ]
    );
    let plain = "a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\n\
                 a.ts(1,24): error TS2304: Cannot find name 'foo'.\n";
    assert_eq!(seen(plain), seen(include_str!("logs/tsc-pretty.txt")));
}
