//! The YAML of a script: block or flow, plain or quoted scalars, as JSON values.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

use crate::script::ScriptError;

/// Nesting beyond this is no script.
const DEPTH: usize = 64;

pub(crate) fn read(text: &str) -> Result<Value, ScriptError> {
    let mut events = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|cause| wrong(cause.to_string()))?;
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => {}
            Event::DocumentEnd => {}
            other => events.push((other, span.start.line())),
        }
    }
    let mut events = events.into_iter();
    let value = node(&mut events, 0)?;
    match events.next() {
        None => Ok(value),
        Some((_, line)) => Err(wrong(format!("line {line}: a second document"))),
    }
}

fn wrong(says: String) -> ScriptError {
    ScriptError::Syntax { says }
}

fn node<'a>(
    events: &mut impl Iterator<Item = (Event<'a>, usize)>,
    depth: usize,
) -> Result<Value, ScriptError> {
    let (event, line) = events.next().ok_or_else(|| wrong("it is empty".to_owned()))?;
    value_of(event, line, events, depth)
}

fn value_of<'a>(
    event: Event<'a>,
    line: usize,
    events: &mut impl Iterator<Item = (Event<'a>, usize)>,
    depth: usize,
) -> Result<Value, ScriptError> {
    if depth > DEPTH {
        return Err(wrong(format!("line {line}: nested too deep")));
    }
    match event {
        Event::Scalar(text, ScalarStyle::Plain, 0, None) => Ok(plain(&text)),
        Event::Scalar(text, _, 0, None) => Ok(Value::String(text.into_owned())),
        Event::SequenceStart(0, None) => {
            let mut items = Vec::new();
            loop {
                match events.next() {
                    Some((Event::SequenceEnd, _)) => return Ok(Value::Array(items)),
                    Some((event, line)) => items.push(value_of(event, line, events, depth + 1)?),
                    None => return Err(wrong("a list does not end".to_owned())),
                }
            }
        }
        Event::MappingStart(0, None) => mapping(events, depth),
        _ => Err(wrong(format!("line {line}: anchors, aliases and tags are not read"))),
    }
}

fn mapping<'a>(
    events: &mut impl Iterator<Item = (Event<'a>, usize)>,
    depth: usize,
) -> Result<Value, ScriptError> {
    let mut fields = Map::new();
    loop {
        match events.next() {
            Some((Event::MappingEnd, _)) => return Ok(Value::Object(fields)),
            Some((Event::Scalar(name, _, 0, None), line)) => {
                let value = node(events, depth + 1)?;
                if fields.insert(name.to_string(), value).is_some() {
                    return Err(wrong(format!("line {line}: `{name}` stands there twice")));
                }
            }
            Some((_, line)) => return Err(wrong(format!("line {line}: a key must be a word"))),
            None => return Err(wrong("a mapping does not end".to_owned())),
        }
    }
}

fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        number => match serde_json::from_str::<Number>(number) {
            Ok(number) => Value::Number(number),
            Err(_) => Value::String(text.to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn yaml_becomes_the_value_that_json_would_be() {
        let text = "turns:\n  - text: \"a: b\"\n    repeat: true\n    usage: {input: 10}\n  - text: |\n      one\n      two\n  - text: '7'\n";
        let expected = json!({"turns": [
            {"text": "a: b", "repeat": true, "usage": {"input": 10}}, {"text": "one\ntwo\n"}, {"text": "7"}
        ]});
        assert_eq!(read(text).unwrap(), expected);
    }

    #[test]
    fn what_is_not_read_is_refused() {
        for text in ["a: &x 1\nb: *x\n", "a: 1\na: 2\n", "a: !t 1\n", "a: 1\n---\nb: 2\n", "", "a: [1"] {
            assert_eq!(read(text).unwrap_err().code(), "SCRIPT_SYNTAX", "{text}");
        }
    }
}
