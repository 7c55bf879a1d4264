//! `go test`.

use super::lines::{body, indent};
use crate::Place;
use crate::failure::{Failure, Report};
use crate::noise::without_noise;
use crate::place::{place, split_position, workspace_path};

pub(crate) fn read(lines: &[String]) -> Report {
    let mut report = Report::default();
    let mut package_tests: Vec<Test<'_>> = Vec::new();
    let mut building = false;
    for (at, line) in lines.iter().enumerate() {
        if let Some(test) = Test::at(lines, at) {
            building = false;
            package_tests.push(test);
        } else if report.is_full() {
            break;
        } else if let Some(package) = line.strip_prefix("FAIL\t") {
            let package = package.split(['\t', ' ']).next().unwrap_or("");
            flush(&mut report, &mut package_tests, package);
            building = false;
        } else if line.starts_with("# ") {
            building = true;
        } else if building && let Some(failure) = diagnostic(line) {
            report.push(failure);
        } else {
            // A diagnostic may go on below, indented.
            building = building && indent(line) > 0;
        }
    }
    flush(&mut report, &mut package_tests, "");
    report
}

struct Test<'a> {
    name: &'a str,
    body: &'a [String],
}

impl<'a> Test<'a> {
    fn at(lines: &'a [String], at: usize) -> Option<Self> {
        let (name, _) = lines[at].trim_start().strip_prefix("--- FAIL: ")?.rsplit_once(" (")?;
        let ends = |line: &str| line.trim_start().starts_with("--- ") || line.starts_with("FAIL");
        Some(Self { name, body: body(&lines[at + 1..], ends) })
    }

    fn failure(&self, package: &str) -> Failure {
        let test = if package.is_empty() { self.name.to_owned() } else { format!("{package}.{}", self.name) };
        match self.body.iter().position(|line| line.starts_with("panic: ")) {
            Some(at) => {
                let message = self.body[at].trim_end_matches(" [recovered]");
                Failure::new(Some(&test), &without_noise(message), message, deepest(&self.body[at..]))
            }
            None => {
                let said = self.body.iter().map(|line| line.trim()).find(|line| !line.is_empty());
                Failure::new(Some(&test), "test failed", said.unwrap_or(""), None)
            }
        }
    }
}

/// Hands over the tests of one package. A test whose subtest failed says nothing of its own.
fn flush(report: &mut Report, tests: &mut Vec<Test<'_>>, package: &str) {
    for (at, test) in tests.iter().enumerate() {
        let is_parent = tests
            .get(at + 1)
            .is_some_and(|next| next.name.strip_prefix(test.name).is_some_and(|rest| rest.starts_with('/')));
        if !is_parent {
            report.push(test.failure(package));
        }
    }
    tests.clear();
}

/// `./x.go:2:46: undefined: y`, below a line that names the package.
fn diagnostic(line: &str) -> Option<Failure> {
    let line = line.strip_prefix("vet: ").unwrap_or(line);
    if indent(line) > 0 {
        return None;
    }
    let (path, number, rest) = split_position(line)?;
    let message = rest.strip_prefix(": ")?;
    let place = workspace_path(path).map(|path| Place { path, line: Some(number), function: None });
    path.ends_with(".go").then(|| Failure::new(None, "compile error", message, place))
}

/// The first frame in the project: the function, and below it, after a tab, `path:line`.
fn deepest(below: &[String]) -> Option<Place> {
    below.iter().zip(below.iter().skip(1)).find_map(|(function, position)| {
        let position = position.strip_prefix('\t')?;
        let function = function.rfind('(').map_or(function.as_str(), |end| &function[..end]);
        place(position, Some(function))
    })
}
