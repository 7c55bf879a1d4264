//! Python's unittest.

use super::lines::{body, indent};
use super::python;
use crate::failure::{Counts, Failure, Report};

const KINDS: [(&str, &str); 3] =
    [("FAIL: ", "AssertionError"), ("ERROR: ", "error"), ("UNEXPECTED SUCCESS: ", "UnexpectedSuccess")];

pub(crate) fn read(lines: &[String]) -> Report {
    let mut report = Report::default();
    let mut ran = None;
    for (at, line) in lines.iter().enumerate() {
        if let Some((test, class)) = header(lines, at).filter(|_| !report.is_full()) {
            report.push(failure(&test, class, body(&lines[at + 1..], |line| is_rule(line, '='))));
        } else if let Some(rest) = line.strip_prefix("Ran ") {
            ran = rest.split(' ').next().and_then(|number| number.parse::<u32>().ok()).or(ran);
        } else if line.starts_with("FAILED (") {
            report.counts = ran.map(|ran| counts(ran, line));
        }
    }
    report
}

/// The test and the assumed error type of a header line, which stands below a rule of `=`.
fn header(lines: &[String], at: usize) -> Option<(String, &'static str)> {
    if at == 0 || !is_rule(&lines[at - 1], '=') {
        return None;
    }
    KINDS
        .iter()
        .find_map(|(prefix, class)| lines[at].strip_prefix(prefix).map(|title| (test_name(title), *class)))
}

fn is_rule(line: &str, mark: char) -> bool {
    line.len() >= 60 && line.chars().all(|c| c == mark)
}

/// `test_x (module.Class.test_x) (i=1)` and, before Python 3.11, `test_x (module.Class)`.
fn test_name(title: &str) -> String {
    let Some((method, rest)) = title.split_once(" (") else { return title.to_owned() };
    let (owner, parameters) = rest.split_once(')').unwrap_or((rest, ""));
    if owner.contains("_FailedTest") {
        return method.to_owned();
    }
    let whole = owner.rsplit('.').next() == Some(method);
    if whole { format!("{owner}{parameters}") } else { format!("{owner}.{method}{parameters}") }
}

fn failure(test: &str, class: &str, below: &[String]) -> Failure {
    match python::raised(below) {
        Some(raised) => Failure::new(Some(test), &raised.class, &raised.message, raised.place),
        None => {
            let said = below.iter().find(|line| !line.is_empty() && !is_rule(line, '-') && indent(line) == 0);
            Failure::new(Some(test), class, said.map_or("", String::as_str), None)
        }
    }
}

fn counts(ran: u32, line: &str) -> Counts {
    let of = |word| assigned(line, word);
    let failed = of("failures").saturating_add(of("errors")).saturating_add(of("unexpected successes"));
    let skipped = of("skipped").saturating_add(of("expected failures"));
    Counts { passed: ran.saturating_sub(failed).saturating_sub(skipped), failed, skipped }
}

/// The number after `word=`.
fn assigned(line: &str, word: &str) -> u32 {
    line.split(['(', ',', ')'])
        .filter_map(|part| part.trim().split_once('='))
        .find(|(name, _)| *name == word)
        .map_or(0, |(_, number)| number.parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_same_in_every_version_of_python() {
        assert_eq!(test_name("test_x (mod.Case.test_x)"), "mod.Case.test_x");
        assert_eq!(test_name("test_x (mod.Case)"), "mod.Case.test_x");
        assert_eq!(test_name("test_x (mod.Case.test_x) (i=2)"), "mod.Case.test_x (i=2)");
        assert_eq!(test_name("test_b (unittest.loader._FailedTest.test_b)"), "test_b");
        assert_eq!(test_name("setUpClass (mod.Case)"), "mod.Case.setUpClass");
    }
}
