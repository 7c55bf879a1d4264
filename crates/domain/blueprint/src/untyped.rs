//! Documents of other crates, read as strictly as the ones here.

use serde_json::{Map, Number, Value as Json};

use crate::DocumentError;
use crate::cursor::{Cursor, Read, read_document};
use crate::located::{Node, Plain, Value};
use crate::problem::{Finding, ProblemCode};

/// Reads YAML or JSON of the strict subset as plain JSON values. A number with decimals comes as its characters, since
/// no document of Ambit holds floats.
///
/// # Errors
/// [`DocumentError`] with the place of whatever lies outside the subset.
pub fn read_untyped(file: &str, bytes: &[u8]) -> Result<Json, DocumentError> {
    read_document(file, bytes, |cursor| json(cursor, cursor.node()))
}

pub(crate) fn json(cursor: &Cursor<'_>, node: &Node) -> Read<Json> {
    match &node.value {
        Value::Text(text) => Ok(Json::String(text.clone())),
        Value::Plain(text) => scalar(cursor, node, text),
        Value::Sequence(items) => items.iter().map(|item| json(cursor, item)).collect(),
        Value::Mapping(members) => {
            let members: Read<Map<String, Json>> =
                members.iter().map(|member| Ok((member.name.clone(), json(cursor, &member.node)?))).collect();
            Ok(Json::Object(members?))
        }
    }
}

fn scalar(cursor: &Cursor<'_>, node: &Node, text: &str) -> Read<Json> {
    match Plain::of(text) {
        Plain::Null => Ok(Json::Null),
        Plain::Boolean(value) => Ok(Json::Bool(value)),
        Plain::Decimal | Plain::Text => Ok(Json::String(text.to_owned())),
        Plain::Integer => {
            match text.parse::<i64>() {
                Ok(number) => Ok(Json::Number(Number::from(number))),
                Err(_) => Err(cursor
                    .refuse_at(node, Finding::new(ProblemCode::OutOfRange, "the integer is too large", ""))),
            }
        }
        Plain::Ambiguous => {
            let finding = Finding::new(
                ProblemCode::WrongType,
                format!("readers of YAML disagree about what {text:?} is"),
                "put it in quotes",
            );
            Err(cursor.refuse_at(node, finding))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_come_as_json_and_what_is_ambiguous_not_at_all() {
        let text = b"a: [1, -2, true, ~, 4.50, \"x\", plain]\nb: {c: |\n    two\n    lines\n  }\n";
        let text = std::str::from_utf8(text)
            .unwrap()
            .replace("{c: |\n    two\n    lines\n  }", "\n  c: |\n    two\n    lines");
        let value = read_untyped("t.yaml", text.as_bytes()).unwrap();
        assert_eq!(
            value,
            json!({"a": [1, -2, true, null, "4.50", "x", "plain"], "b": {"c": "two\nlines\n"}})
        );
        for wrong in ["a: yes", "a: 0x10", "a: 1\na: 2", "a: 99999999999999999999", "a: &x 1"] {
            assert!(read_untyped("t.yaml", wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
