//! Where the problems of a document are told while it is read.

use std::cell::RefCell;

use crate::located::{Source, Span};
use crate::problem::{Finding, MAX_PROBLEMS, Problem};

/// Something could not be read. What and where was told to the [`Report`] already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reported;

/// What was read, or nothing where a problem was told.
pub(crate) type Read<T> = Result<T, Reported>;

/// Where the problems of one document are told.
pub(crate) struct Report<'a> {
    pub(super) source: Source<'a>,
    pub(super) problems: RefCell<Vec<Problem>>,
}

impl Report<'_> {
    pub(super) fn tell(&self, finding: Finding, span: Span) -> Reported {
        let mut problems = self.problems.borrow_mut();
        if problems.len() < MAX_PROBLEMS {
            problems.push(Problem::new(finding, span, self.source.text()));
        }
        Reported
    }
}
