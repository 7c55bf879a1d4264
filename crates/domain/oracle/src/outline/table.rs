//! Checks that went into a table, or into the pattern of an error.

use std::collections::{BTreeMap, BTreeSet};

use super::check::{Check, Relation};
use super::spelling::is_same_value;
use super::{Case, Unit};

/// The rows of a table that a test runs for and did not before.
#[derive(Debug)]
pub(super) struct Table<'a> {
    rows: &'a [Case],
}

impl<'a> Table<'a> {
    /// The table that came, where one did that has several rows.
    pub(super) fn that_came(before: &Unit, after: &'a Unit) -> Self {
        let came = before.cases.is_empty() && after.cases.len() > 1;
        Self { rows: if came { &after.cases } else { &[] } }
    }

    /// Whether a check is another one with the value of a row in the place of its own.
    pub(super) fn says(&self, check: &Check, other: &Check) -> bool {
        let is_name = other.expected.starts_with(|c: char| c.is_lowercase() || c == '_')
            && other.expected.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_alike = check.relation == other.relation
            && check.is_negated == other.is_negated
            && check.measure == other.measure
            && other.obstacles.len() <= check.obstacles.len();
        let holds = |row: &Case| row.cells.iter().any(|cell| is_same_value(cell, &check.expected));
        is_alike && is_name && !check.expected.is_empty() && self.rows.iter().any(holds)
    }

    /// Whether one of the checks that are there says for some row what this one did.
    pub(super) fn holds(&self, check: &Check, are: &[Check]) -> bool {
        let keys: BTreeSet<String> = [check.key(), check.resolved_key()].into();
        let is_repeated = |other: &Check| keys.contains(&other.key()) || keys.contains(&other.resolved_key());
        !self.rows.is_empty() && are.iter().any(|other| is_repeated(other) || self.says(check, other))
    }
}

/// Whether two rows say the same values, each in its own spelling.
pub(super) fn is_same_row(before: &Case, after: &Case) -> bool {
    let (were, are) = (&before.cells, &after.cells);
    were.len() == are.len() && were.iter().zip(are).all(|(was, is)| is_same_value(was, is))
}

/// Whether a text that was looked for in an error is now in the pattern that the error must match.
pub(super) fn is_in_a_pattern(check: &Check, are: &[Check]) -> bool {
    let names = [".value)", ".exception)", ".warning)", ".message)"];
    let of_error = check.relation == Relation::Shaped
        && !check.is_negated
        && matches!(check.measure.as_str(), "contains" | "startswith" | "endswith")
        && names.iter().any(|name| check.subject.contains(name));
    let text = check.expected.trim_matches('"');
    let matches = |other: &Check| {
        matches!(other.subject.as_str(), "raises" | "warns")
            && other.resolved.1.split_once(',').is_some_and(|(_, pattern)| pattern.contains(text))
    };
    of_error && !text.is_empty() && are.iter().any(matches)
}

/// The cases of the one side that the other does not have.
pub(super) fn missing<'a>(of: &'a [Case], others: &[Case]) -> Vec<&'a Case> {
    let mut there: BTreeMap<&[String], u32> = BTreeMap::new();
    for case in others {
        *there.entry(&case.cells).or_default() += 1;
    }
    of.iter()
        .filter(|case| match there.get_mut(case.cells.as_slice()).filter(|left| **left > 0) {
            Some(left) => {
                *left -= 1;
                false
            }
            None => true,
        })
        .collect()
}

/// Whether two rows of a table differ in their last cell alone: what goes in is the same, what is expected is not.
pub(super) fn is_other_value_of(before: &Case, after: &Case) -> bool {
    let (Some((was, inputs)), Some((is, others))) = (before.cells.split_last(), after.cells.split_last())
    else {
        return false;
    };
    !inputs.is_empty() && inputs == others && was != is
}
