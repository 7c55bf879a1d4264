//! The Test Anything Protocol, version 13 and 14, with the diagnostics that Node writes.

use super::javascript;
use super::lines::{body, indent, total};
use crate::failure::{Counts, Failure, Report};
use crate::place::place;

/// How deep a subtest is indented below its parent.
const STEP: usize = 4;
/// The deepest nesting of subtests whose names are told.
const DEPTH: usize = 16;

pub(crate) fn read(lines: &[String]) -> Report {
    let mut report = Report::default();
    let mut parents: Vec<&str> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let (level, text) = (indent(line) / STEP, line.trim_start());
        if let Some(name) = text.strip_prefix("# Subtest: ") {
            parents.truncate(level);
            if parents.len() < DEPTH {
                parents.push(name);
            }
        } else if let Some(name) = not_ok(text).filter(|_| !report.is_full()) {
            parents.truncate(level);
            let test = parents.iter().copied().chain([name]).collect::<Vec<_>>().join(" > ");
            if let Some(failure) = failure(&test, diagnostics(&lines[at + 1..])) {
                report.push(failure);
            }
        }
    }
    report.counts = counts(lines);
    report
}

/// The name in `not ok 1 - name`. What is marked `# SKIP` or `# TODO` does not count as failed.
fn not_ok(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("not ok")?.strip_prefix(' ')?;
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    let rest = rest.strip_prefix("- ").unwrap_or(rest);
    let (name, directive) = rest.split_once(" # ").unwrap_or((rest, ""));
    let excused = ["skip", "todo"]
        .iter()
        .any(|word| directive.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)));
    (!excused).then_some(name)
}

/// The YAML block below a test point.
fn diagnostics(lines: &[String]) -> &[String] {
    match lines.first() {
        Some(first) if first.trim() == "---" => body(&lines[1..], |line| line.trim() == "..."),
        _ => &[],
    }
}

/// `None` for a parent that failed only because of its subtests.
fn failure(test: &str, block: &[String]) -> Option<Failure> {
    let value = |key: &str| {
        let line = block
            .iter()
            .position(|line| line.trim_start().strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))?;
        let inline = block[line].trim_start()[key.len() + 1..].trim().trim_matches(['\'', '"']);
        Some((line, inline))
    };
    if value("failureType").is_some_and(|(_, kind)| kind == "subtestsFailed") {
        return None;
    }
    let class = value("name").map_or("test failed", |(_, name)| name);
    let message = value("error").or_else(|| value("message")).map_or("", |(line, inline)| {
        let block_follows = inline.starts_with(['|', '>']);
        if block_follows { block.get(line + 1).map_or("", |line| line.trim()) } else { inline }
    });
    let stack = value("stack").and_then(|(line, _)| javascript::deepest(&block[line + 1..]));
    let place = stack.or_else(|| value("location").and_then(|(_, position)| place(position, None)));
    Some(Failure::new(Some(test), class, message, place))
}

fn counts(lines: &[String]) -> Option<Counts> {
    let of = |word| total(lines, "#", word);
    let skipped = of("skipped").or_else(|| of("skip")).unwrap_or(0).saturating_add(of("todo").unwrap_or(0));
    Some(Counts { passed: of("pass")?, failed: of("fail")?, skipped })
}
