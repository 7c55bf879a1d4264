use std::fmt;
use std::ops::Range;

use ambit_ids::RepoPath;
use serde::Serialize;

use crate::compare::LineCounts;

/// Where one file that differs stands in the canonical diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSection {
    /// The path.
    pub path: RepoPath,
    /// Its bytes of the canonical diff, with its header.
    pub text: Range<usize>,
    /// Its hunks, from top to bottom; none where only the mode differs or either side is binary.
    pub hunks: Vec<HunkSection>,
}

/// One hunk of the canonical diff, as the comparison of lines found it that wrote the diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkSection {
    /// The lines before, those of the context included.
    pub before: LineSpan,
    /// The lines after, those of the context included.
    pub after: LineSpan,
    /// The nearest line above the hunk that begins at the margin, which mostly names what is changed; at most 80 bytes,
    /// and not UTF-8 made so. It is for people, and no part of the canonical diff.
    pub heading: Option<String>,
    /// The lines that are there on one side only.
    pub lines: LineCounts,
    /// Its bytes of the canonical diff, with the line of its ranges.
    pub text: Range<usize>,
}

/// Lines of a file that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "FirstAndCount")]
pub struct LineSpan {
    /// How many lines of the file stand above them.
    pub above: usize,
    /// How many there are.
    pub count: usize,
}

/// A span as programs read it.
#[derive(Serialize)]
struct FirstAndCount {
    first: usize,
    count: usize,
}

impl LineSpan {
    /// The number of the first line, counted from 1; of no lines, that of the line before, as diffs have it.
    #[must_use]
    pub const fn first(self) -> usize {
        if self.count == 0 { self.above } else { self.above + 1 }
    }
}

impl From<LineSpan> for FirstAndCount {
    fn from(span: LineSpan) -> Self {
        Self { first: span.first(), count: span.count }
    }
}

impl fmt::Display for LineSpan {
    /// `LINE,COUNT` as diffs have it: a count of 1 is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => write!(f, "{}", self.first()),
            count => write!(f, "{},{count}", self.first()),
        }
    }
}
