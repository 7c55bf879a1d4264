//! What a test runner reports in a format for machines: which tests there were, and what became of each.
//!
//! A report is written where the program under test runs, and that program can write another one. So a report never
//! makes a gate green: that is the exit status alone. It can only take a green away, and whoever forges a report can hide
//! by it no more than an exit status of 0 already hid. See [`objections`](crate::objections).
//!
//! The readers are strict, since a report that is read wrongly hides what it was meant to show: one that is cut, that
//! contradicts itself, or that is larger, deeper or longer than a limit is refused with a code.

mod error;
mod go;
mod junit;
mod libtest;
mod libtest_json;
mod lines;
mod tap;
mod tests;

use ambit_ids::vocabulary;

pub use error::{ReportError, ReportProblem};
pub use tests::{TestOutcome, TestReport};

/// The most bytes of a report, of all its files together.
pub const REPORT_BYTES: usize = 16 << 20;
/// The most tests of a report.
pub const REPORT_TESTS: usize = 100_000;
/// The deepest nesting of suites and other elements of a report.
pub const REPORT_DEPTH: usize = 64;
/// The longest name that is kept as it is, in bytes. Of a longer one the start is kept, and the digest of the whole.
pub const REPORT_NAME_BYTES: usize = 400;

vocabulary!(
    /// The formats that a command can report in.
    ReportFormat {
        /// JUnit XML, as pytest, Maven, Gradle, Node, Jest and many others write it.
        JunitXml = "junit-xml",
        /// The Test Anything Protocol, version 12 to 14.
        Tap = "tap",
        /// The lines of Rust's test harness, as `cargo test` shows them.
        Libtest = "libtest",
        /// The JSON lines of Rust's test harness, which are not stable yet.
        LibtestJson = "libtest-json",
        /// The JSON lines of `go test -json`.
        GoTestJson = "go-test-json",
    }
);

/// Reads a report, whose files are read one after the other and make one report together.
///
/// # Errors
/// [`ReportError`] where it is not whole, is no report of this format, or passes a limit.
pub fn read_report(format: ReportFormat, files: &[&[u8]]) -> Result<TestReport, ReportError> {
    let size = files.iter().fold(0_usize, |sum, file| sum.saturating_add(file.len()));
    if size > REPORT_BYTES {
        return Err(ReportError::new(ReportProblem::TooLarge, format!("it has {size} bytes")));
    }
    let mut report = TestReport::default();
    for file in files {
        let text = str::from_utf8(file).map_err(|error| {
            ReportError::new(ReportProblem::NotText, format!("byte {} is no UTF-8", error.valid_up_to()))
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match format {
            ReportFormat::JunitXml => junit::read(text, &mut report)?,
            ReportFormat::Tap => tap::read(text, &mut report)?,
            ReportFormat::Libtest => libtest::read(text, &mut report)?,
            ReportFormat::LibtestJson => libtest_json::read(text, &mut report)?,
            ReportFormat::GoTestJson => go::read(text, &mut report)?,
        }
    }
    Ok(report)
}
