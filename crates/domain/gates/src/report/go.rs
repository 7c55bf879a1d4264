//! The JSON lines of `go test -json`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::lines::{cut, malformed, numbered};
use super::{REPORT_TESTS, ReportError, ReportProblem, TestOutcome, TestReport};

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "Action")]
    action: String,
    #[serde(rename = "Package")]
    package: Option<String>,
    #[serde(rename = "Test")]
    test: Option<String>,
}

/// A package whose tests run.
#[derive(Default)]
struct Package {
    ended: bool,
    /// How many of its tests failed.
    failed: u32,
    /// The tests that began and have no end.
    running: BTreeMap<String, u32>,
}

pub(super) fn read(text: &str, report: &mut TestReport) -> Result<(), ReportError> {
    let mut packages: BTreeMap<String, Package> = BTreeMap::new();
    for (number, line) in numbered(text) {
        // What a compiler says stands between the lines.
        if !line.starts_with('{') {
            continue;
        }
        let line: Line = serde_json::from_str(line).map_err(|error| malformed(number, &error.to_string()))?;
        // A package that was not built is told under another key; its own end says so too.
        let Some(name) = line.package else { continue };
        if packages.len() >= REPORT_TESTS {
            return Err(ReportError::new(ReportProblem::TooManyTests, "too many packages"));
        }
        let package = packages.entry(name.clone()).or_default();
        match line.test {
            Some(test) => of_test(package, &name, &test, &line.action, number, report)?,
            None => of_package(package, &line.action, report),
        }
    }
    if packages.is_empty() {
        return Err(cut("no package told anything"));
    }
    match packages.iter().find(|(_, package)| !package.ended) {
        Some((name, _)) => Err(cut(format!("the package {name} has no end"))),
        None => Ok(()),
    }
}

fn of_test(
    package: &mut Package,
    name: &str,
    test: &str,
    action: &str,
    line: usize,
    report: &mut TestReport,
) -> Result<(), ReportError> {
    let outcome = match action {
        "run" => {
            *package.running.entry(test.to_owned()).or_default() += 1;
            return Ok(());
        }
        "pass" => TestOutcome::Passed,
        "fail" => TestOutcome::Failed,
        "skip" => TestOutcome::Skipped,
        _ => return Ok(()),
    };
    match package.running.get_mut(test) {
        Some(1) => drop(package.running.remove(test)),
        Some(running) => *running -= 1,
        None => return Err(malformed(line, "a test ended that did not begin")),
    }
    package.failed = package.failed.saturating_add(u32::from(outcome == TestOutcome::Failed));
    report.add(&format!("{name}::{test}"), outcome)
}

fn of_package(package: &mut Package, action: &str, report: &mut TestReport) {
    if !matches!(action, "pass" | "fail" | "skip") {
        return;
    }
    package.ended = true;
    // Tests that began and did not end: the program was over before them.
    let unfinished: u32 = package.running.values().fold(0, |sum, count| sum.saturating_add(*count));
    package.running.clear();
    let whole = u32::from(action == "fail" && package.failed == 0 && unfinished == 0);
    report.fail_outside(unfinished.saturating_add(whole));
}
