//! The lines that Rust's test harness writes, of as many test programs as were run one after the other.

use super::lines::{contradiction, cut, malformed, numbered};
use super::{ReportError, TestOutcome, TestReport};

/// One test program: what it said it would run, and what was seen of it.
#[derive(Default)]
struct Program {
    announced: u64,
    passed: u64,
    failed: u64,
    skipped: u64,
    measured: u64,
}

impl Program {
    const fn listed(&self) -> u64 {
        self.passed + self.failed + self.skipped + self.measured
    }
}

pub(super) fn read(text: &str, report: &mut TestReport) -> Result<(), ReportError> {
    let mut program: Option<Program> = None;
    let mut programs = 0_u32;
    for (number, line) in numbered(text) {
        if let Some(announced) = announced(line) {
            if program.is_some() {
                return Err(cut(format!("line {number}: the program before has no result")));
            }
            programs += 1;
            program = Some(Program { announced, ..Program::default() });
        } else if let Some(rest) = line.strip_prefix("test result: ") {
            let Some(seen) = program.take() else {
                return Err(malformed(number, "a result of no program"));
            };
            check(&seen, rest, number)?;
        } else if let Some(rest) = line.strip_prefix("test ")
            && let Some(program) = &mut program
            && let Some((name, end)) = rest.rsplit_once(" ... ")
        {
            add(program, name, end, report)?;
        }
    }
    match (program, programs) {
        (Some(_), _) => Err(cut("a test program has no result")),
        (None, 0) => Err(cut("no test program told anything")),
        (None, _) => Ok(()),
    }
}

/// The number in `running 3 tests`.
fn announced(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("running ")?;
    rest.strip_suffix(" tests").or_else(|| rest.strip_suffix(" test"))?.parse().ok()
}

fn add(program: &mut Program, name: &str, end: &str, report: &mut TestReport) -> Result<(), ReportError> {
    let (counter, outcome) = match end.split([',', ':', '(']).next().unwrap_or("").trim() {
        "ok" => (&mut program.passed, TestOutcome::Passed),
        "FAILED" => (&mut program.failed, TestOutcome::Failed),
        "ignored" => (&mut program.skipped, TestOutcome::Skipped),
        "bench" => (&mut program.measured, TestOutcome::Passed),
        // What a test printed between its name and its end: the counts will not add up.
        _ => return Ok(()),
    };
    *counter += 1;
    report.add(&stable(name), outcome)
}

/// The name without what moves with an edit: the line of a documentation test, and what the harness adds to a name.
pub(super) fn stable(name: &str) -> String {
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    let Some((before, rest)) = name.rsplit_once(" (line ") else { return name.to_owned() };
    match rest.split_once(')') {
        Some((digits, after)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{before}{after}")
        }
        _ => name.to_owned(),
    }
}

/// Holds the counts of `ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s` against the list.
fn check(seen: &Program, rest: &str, line: usize) -> Result<(), ReportError> {
    let counted = |word: &str| {
        let part = rest.split(['.', ';']).map(str::trim).find_map(|part| part.strip_suffix(word));
        part.and_then(|count| count.trim().parse::<u64>().ok())
            .ok_or_else(|| malformed(line, "a result without its counts"))
    };
    for (word, listed) in [
        (" passed", seen.passed),
        (" failed", seen.failed),
        (" ignored", seen.skipped),
        (" measured", seen.measured),
    ] {
        let counted = counted(word)?;
        if counted != listed {
            return Err(contradiction(line, format!("{counted}{word} are counted, and {listed} listed")));
        }
    }
    if seen.announced != seen.listed() {
        let why = format!("{} tests are announced, and {} listed", seen.announced, seen.listed());
        return Err(contradiction(line, why));
    }
    if !rest.starts_with("ok") && seen.failed == 0 {
        return Err(contradiction(line, "it failed, and no test of it did"));
    }
    Ok(())
}
