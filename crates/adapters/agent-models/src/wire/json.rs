//! Reading what is meant to be JSON. A member of another type than expected is one that is not there.

use serde_json::Value;

use crate::dialogue::{CallArguments, ModelCall};
use crate::limits::{TOOL_NAME_BYTES, USAGE_TOKENS};
use crate::wire::fault::Fault;

/// JSON of any shape; nesting deeper than 128 is refused by the reader.
pub(crate) fn parse(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes).ok()
}

pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(crate) fn index(value: &Value, name: &str) -> Option<u64> {
    value.get(name).and_then(Value::as_u64)
}

/// A count of tokens: absent, or one that can be believed.
pub(crate) fn tokens(value: &Value, name: &str) -> Result<Option<u64>, Fault> {
    match value.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(count) => match count.as_u64() {
            Some(count) if count <= USAGE_TOKENS => Ok(Some(count)),
            _ => Err(Fault::usage("a count of tokens is none")),
        },
    }
}

/// The arguments of an earlier call, as an object: wires accept nothing else, even where the model wrote nothing else.
pub(crate) fn sent_arguments(call: &ModelCall) -> Value {
    match &call.arguments {
        CallArguments::Object(members) => Value::Object(members.clone()),
        CallArguments::Unreadable(text) => serde_json::json!({ "unreadable_arguments": text }),
    }
}

/// The name of an earlier call, in the alphabet that every wire accepts.
pub(crate) fn sent_name(call: &ModelCall) -> String {
    let name: String = call
        .name
        .chars()
        .take(TOOL_NAME_BYTES)
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' })
        .collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}
