//! The Test Anything Protocol, version 12 to 14, subtests included.

use super::lines::{contradiction, cut, malformed, numbered};
use super::{REPORT_DEPTH, ReportError, ReportProblem, TestOutcome, TestReport};

/// How deep a subtest is indented below its parent.
const STEP: usize = 4;

/// One level of test points.
#[derive(Default)]
struct Level<'a> {
    /// The name of the parent, where a comment told it.
    parent: Option<&'a str>,
    /// How many points the plan says there are.
    planned: Option<u64>,
    points: u64,
}

pub(super) fn read(text: &str, report: &mut TestReport) -> Result<(), ReportError> {
    let mut levels: Vec<Level<'_>> = vec![Level::default()];
    // The indentation of a block of diagnostics that is open.
    let mut block: Option<usize> = None;
    for (number, line) in numbered(text) {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let said = line.trim();
        if let Some(begun) = block {
            if said == "..." && indent <= begun {
                block = None;
            }
            continue;
        }
        if said == "---" && indent > 0 {
            block = Some(indent);
            continue;
        }
        let Some(told) = Told::of(said) else { continue };
        if let Told::Bail = told {
            return Err(cut(format!("line {number}: the runner gave up")));
        }
        if indent % STEP != 0 {
            continue;
        }
        let depth = indent / STEP;
        if depth >= REPORT_DEPTH {
            return Err(ReportError::new(ReportProblem::TooDeep, format!("line {number}")));
        }
        close_below(&mut levels, depth, number)?;
        while levels.len() <= depth {
            levels.push(Level::default());
        }
        match told {
            // The name stands before the points of the subtest: at their indentation, or at that of the parent's point.
            Told::Subtest(name) => {
                levels.push(Level { parent: Some(name), ..Level::default() });
            }
            Told::Plan(points) => plan(&mut levels, points, number)?,
            Told::Point(point) => add(&mut levels, &point, report)?,
            Told::Bail => {}
        }
    }
    if block.is_some() {
        return Err(cut("a block of diagnostics is open at its end"));
    }
    close_below(&mut levels, 0, text.lines().count())?;
    match levels.first() {
        Some(Level { planned: None, .. }) => Err(cut("it has no plan")),
        Some(level) => whole(level, text.lines().count()),
        None => Ok(()),
    }
}

/// Ends the levels that are deeper. A name that was told and has no points below it was not followed by a subtest.
fn close_below(levels: &mut Vec<Level<'_>>, depth: usize, line: usize) -> Result<(), ReportError> {
    while levels.len() > depth + 1 {
        if let Some(level) = levels.pop() {
            whole(&level, line)?;
        }
    }
    Ok(())
}

fn whole(level: &Level<'_>, line: usize) -> Result<(), ReportError> {
    match level.planned {
        Some(planned) if planned != level.points => {
            Err(contradiction(line, format!("{planned} points are planned, and {} are there", level.points)))
        }
        None if level.points > 0 => Err(cut(format!("line {line}: {} points without a plan", level.points))),
        _ => Ok(()),
    }
}

fn plan(levels: &mut [Level<'_>], points: u64, line: usize) -> Result<(), ReportError> {
    let Some(level) = levels.last_mut() else { return Ok(()) };
    if level.planned.replace(points).is_some() {
        return Err(malformed(line, "a second plan"));
    }
    Ok(())
}

fn add(levels: &mut [Level<'_>], point: &Point<'_>, report: &mut TestReport) -> Result<(), ReportError> {
    let parents: Vec<&str> = levels.iter().filter_map(|level| level.parent).collect();
    let Some(level) = levels.last_mut() else { return Ok(()) };
    level.points = level.points.saturating_add(1);
    let own = if point.name.is_empty() { format!("#{}", level.points) } else { unescaped(point.name) };
    let name = parents.into_iter().chain([own.as_str()]).collect::<Vec<_>>().join(" > ");
    report.add(&name, point.outcome)
}

/// A line that tells something.
enum Told<'a> {
    Plan(u64),
    Point(Point<'a>),
    Subtest(&'a str),
    Bail,
}

struct Point<'a> {
    name: &'a str,
    outcome: TestOutcome,
}

impl<'a> Told<'a> {
    fn of(said: &'a str) -> Option<Self> {
        if let Some(name) = said.strip_prefix("# Subtest: ").or_else(|| said.strip_prefix("# Subtest")) {
            return Some(Self::Subtest(name));
        }
        if said.starts_with("Bail out!") {
            return Some(Self::Bail);
        }
        if let Some(rest) = said.strip_prefix("1..") {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let after = rest[digits..].trim_start();
            let is_plan = after.is_empty() || after.starts_with('#');
            return rest[..digits].parse().ok().filter(|_| is_plan).map(Self::Plan);
        }
        Point::of(said).map(Self::Point)
    }
}

impl<'a> Point<'a> {
    fn of(said: &'a str) -> Option<Self> {
        let (passed, rest) = match said.strip_prefix("not ok") {
            Some(rest) => (false, rest),
            None => (true, said.strip_prefix("ok")?),
        };
        if !rest.is_empty() && !rest.starts_with(' ') {
            return None;
        }
        let rest = rest.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        let rest = rest.strip_prefix("- ").unwrap_or(if rest == "-" { "" } else { rest });
        let (name, directive) = directive(rest);
        let is =
            |word: &str| directive.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        let outcome = match passed {
            _ if is("skip") || is("todo") => TestOutcome::Skipped,
            true => TestOutcome::Passed,
            false => TestOutcome::Failed,
        };
        // A point that opens a subtest in braces, as some writers do, is the parent of what follows.
        let name = name.trim_end();
        Some(Self { name: name.strip_suffix(" {").unwrap_or(name), outcome })
    }
}

/// The name, and what stands behind the last `#` that is not escaped.
fn directive(rest: &str) -> (&str, &str) {
    let hashes = rest.match_indices(" #").filter(|(at, _)| !rest[..*at].ends_with('\\'));
    match hashes.last() {
        Some((at, _)) => (&rest[..at], rest[at + 2..].trim_start()),
        None => (rest, rest.strip_prefix('#').map_or("", str::trim_start)),
    }
}

fn unescaped(name: &str) -> String {
    name.replace("\\#", "#").replace("\\\\", "\\")
}
