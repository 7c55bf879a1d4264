//! Readers of what runners write, one format a module.
//!
//! All are written by hand, look at every line a bounded number of times and never fail: a line that fits no format is
//! passed over.

mod compiler;
mod go;
mod javascript;
mod jest;
mod libtest;
mod lines;
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
