use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::position::Cursor;
use super::report::Read;
use crate::located::Value;
use crate::problem::{Finding, ProblemCode};
use crate::suggest::quoted;

impl<'a> Cursor<'a> {
    /// The items of the node as a list.
    pub(crate) fn items(&self, count: RangeInclusive<usize>) -> Read<Vec<Cursor<'a>>> {
        let Value::Sequence(nodes) = &self.node.value else {
            return Err(self.wrong_type("a list", ""));
        };
        if !count.contains(&nodes.len()) {
            let (low, high) = (count.start(), count.end());
            let message = format!("{} must have {low} to {high} items, and has {}", self.name(), nodes.len());
            return Err(self.refuse(Finding::new(ProblemCode::OutOfRange, message, "")));
        }
        let item = |(at, node)| self.child(node, None, &format!("[{at}]"));
        Ok(nodes.iter().enumerate().map(item).collect())
    }

    /// Reads every item, also those after one that cannot be read.
    pub(crate) fn each<T>(
        &self,
        count: RangeInclusive<usize>,
        read: impl FnMut(&Cursor<'a>) -> Read<T>,
    ) -> Read<Vec<T>> {
        let read: Vec<Read<T>> = self.items(count)?.iter().map(read).collect();
        read.into_iter().collect()
    }

    /// Reads every item with a reader that also refuses what stood before.
    pub(crate) fn each_distinct<T: Ord + Clone>(
        &self,
        count: RangeInclusive<usize>,
        mut read: impl FnMut(&Cursor<'a>) -> Read<T>,
    ) -> Read<Vec<T>> {
        let mut seen = Distinct::new();
        self.each(count, |item| read(item).and_then(|value| seen.admit(item, value)))
    }
}

/// The values that stood in a list before, each of which may stand once.
pub(crate) struct Distinct<T>(BTreeSet<T>);

impl<T: Ord + Clone> Distinct<T> {
    pub(crate) const fn new() -> Self {
        Self(BTreeSet::new())
    }

    /// Admits a value that stood nowhere before.
    pub(crate) fn admit(&mut self, cursor: &Cursor<'_>, value: T) -> Read<T> {
        if self.0.insert(value.clone()) {
            return Ok(value);
        }
        let message =
            format!("{} is {}, which stands in this list before", cursor.name(), quoted(cursor.raw()));
        Err(cursor.refuse(Finding::new(ProblemCode::DuplicateId, message, "the second one")))
    }

    /// Reads and admits an identifier.
    pub(crate) fn read(&mut self, cursor: &Cursor<'_>) -> Read<T>
    where
        T: FromStr<Err: Display>,
    {
        let value = cursor.parsed()?;
        self.admit(cursor, value)
    }
}
