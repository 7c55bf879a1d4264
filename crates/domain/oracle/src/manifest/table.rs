//! Tables of TOML, and what stands in them.

use crate::change::Unreadable;

/// A document of TOML 1.0.
pub(crate) fn toml(text: &str) -> Result<toml::Table, Unreadable> {
    toml::from_str(text).map_err(|_| Unreadable::Syntax)
}

/// The value below a path of tables.
pub(crate) fn at<'a>(table: &'a toml::Table, path: &[&str]) -> Option<&'a toml::Value> {
    let (first, rest) = path.split_first()?;
    let value = table.get(*first)?;
    if rest.is_empty() { Some(value) } else { at(value.as_table()?, rest) }
}
