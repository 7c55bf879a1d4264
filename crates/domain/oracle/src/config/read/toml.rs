use toml::de::{DeTable, DeValue};

use crate::change::Unreadable;
use crate::config::node::{Lines, MAX_DEPTH, MAX_NODES, Node, Value};

/// A document of TOML.
pub(in crate::config) fn toml(text: &str) -> Result<Node, Unreadable> {
    if text.lines().any(is_deep) {
        return Err(Unreadable::Nesting);
    }
    let document = DeTable::parse(text).map_err(|_| Unreadable::Syntax)?;
    let mut reader = Reader { lines: Lines::of(text), left: MAX_NODES };
    Ok(Node { line: 1, value: reader.table(document.get_ref(), 0)? })
}

/// A key of more parts than any document has; what holds it would be dropped by recursion.
fn is_deep(line: &str) -> bool {
    let key = line.split(['=', '"', '\'']).next().unwrap_or(line);
    key.bytes().filter(|byte| *byte == b'.').count() > MAX_DEPTH
}

struct Reader {
    lines: Lines,
    left: usize,
}

impl Reader {
    fn table(&mut self, table: &DeTable<'_>, depth: usize) -> Result<Value, Unreadable> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            let mut node = self.value(value.get_ref(), depth + 1)?;
            node.line = self.lines.line(key.span().start);
            if let Value::Scalar(_) = node.value {
                node.line = self.lines.line(value.span().start);
            }
            entries.push((key.get_ref().to_string(), node));
        }
        Ok(Value::Map(entries))
    }

    fn value(&mut self, value: &DeValue<'_>, depth: usize) -> Result<Node, Unreadable> {
        self.left = self.left.checked_sub(1).filter(|_| depth <= MAX_DEPTH).ok_or(Unreadable::Nesting)?;
        let value = match value {
            DeValue::String(text) => Value::Scalar(text.to_string()),
            DeValue::Integer(number) => Value::Scalar(number.to_string()),
            DeValue::Float(number) => Value::Scalar(number.to_string()),
            DeValue::Boolean(truth) => Value::Scalar(truth.to_string()),
            DeValue::Datetime(time) => Value::Scalar(time.to_string()),
            DeValue::Array(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items {
                    let mut node = self.value(item.get_ref(), depth + 1)?;
                    node.line = self.lines.line(item.span().start);
                    list.push(node);
                }
                Value::List(list)
            }
            DeValue::Table(table) => self.table(table, depth)?,
        };
        Ok(Node { line: 0, value })
    }
}
