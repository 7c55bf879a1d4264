use std::fmt;

use ambit_ids::vocabulary;

use crate::failure::shortened;

const DETAIL_BYTES: usize = 200;

vocabulary!(
    /// What is wrong with a report.
    ReportProblem {
        /// It has more bytes than [`REPORT_BYTES`](super::REPORT_BYTES).
        TooLarge = "REPORT_TOO_LARGE",
        /// It has more tests than [`REPORT_TESTS`](super::REPORT_TESTS).
        TooManyTests = "REPORT_TOO_MANY_TESTS",
        /// It nests deeper than [`REPORT_DEPTH`](super::REPORT_DEPTH).
        TooDeep = "REPORT_TOO_DEEP",
        /// It is no UTF-8.
        NotText = "REPORT_NOT_TEXT",
        /// It is not of its format.
        Malformed = "REPORT_MALFORMED",
        /// It declares a type of document or an entity, by which a reader can be led elsewhere.
        Entity = "REPORT_ENTITY",
        /// It ends before it is whole.
        Cut = "REPORT_CUT",
        /// It counts otherwise than it lists.
        Contradiction = "REPORT_CONTRADICTS_ITSELF",
    }
);

/// Why a report cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}: {detail}")]
pub struct ReportError {
    /// What is wrong with it. Its word is the stable code.
    pub problem: ReportProblem,
    /// Where, or how much, in a few words. Parts of it may come from the report.
    pub detail: String,
}

impl ReportError {
    pub(super) fn new(problem: ReportProblem, detail: impl fmt::Display) -> Self {
        let detail: String = detail
            .to_string()
            .chars()
            .map(|c| if ambit_ids::is_unprintable(c) { char::REPLACEMENT_CHARACTER } else { c })
            .collect();
        Self { problem, detail: shortened(&detail, DETAIL_BYTES) }
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.problem.as_str()
    }
}
