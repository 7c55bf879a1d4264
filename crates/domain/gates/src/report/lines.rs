//! What the formats that are lines have in common.

use super::{ReportError, ReportProblem};

/// The lines with their numbers, counted from 1, without what ends them.
pub(super) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(at, line)| (at + 1, line))
}

pub(super) fn malformed(line: usize, what: &str) -> ReportError {
    ReportError::new(ReportProblem::Malformed, format!("line {line}: {what}"))
}

pub(super) fn contradiction(line: usize, what: impl std::fmt::Display) -> ReportError {
    ReportError::new(ReportProblem::Contradiction, format!("line {line}: {what}"))
}

pub(super) fn cut(what: impl std::fmt::Display) -> ReportError {
    ReportError::new(ReportProblem::Cut, what)
}
