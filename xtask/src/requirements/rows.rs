//! The rows that tests prove, each in one sentence.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::failure::Failure;
use crate::workspace::Workspace;

pub(super) const FILE: &str = "requirements/rows.toml";

/// One requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// What must hold.
    pub(super) says: String,
    pub(super) due: Due,
}

/// When tests must prove a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Now, all of it.
    Now,
    /// Now, but for a rest that belongs to later work: which, and why.
    ButFor(String),
    /// It belongs to later work: which, and why. Tests may prove some of it already.
    Later(String),
}

/// The name of a row, ordered by letters first and then by number: D2 before D10.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowKey {
    letters: String,
    number: u32,
    name: String,
}

impl RowKey {
    fn of(name: &str) -> Option<Self> {
        let digits = name.find(|letter: char| letter.is_ascii_digit())?;
        let (letters, number) = name.split_at(digits);
        Some(Self { letters: letters.to_owned(), number: number.parse().ok()?, name: name.to_owned() })
    }
}

pub(super) struct Rows {
    rows: BTreeMap<RowKey, Row>,
}

impl Rows {
    pub(super) fn of(workspace: &Workspace) -> Result<Self, Failure> {
        let text = workspace.texts.get(FILE).ok_or_else(|| Failure::new(format!("{FILE} is missing")))?;
        Self::parse(text)
    }

    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let table: Table = text
            .parse()
            .map_err(|cause: toml::de::Error| Failure::caused(format!("{FILE} is not TOML"), cause))?;
        let rows = table.iter().map(|(name, value)| {
            let key = RowKey::of(name).zip(parse_row(value));
            key.ok_or_else(|| {
                Failure::new(format!("{FILE}: {name} needs `says`, may have `rest` or `later`, and no more"))
            })
        });
        Ok(Self { rows: rows.collect::<Result<_, _>>()? })
    }

    pub(super) fn get(&self, name: &str) -> Option<&Row> {
        RowKey::of(name).and_then(|key| self.rows.get(&key))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Row)> {
        self.rows.iter().map(|(key, row)| (key.name.as_str(), row))
    }
}

fn parse_row(value: &Value) -> Option<Row> {
    let table = value.as_table()?;
    let says = text(table, "says")?;
    let due = match (table.len(), text(table, "rest"), text(table, "later")) {
        (1, None, None) => Due::Now,
        (2, Some(rest), None) => Due::ButFor(rest),
        (2, None, Some(later)) => Due::Later(later),
        _ => return None,
    };
    Some(Row { says, due })
}

fn text(table: &Table, key: &str) -> Option<String> {
    table.get(key)?.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_in_the_order_of_their_numbers() {
        let text =
            "[D10]\nsays = \"a\"\n[D2]\nsays = \"b\"\nlater = \"c\"\n[E-A01]\nsays = \"d\"\nrest = \"e\"";
        let rows = Rows::parse(text).unwrap();
        assert_eq!(rows.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["D2", "D10", "E-A01"]);
        let row = |says: &str, due| Some(Row { says: says.to_owned(), due });
        assert_eq!(rows.get("D10").cloned(), row("a", Due::Now));
        assert_eq!(rows.get("D2").cloned(), row("b", Due::Later("c".to_owned())));
        assert_eq!(rows.get("E-A01").cloned(), row("d", Due::ButFor("e".to_owned())));
        assert_eq!(rows.get("D3"), None);
    }

    #[test]
    fn a_row_without_a_statement_or_with_an_unknown_key_is_refused() {
        for bad in [
            "[D1]\nsays = \"\"",
            "[D1]\nlater = \"x\"",
            "[D1]\nsays = \"x\"\nsoon = \"y\"",
            "[D1]\nsays = \"x\"\nlater = \"\"",
            "[D1]\nsays = \"x\"\nlater = \"y\"\nrest = \"z\"",
            "[D]\nsays = \"x\"",
            "D1 = 2",
            "[",
        ] {
            assert!(Rows::parse(bad).is_err(), "{bad}");
        }
    }
}
