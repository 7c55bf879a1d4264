//! A server that was given a key may say it back. It goes no further.

use serde_json::{Map, Value};

use crate::dialogue::{CallArguments, ModelReply};

/// Shorter texts are no keys but words that servers without keys are given in place of one, and are found in any project.
const LEAST_KEY_BYTES: usize = 16;
const REDACTED: &str = "[key]";

pub(crate) fn reply(reply: &mut ModelReply, key: &str) {
    if key.len() < LEAST_KEY_BYTES {
        return;
    }
    text(&mut reply.text, key);
    for call in &mut reply.calls {
        text(&mut call.id, key);
        text(&mut call.name, key);
        match &mut call.arguments {
            CallArguments::Unreadable(arguments) => text(arguments, key),
            CallArguments::Object(arguments) => members(arguments, key),
        }
    }
}

pub(crate) fn text(text: &mut String, key: &str) {
    if text.contains(key) {
        *text = text.replace(key, REDACTED);
    }
}

/// A name that no tool has is repeated in the denial of the call, and the first of two that come to be one is kept.
fn members(found: &mut Map<String, Value>, key: &str) {
    for (mut name, mut member) in std::mem::take(found) {
        text(&mut name, key);
        value(&mut member, key);
        found.entry(name).or_insert(member);
    }
}

fn value(found: &mut Value, key: &str) {
    match found {
        Value::String(found) => text(found, key),
        Value::Array(items) => items.iter_mut().for_each(|item| value(item, key)),
        Value::Object(found) => members(found, key),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dialogue::{ModelCall, StopCause, Usage};

    const KEY: &str = "CANARY-key-0123456789";

    #[test]
    fn a_key_that_is_said_back_goes_no_further_wherever_it_stands() {
        let echo = format!("a{KEY}b");
        let object = json!({"path": echo, echo.clone(): 1, "deep": [{echo.clone(): {"x": echo}}], "n": 7});
        let call = |arguments| ModelCall { id: echo.clone(), name: echo.clone(), arguments };
        let mut said = ModelReply {
            text: echo.clone(),
            calls: vec![
                call(CallArguments::Object(object.as_object().unwrap().clone())),
                call(CallArguments::Unreadable(echo.clone())),
            ],
            stop: StopCause::Calls,
            usage: Usage::default(),
        };
        let mut short = said.clone();
        reply(&mut said, KEY);
        assert!(!format!("{said:?}").contains(KEY), "{said:?}");
        let expected =
            json!({"path": "a[key]b", "a[key]b": 1, "deep": [{"a[key]b": {"x": "a[key]b"}}], "n": 7});
        assert_eq!(said.calls[0].arguments, CallArguments::Object(expected.as_object().unwrap().clone()));
        reply(&mut short, "CANARY");
        assert!(format!("{short:?}").contains(KEY), "a word that could stand in any project stays");
    }
}
