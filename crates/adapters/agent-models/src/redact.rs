//! A server that was given a key may say it back. It goes no further.

use serde_json::Value;

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
            CallArguments::Object(members) => members.values_mut().for_each(|member| value(member, key)),
        }
    }
}

pub(crate) fn text(text: &mut String, key: &str) {
    if text.contains(key) {
        *text = text.replace(key, REDACTED);
    }
}

/// Names of members are no place for a key: a tool has none that it could fit.
fn value(found: &mut Value, key: &str) {
    match found {
        Value::String(found) => text(found, key),
        Value::Array(items) => items.iter_mut().for_each(|item| value(item, key)),
        Value::Object(members) => members.values_mut().for_each(|member| value(member, key)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
