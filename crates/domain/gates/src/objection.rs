//! Why an exit status of 0 does not count.

use std::collections::BTreeSet;
use std::fmt;

use ambit_ids::{Digest, GateId, RepoPath};
use serde::{Deserialize, Serialize};

use crate::failure::shortened;
use crate::{ReportError, ReportProblem, TestOutcome, TestReport};

/// How many files or tests are named one by one.
const NAMED: usize = 8;
/// How much of the name of a test is told.
const NAME_BYTES: usize = 160;

/// Something that takes the green from a gate that exited with 0, whatever else speaks for it. Nothing here can make a
/// gate green.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "code", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Objection {
    /// Protected files of the copy that it ran on were not afterwards what they were before.
    #[serde(rename = "GATE_PROTECTED_FILE_CHANGED")]
    ProtectedFileChanged {
        /// The first of them.
        files: Vec<RepoPath>,
        /// How many more there are.
        more: u32,
    },
    /// Something was written at protected paths of that copy at which the tree has no file.
    #[serde(rename = "GATE_PROTECTED_FILE_APPEARED")]
    ProtectedFileAppeared {
        /// The first of them; a directory, where nothing is left of what was written in it.
        files: Vec<RepoPath>,
        /// How many more there are.
        more: u32,
    },
    /// The command was to leave a report, and left none.
    #[serde(rename = "GATE_REPORT_MISSING")]
    ReportMissing,
    /// The report cannot be read.
    #[serde(rename = "GATE_REPORT_UNREADABLE")]
    ReportUnreadable {
        /// What is wrong with it.
        problem: ReportProblem,
    },
    /// The report has no test that ran.
    #[serde(rename = "GATE_NO_TESTS")]
    NoTests,
    /// The report shows failures.
    #[serde(rename = "GATE_REPORT_SHOWS_FAILURE")]
    ReportShowsFailure {
        /// The first tests that failed.
        tests: Vec<String>,
        /// How many more failures there are.
        more: u32,
    },
    /// Tests of the base revision are gone.
    #[serde(rename = "GATE_TESTS_SHRANK")]
    TestsShrank {
        /// The first of them.
        tests: Vec<String>,
        /// How many more there are.
        more: u32,
    },
    /// Tests that ran on the base revision are skipped.
    #[serde(rename = "GATE_TESTS_SKIPPED")]
    TestsSkipped {
        /// The first of them.
        tests: Vec<String>,
        /// How many more there are.
        more: u32,
    },
}

impl Objection {
    /// The objection to protected files that are not what they were; none where there are none.
    #[must_use]
    pub fn to_files(changed: &[RepoPath]) -> Option<Self> {
        let (files, more) = first(changed.iter().cloned());
        (!files.is_empty()).then_some(Self::ProtectedFileChanged { files, more })
    }

    /// The objection to what was written where the tree has no protected file; none where nothing was.
    #[must_use]
    pub fn to_appeared(appeared: &[RepoPath]) -> Option<Self> {
        let (files, more) = first(appeared.iter().cloned());
        (!files.is_empty()).then_some(Self::ProtectedFileAppeared { files, more })
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::ProtectedFileChanged { .. } => "GATE_PROTECTED_FILE_CHANGED",
            Self::ProtectedFileAppeared { .. } => "GATE_PROTECTED_FILE_APPEARED",
            Self::ReportMissing => "GATE_REPORT_MISSING",
            Self::ReportUnreadable { .. } => "GATE_REPORT_UNREADABLE",
            Self::NoTests => "GATE_NO_TESTS",
            Self::ReportShowsFailure { .. } => "GATE_REPORT_SHOWS_FAILURE",
            Self::TestsShrank { .. } => "GATE_TESTS_SHRANK",
            Self::TestsSkipped { .. } => "GATE_TESTS_SKIPPED",
        }
    }

    /// The digest by which it is recognised that a gate is objected to for the same reasons again. `None` where there is no
    /// objection.
    #[must_use]
    pub fn fingerprint(gate: &GateId, objections: &[Self]) -> Option<Digest> {
        let first = objections.first()?;
        let bytes =
            ambit_canonical::encode(&(gate, objections)).map(ambit_canonical::CanonicalBytes::into_bytes);
        Some(Digest::of(&bytes.unwrap_or_else(|_| format!("{gate} {}", first.code()).into_bytes())))
    }
}

/// What a report takes from a gate that exited with 0. `report` is what came of reading it, `None` where there was none;
/// `base` is the report of the same gate on the base revision, where that could be read.
///
/// A test that the base has must be there and must not be skipped unless it was, however it ended on the base: a failing
/// test is not mended by taking it away. Tests that are new are welcome.
#[must_use]
pub fn objections(
    report: Option<Result<&TestReport, &ReportError>>,
    base: Option<&TestReport>,
) -> Vec<Objection> {
    let report = match report {
        None => return vec![Objection::ReportMissing],
        Some(Err(error)) => return vec![Objection::ReportUnreadable { problem: error.problem }],
        Some(Ok(report)) => report,
    };
    let mut found = Vec::new();
    let counts = report.counts();
    if counts.passed == 0 && counts.failed == 0 {
        found.push(Objection::NoTests);
    }
    if counts.failed > 0 {
        let failed = report.tests().iter().filter(|(_, outcome)| **outcome == TestOutcome::Failed);
        let (tests, more) = first(failed.map(|(name, _)| name));
        found.push(Objection::ReportShowsFailure {
            tests: told(&tests),
            more: more.saturating_add(report.failures_outside()),
        });
    }
    let Some(base) = base else { return found };
    let of_base = |wanted: fn(Option<TestOutcome>, TestOutcome) -> bool| {
        let names = base
            .tests()
            .iter()
            .filter(move |(name, before)| wanted(report.tests().get(*name).copied(), **before));
        let (tests, more) = first(names.map(|(name, _)| name));
        (told(&tests), more)
    };
    let (tests, more) = of_base(|now, _| now.is_none());
    if !tests.is_empty() {
        found.push(Objection::TestsShrank { tests, more });
    }
    let (tests, more) =
        of_base(|now, before| now == Some(TestOutcome::Skipped) && before != TestOutcome::Skipped);
    if !tests.is_empty() {
        found.push(Objection::TestsSkipped { tests, more });
    }
    found
}

fn first<T: Ord>(all: impl Iterator<Item = T>) -> (Vec<T>, u32) {
    let sorted: BTreeSet<T> = all.collect();
    let more = u32::try_from(sorted.len().saturating_sub(NAMED)).unwrap_or(u32::MAX);
    (sorted.into_iter().take(NAMED).collect(), more)
}

fn told(names: &[&String]) -> Vec<String> {
    names.iter().map(|name| shortened(name, NAME_BYTES)).collect()
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ProtectedFileChanged { files, more } => {
                list(f, "protected files were changed while it ran", files, *more)
            }
            Self::ProtectedFileAppeared { files, more } => {
                list(f, "something was written at protected places while it ran", files, *more)
            }
            Self::ReportMissing => f.write_str("the command left no report"),
            Self::ReportUnreadable { problem } => write!(f, "the report cannot be read ({problem})"),
            Self::NoTests => f.write_str("no test ran"),
            Self::ReportShowsFailure { tests, more } => list(f, "the report shows failures", tests, *more),
            Self::TestsShrank { tests, more } => list(f, "tests of the base revision are gone", tests, *more),
            Self::TestsSkipped { tests, more } => {
                list(f, "tests that ran on the base revision are skipped", tests, *more)
            }
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, what: &str, names: &[impl fmt::Display], more: u32) -> fmt::Result {
    f.write_str(what)?;
    for (at, name) in names.iter().enumerate() {
        write!(f, "{} {name}", if at == 0 { ":" } else { "," })?;
    }
    match more {
        0 => Ok(()),
        more => write!(f, " and {more} more"),
    }
}
