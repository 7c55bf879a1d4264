//! The JSON lines of Rust's test harness.

use serde::Deserialize;

use super::libtest::stable;
use super::lines::{contradiction, cut, malformed, numbered};
use super::{ReportError, TestOutcome, TestReport};

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    event: Option<String>,
    name: Option<String>,
    test_count: Option<u64>,
    passed: Option<u64>,
    failed: Option<u64>,
    ignored: Option<u64>,
}

/// One test program.
#[derive(Default)]
struct Program {
    announced: u64,
    passed: u64,
    failed: u64,
    ignored: u64,
    measured: u64,
}

pub(super) fn read(text: &str, report: &mut TestReport) -> Result<(), ReportError> {
    let mut program: Option<Program> = None;
    let mut programs = 0_u32;
    for (number, line) in numbered(text) {
        if !line.starts_with('{') {
            continue;
        }
        let line: Line = serde_json::from_str(line).map_err(|error| malformed(number, &error.to_string()))?;
        match (line.kind.as_str(), line.event.as_deref(), &mut program) {
            ("suite", Some("started"), None) => {
                programs += 1;
                let announced =
                    line.test_count.ok_or_else(|| malformed(number, "a start without a count"))?;
                program = Some(Program { announced, ..Program::default() });
            }
            ("suite", Some("started"), Some(_)) => {
                return Err(cut(format!("line {number}: the program before has no result")));
            }
            ("suite", Some("ok" | "failed"), Some(seen)) => {
                check(seen, &line, number)?;
                program = None;
            }
            ("test" | "bench", event, Some(program)) => {
                let name = line.name.ok_or_else(|| malformed(number, "a test without a name"))?;
                add(program, line.kind == "bench", event, &name, report)?;
            }
            ("suite" | "test" | "bench", _, _) => {
                return Err(malformed(number, "it is of no program"));
            }
            _ => {}
        }
    }
    match (program, programs) {
        (Some(_), _) => Err(cut("a test program has no result")),
        (None, 0) => Err(cut("no test program told anything")),
        (None, _) => Ok(()),
    }
}

fn add(
    program: &mut Program,
    is_bench: bool,
    event: Option<&str>,
    name: &str,
    report: &mut TestReport,
) -> Result<(), ReportError> {
    let (counter, outcome) = match event {
        None if is_bench => (&mut program.measured, TestOutcome::Passed),
        Some("ok") => (&mut program.passed, TestOutcome::Passed),
        Some("failed") => (&mut program.failed, TestOutcome::Failed),
        Some("ignored") => (&mut program.ignored, TestOutcome::Skipped),
        _ => return Ok(()),
    };
    *counter += 1;
    report.add(&stable(name), outcome)
}

fn check(seen: &Program, said: &Line, line: usize) -> Result<(), ReportError> {
    let listed = seen.passed + seen.failed + seen.ignored + seen.measured;
    let counts = [
        ("passed", said.passed, seen.passed),
        ("failed", said.failed, seen.failed),
        ("ignored", said.ignored, seen.ignored),
        ("announced", Some(seen.announced), listed),
    ];
    for (word, counted, listed) in counts {
        let counted = counted.ok_or_else(|| malformed(line, "a result without its counts"))?;
        if counted != listed {
            return Err(contradiction(line, format!("{counted} {word} are counted, and {listed} listed")));
        }
    }
    if said.event.as_deref() == Some("failed") && seen.failed == 0 {
        return Err(contradiction(line, "it failed, and no test of it did"));
    }
    Ok(())
}
