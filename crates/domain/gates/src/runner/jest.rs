//! Jest.

use super::javascript;
use super::lines::{body, counted};
use crate::failure::{Counts, Failure, Report};

pub(crate) fn read(lines: &[String]) -> Report {
    let mut report = Report::default();
    let mut file = "";
    for (at, line) in lines.iter().enumerate() {
        if let Some(path) = line.strip_prefix("FAIL ") {
            file = path.split(" (").next().unwrap_or(path).trim().trim_start_matches("./");
        } else if let Some(name) = line.strip_prefix("  ● ").filter(|_| !file.is_empty() && !report.is_full())
        {
            report.push(failure(&format!("{file} › {name}"), body(&lines[at + 1..], ends_entry)));
        } else if line.starts_with("Tests: ") {
            report.counts = Some(Counts {
                passed: counted(line, "passed"),
                failed: counted(line, "failed"),
                skipped: counted(line, "skipped").saturating_add(counted(line, "todo")),
            });
        }
    }
    report
}

fn ends_entry(line: &str) -> bool {
    ["  ● ", "FAIL ", "PASS ", "Test Suites: ", "Summary of all failing tests"]
        .iter()
        .any(|start| line.starts_with(start))
}

fn failure(test: &str, below: &[String]) -> Failure {
    let said = below.iter().map(|line| line.trim()).find(|line| !line.is_empty()).unwrap_or("");
    let (class, message) = match javascript::error(said) {
        Some((class, message)) => (class.to_owned(), message),
        None => (matcher(said).unwrap_or("test failed").to_owned(), said),
    };
    let stack = below.iter().position(|line| line.trim_start().starts_with("at "));
    Failure::new(Some(test), &class, message, stack.and_then(|stack| javascript::deepest(&below[stack..])))
}

/// The matcher of `expect(received).not.toBe(expected) // Object.is equality`.
fn matcher(said: &str) -> Option<&str> {
    let (_, rest) = said.strip_prefix("expect(")?.split_once(").")?;
    rest.split('(').next()
}
