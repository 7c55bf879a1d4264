//! The test harness of Rust, and panics outside of it.

use std::collections::BTreeMap;

use super::lines::{body, counted};
use crate::Place;
use crate::failure::{Counts, Failure, Report};
use crate::noise::without_noise;
use crate::place::place;

pub(crate) fn read(lines: &[String]) -> Report {
    let mut report = Report::default();
    let mut failed: BTreeMap<String, &[String]> = BTreeMap::new();
    let mut totals: Option<Counts> = None;
    for (at, line) in lines.iter().enumerate() {
        if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
            failed.entry(test_name(name)).or_default();
        } else if let Some(name) = section(line) {
            failed.insert(test_name(name), body(&lines[at + 1..], ends_section));
        } else if line.starts_with("test result: ") {
            let before = totals.unwrap_or_default();
            totals = Some(Counts {
                passed: before.passed.saturating_add(counted(line, "passed")),
                failed: before.failed.saturating_add(counted(line, "failed")),
                skipped: before.skipped.saturating_add(counted(line, "ignored")),
            });
        }
    }
    for (test, body) in failed {
        report.push(failure(Some(&test), body));
    }
    report.counts = totals;
    report
}

/// A panic of a program that is no test harness.
pub(crate) fn read_panic(lines: &[String]) -> Report {
    let mut report = Report::default();
    if let Some(at) = lines.iter().position(|line| panic_position(line).is_some()) {
        report.push(failure(None, body(&lines[at..], |_| false)));
    }
    report
}

fn section(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

fn ends_section(line: &str) -> bool {
    section(line).is_some() || line == "failures:" || line.starts_with("test result: ")
}

/// The name without what is not part of it: `- should panic`, and the line of a documentation test.
fn test_name(name: &str) -> String {
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    name.rfind(" (line ").map_or(name, |at| &name[..at]).to_owned()
}

fn failure(test: Option<&str>, below: &[String]) -> Failure {
    let Some(at) = below.iter().position(|line| panic_position(line).is_some()) else {
        let said = below.iter().map(|line| line.trim()).find(|line| !line.is_empty()).unwrap_or("");
        let class = if said.starts_with("Error: ") { "error returned" } else { "test failed" };
        return Failure::new(test, class, said, None);
    };
    let position = panic_position(&below[at]).unwrap_or("");
    // Before Rust 1.73 the message stands in quotes before the position.
    let (message, position) = match position.strip_prefix('\'').and_then(|rest| rest.rsplit_once("', ")) {
        Some((message, position)) => (message, position),
        None => (below.get(at + 1).map_or("", String::as_str), position),
    };
    Failure::new(
        test,
        &panic_class(message),
        message,
        deepest(&below[at..]).or_else(|| place(position, None)),
    )
}

/// What follows `panicked at` in `thread 'name' (7) panicked at src/lib.rs:4:23:`.
fn panic_position(line: &str) -> Option<&str> {
    line.strip_prefix("thread ")?.split_once(" panicked at ").map(|(_, position)| position)
}

/// A panic has no type: the start of its message, up to where the values begin, is the nearest thing.
fn panic_class(message: &str) -> String {
    let fixed = message.split_once(": ").map_or(message, |(fixed, _)| fixed);
    format!("panic: {}", without_noise(fixed))
}

/// The first frame of a backtrace that lies in the project: a line `4: function`, and below it `at path:line`.
fn deepest(below: &[String]) -> Option<Place> {
    let start = below.iter().position(|line| line == "stack backtrace:")?;
    below[start..].iter().zip(&below[start + 1..]).find_map(|(frame, at)| {
        let position = at.trim_start().strip_prefix("at ")?;
        let (_, function) = frame.trim_start().split_once(": ")?;
        place(position, Some(function_name(function)))
    })
}

/// The function without the hash and the closures that the compiler adds.
fn function_name(function: &str) -> &str {
    let mut name = function;
    if let Some((path, hash)) = name.rsplit_once("::h")
        && hash.len() == 16
        && hash.bytes().all(|b| b.is_ascii_hexdigit())
    {
        name = path;
    }
    while let Some(outer) = name.strip_suffix("::{{closure}}") {
        name = outer;
    }
    name
}
