use std::collections::BTreeMap;

use ambit_ids::{Digest, is_unprintable, vocabulary};
use serde::{Deserialize, Serialize};

use super::{REPORT_NAME_BYTES, REPORT_TESTS, ReportError, ReportProblem};
use crate::Counts;
use crate::failure::shortened;

vocabulary!(
    /// What became of a test.
    TestOutcome {
        /// It passed.
        Passed = "passed",
        /// It failed, or was not seen to end.
        Failed = "failed",
        /// It was skipped, ignored, or only meant to be done.
        Skipped = "skipped",
    }
);

/// The tests of a report. Of several with one name the second and every further one has its number behind the name, so
/// none of them is lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestReport {
    tests: BTreeMap<String, TestOutcome>,
    /// Failures of no test: of a suite as a whole, of a package that was not built.
    outside: u32,
    #[serde(skip)]
    repeats: BTreeMap<String, u32>,
}

impl TestReport {
    /// The tests by name.
    #[must_use]
    pub const fn tests(&self) -> &BTreeMap<String, TestOutcome> {
        &self.tests
    }

    /// Failures of no test: of a suite as a whole, or of a package that was not built.
    #[must_use]
    pub const fn failures_outside(&self) -> u32 {
        self.outside
    }

    /// How many there are of each outcome. Failures of no test count as failed.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let of = |wanted: TestOutcome| {
            let found = self.tests.values().filter(|outcome| **outcome == wanted).count();
            u32::try_from(found).unwrap_or(u32::MAX)
        };
        Counts {
            passed: of(TestOutcome::Passed),
            failed: of(TestOutcome::Failed).saturating_add(self.outside),
            skipped: of(TestOutcome::Skipped),
        }
    }

    pub(super) fn add(&mut self, name: &str, outcome: TestOutcome) -> Result<(), ReportError> {
        if self.tests.len() >= REPORT_TESTS {
            let detail = format!("it has more than {REPORT_TESTS}");
            return Err(ReportError::new(ReportProblem::TooManyTests, detail));
        }
        self.put(kept_name(name), outcome);
        Ok(())
    }

    fn put(&mut self, name: String, outcome: TestOutcome) {
        if self.tests.contains_key(&name) {
            let repeats = self.repeats.entry(name.clone()).or_insert(1);
            let numbered = loop {
                *repeats = repeats.saturating_add(1);
                let numbered = format!("{name} #{repeats}");
                if !self.tests.contains_key(&numbered) {
                    break numbered;
                }
            };
            self.tests.insert(numbered, outcome);
        } else {
            self.tests.insert(name, outcome);
        }
    }

    /// The same tests with `renamed` in place of each name, which is numbered again where that makes two alike.
    #[must_use]
    pub fn renamed(&self, renamed: impl Fn(&str) -> String) -> Self {
        let mut report = Self { outside: self.outside, ..Self::default() };
        for (name, outcome) in &self.tests {
            report.put(kept_name(&renamed(name)), *outcome);
        }
        report
    }

    pub(super) fn fail_outside(&mut self, failures: u32) {
        self.outside = self.outside.saturating_add(failures);
    }
}

/// The name with nothing in it that a terminal would obey or a person overlook, and of bounded length. A name is one line.
fn kept_name(name: &str) -> String {
    let shown: String = name
        .trim()
        .chars()
        .map(|c| if is_unprintable(c) { char::REPLACEMENT_CHARACTER } else { c })
        .collect();
    if shown.is_empty() {
        return "(without a name)".to_owned();
    }
    if shown.len() <= REPORT_NAME_BYTES {
        return shown;
    }
    let digest = Digest::of(shown.as_bytes()).to_hex();
    format!("{}~{}", shortened(&shown, REPORT_NAME_BYTES - 17), &digest[..16])
}
