//! Rust: what weakens its tests, and what does not.

mod base;
mod hidden;
mod honest;
mod lost;

use base::{SOURCE, TESTS};
use hidden::{HIDDEN, IN_SOURCE};
use honest::{HONEST_SOURCE, HONEST_TESTS};
use lost::{EXPECTED, LOOSENED, LOST, SWALLOWED, UNREACHED};

use crate::{facts, guard, told};

#[test]
fn the_tables_are_as_large_as_they_are_said_to_be() {
    let weakenings = [LOST, LOOSENED, EXPECTED, UNREACHED, SWALLOWED, HIDDEN, IN_SOURCE].concat();
    let honest = [HONEST_TESTS, HONEST_SOURCE].concat();
    assert!(weakenings.len() >= 90, "{}", weakenings.len());
    assert!(honest.len() >= 45, "{}", honest.len());
}

// proves E-F05
// break crates/domain/oracle/src/facts.rs: `Language::Rust => each(crate::rust::outline),` -> `Language::Rust => return None,`
#[test]
fn an_assertion_that_is_lost_or_weaker_is_told_at_its_line() {
    let table = [LOST, LOOSENED, EXPECTED, UNREACHED, SWALLOWED].concat();
    assert_eq!(TESTS.untold(&table), Vec::<String>::new());
}

// proves E-F07
// break crates/domain/oracle/src/facts.rs: `Language::Rust => each(crate::rust::outline),` -> `Language::Rust => return None,`
#[test]
fn a_test_that_no_longer_runs_is_told_at_its_line() {
    assert_eq!(TESTS.untold(HIDDEN), Vec::<String>::new());
}

// proves E-F05 E-F07
// break crates/domain/oracle/src/facts.rs: `Language::Rust => each(crate::rust::outline),` -> `Language::Rust => return None,`
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
