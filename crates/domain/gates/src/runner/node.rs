//! Node's test runner in its own format.

use super::javascript;
use super::lines::{body, total};
use crate::failure::{Counts, Failure, Report};

/// Below this line the runner repeats everything that failed.
const REPEATED: &str = "✖ failing tests:";

pub(crate) fn read(lines: &[String]) -> Report {
    let mut report = Report::default();
    let start = lines.iter().rposition(|line| line == REPEATED);
    let repeated = start.map_or(lines, |start| &lines[start + 1..]);
    for (at, line) in repeated.iter().enumerate() {
        let Some(test) = failed_test(line).filter(|_| !report.is_full()) else { continue };
        let said =
            body(&repeated[at + 1..], |line| line.trim_start().starts_with(['✖', '✔', '▶', 'ℹ', '﹣']));
        if let Some(failure) = failure(test, said) {
            report.push(failure);
        }
    }
    report.counts = counts(lines);
    report
}

/// `✖ name (1.2ms)`. One that is marked as yet to do may fail.
fn failed_test(line: &str) -> Option<&str> {
    let (name, after) = line.trim_start().strip_prefix("✖ ")?.rsplit_once(" (")?;
    after.ends_with("ms)").then_some(name)
}

/// `None` for a suite, which fails because of its tests and says nothing of its own.
fn failure(test: &str, below: &[String]) -> Option<Failure> {
    let first = below.iter().position(|line| !line.trim().is_empty())?;
    let Some((class, message)) = javascript::error(&below[first]) else {
        let said = below[first].trim();
        let suite = said.ends_with(" subtest failed'") || said.ends_with(" subtests failed'");
        return (!suite).then(|| Failure::new(Some(test), "test failed", said, None));
    };
    let stack = below.iter().position(|line| line.trim_start().starts_with("at "));
    let place = stack.and_then(|stack| javascript::deepest(&below[stack..]));
    Some(Failure::new(Some(test), class, message, place))
}

fn counts(lines: &[String]) -> Option<Counts> {
    let of = |word| total(lines, "ℹ", word);
    let skipped = of("skipped").unwrap_or(0).saturating_add(of("todo").unwrap_or(0));
    Some(Counts { passed: of("pass")?, failed: of("fail")?, skipped })
}
