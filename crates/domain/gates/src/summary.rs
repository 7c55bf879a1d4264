//! A bounded view of a failing gate, for people and agents.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::{Counts, Ending, GateOutput, Place, Runner, runner};

/// The most failures that are told one by one.
const TOLD: usize = 12;

/// What a gate's output says about its failure.
///
/// It is a view and never a verdict: whether the gate passed is [`Ending::is_success`] alone, and no field here has
/// any influence on it. Every text in it was written by the code under test. Its size is bounded: at most twelve
/// failures of at most 1.2 KiB each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Summary {
    /// The format that was recognised; `None` where none was.
    pub runner: Option<Runner>,
    /// The first failures, in the order of the output.
    pub failures: Vec<FailedCheck>,
    /// How many more there are.
    pub more_failures: u32,
    /// What the runner counted, where it did.
    pub counts: Option<Counts>,
}

/// One failing test, or one diagnostic of a compiler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FailedCheck {
    /// The test, by the name that its runner gives it.
    pub test: Option<String>,
    /// The type of the error, such as `AssertionError`, `E0308` or `test failed`.
    pub class: String,
    /// The first line of what it says; may be empty.
    pub message: String,
    /// The deepest frame within the project.
    pub place: Option<Place>,
}

/// The view of one execution. `None` for one that succeeded: there is no failure to tell of, whatever it printed.
#[must_use]
pub fn summarize(ending: Ending, output: GateOutput<'_>) -> Option<Summary> {
    if ending.is_success() {
        return None;
    }
    let Some((runner, report)) = runner::read(&output.streams()) else {
        return Some(Summary { runner: None, failures: Vec::new(), more_failures: 0, counts: None });
    };
    let more = report.failures.len().saturating_sub(TOLD);
    Some(Summary {
        runner: Some(runner),
        failures: report.failures.into_iter().take(TOLD).map(FailedCheck::from).collect(),
        more_failures: u32::try_from(more).unwrap_or(u32::MAX),
        counts: report.counts,
    })
}

impl From<Failure> for FailedCheck {
    fn from(failure: Failure) -> Self {
        let Failure { test, class, message, place } = failure;
        Self { test, class, message, place }
    }
}

impl fmt::Display for Summary {
    /// One line for the counts, where there are any, and one for each failure.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(counts) = self.counts {
            let Counts { passed, failed, skipped } = counts;
            writeln!(f, "{failed} failed, {passed} passed, {skipped} skipped")?;
        }
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        if self.more_failures > 0 {
            writeln!(f, "and {} more", self.more_failures)?;
        }
        Ok(())
    }
}

impl fmt::Display for FailedCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(test) = &self.test {
            write!(f, "{test}: ")?;
        }
        f.write_str(&self.class)?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        match &self.place {
            Some(Place { path, line: Some(line), .. }) => write!(f, " ({path}:{line})"),
            Some(Place { path, .. }) => write!(f, " ({path})"),
            None => Ok(()),
        }
    }
}
