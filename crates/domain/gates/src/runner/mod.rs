//! Readers of what runners write, one format a module.
//!
//! All are written by hand, look at every line a bounded number of times and never fail: a line that fits no format is
//! passed over.

mod compiler;
mod go;
mod javascript;
mod jest;
mod libtest;
mod node;
mod pytest;
mod python;
mod tap;
mod unittest;

use crate::failure::{Report, Runner};

type Reader = fn(&[String]) -> Report;

/// The formats in the order in which they are tried. A runner's own format comes before what it prints within it, such
/// as tracebacks.
const READERS: [(Runner, Reader); 11] = [
    (Runner::Pytest, pytest::read),
    (Runner::Unittest, unittest::read),
    (Runner::Libtest, libtest::read),
    (Runner::Go, go::read),
    (Runner::Tap, tap::read),
    (Runner::Node, node::read),
    (Runner::Jest, jest::read),
    (Runner::Compiler, compiler::read),
    (Runner::PythonTraceback, python::read),
    (Runner::JavaScriptStack, javascript::read),
    (Runner::RustPanic, libtest::read_panic),
];

/// What the first format that tells of a failure tells, over all streams.
pub(crate) fn read(streams: &[Vec<String>]) -> Option<(Runner, Report)> {
    READERS.iter().find_map(|(runner, reader)| {
        let mut whole = Report::default();
        for lines in streams {
            let report = reader(lines);
            report.failures.into_iter().for_each(|failure| whole.push(failure));
            whole.counts = whole.counts.or(report.counts);
        }
        (!whole.failures.is_empty()).then_some((*runner, whole))
    })
}

/// The number before each word in a line of counts, such as `3 failed, 2 passed`.
fn counted(line: &str, word: &str) -> u32 {
    let mut number = None;
    for part in line.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '=' | '(' | ')')) {
        if part == word
            && let Some(number) = number
        {
            return number;
        }
        if !part.is_empty() {
            number = part.parse().ok();
        }
    }
    0
}

/// The number in the last line that is a mark, the word and the number: `# pass 3`.
fn total(lines: &[String], mark: &str, word: &str) -> Option<u32> {
    lines.iter().rev().find_map(|line| {
        let rest = line.strip_prefix(mark)?.strip_prefix(' ')?.strip_prefix(word)?;
        rest.strip_prefix(' ')?.parse().ok()
    })
}

/// What belongs to the failure that `lines` follow: all up to where `ends` says so, and never more than a thousand
/// lines, so that the work for one failure has a limit.
fn body(lines: &[String], ends: impl Fn(&str) -> bool) -> &[String] {
    let near = &lines[..lines.len().min(1000)];
    &near[..near.iter().position(|line| ends(line)).unwrap_or(near.len())]
}

/// How deep a line is indented, in bytes.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}
