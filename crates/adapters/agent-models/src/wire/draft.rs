use ambit_ids::Digest;
use serde_json::{Map, Value};

use crate::dialogue::{CallArguments, ModelCall, ModelReply, StopCause, Usage};
use crate::limits::{CALL_ID_BYTES, CALLS, KEPT_BYTES};
use crate::wire::fault::Fault;

/// An answer that is being read. What is not put here is dropped: reasoning above all.
#[derive(Default)]
pub(crate) struct Draft {
    text: String,
    calls: Vec<CallDraft>,
    kept_bytes: usize,
    refused: bool,
}

/// A call that is being read. `given` is what the wire gave as a value, `text` what it gave piece by piece.
struct CallDraft {
    id: String,
    name: String,
    given: Value,
    text: String,
}

impl Draft {
    fn keep(&mut self, bytes: usize) -> Result<(), Fault> {
        self.kept_bytes += bytes;
        if self.kept_bytes > KEPT_BYTES {
            return Err(Fault::too_large("its text and its calls together are too large"));
        }
        Ok(())
    }

    pub(crate) fn add_text(&mut self, text: &str) -> Result<(), Fault> {
        self.keep(text.len())?;
        self.text.push_str(text);
        Ok(())
    }

    /// Text in which the model says that it will not answer.
    pub(crate) fn add_refusal(&mut self, text: &str) -> Result<(), Fault> {
        self.refused |= !text.is_empty();
        self.add_text(text)
    }

    /// Begins a call, in the order in which the model made them. `given` are its arguments as far as they are there.
    pub(crate) fn add_call(&mut self, id: &str, name: &str, given: Value) -> Result<usize, Fault> {
        if self.calls.len() == CALLS {
            return Err(Fault::too_large("it makes too many calls"));
        }
        let size = given.as_str().map_or_else(|| given.to_string().len(), str::len);
        self.keep(id.len() + name.len() + size)?;
        self.calls.push(CallDraft { id: id.to_owned(), name: name.to_owned(), given, text: String::new() });
        Ok(self.calls.len() - 1)
    }

    pub(crate) fn call_id(&self, call: usize) -> &str {
        self.calls.get(call).map_or("", |call| &call.id)
    }

    /// Adds a piece of the arguments.
    pub(crate) fn add_arguments(&mut self, call: usize, piece: &str) -> Result<(), Fault> {
        self.keep(piece.len())?;
        if let Some(call) = self.calls.get_mut(call) {
            call.text.push_str(piece);
        }
        Ok(())
    }

    /// Adds the name or the id where the wire brings them late. What is there already stays.
    pub(crate) fn complete(&mut self, call: usize, id: &str, name: &str) -> Result<(), Fault> {
        self.keep(id.len() + name.len())?;
        if let Some(call) = self.calls.get_mut(call) {
            for (known, late) in [(&mut call.id, id), (&mut call.name, name)] {
                if known.is_empty() {
                    late.clone_into(known);
                }
            }
        }
        Ok(())
    }

    /// The answer. What was said about its end yields to what it holds.
    pub(crate) fn finish(self, said: StopCause, usage: Usage) -> ModelReply {
        let mut calls: Vec<ModelCall> = Vec::with_capacity(self.calls.len());
        for (position, draft) in self.calls.into_iter().enumerate() {
            let call = draft.call(position, usage, &calls);
            calls.push(call);
        }
        let stop = match said {
            _ if self.refused => StopCause::Refused,
            StopCause::Done | StopCause::Calls if calls.is_empty() => StopCause::Done,
            StopCause::Done => StopCause::Calls,
            other => other,
        };
        ModelReply { text: self.text, calls, stop, usage }
    }
}

impl CallDraft {
    fn call(self, position: usize, usage: Usage, before: &[ModelCall]) -> ModelCall {
        let arguments =
            if self.text.is_empty() { arguments_of(&self.given) } else { arguments_in(&self.text) };
        let usable = !self.id.is_empty()
            && self.id.len() <= CALL_ID_BYTES
            && self.id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':'))
            && before.iter().all(|call| call.id != self.id);
        let id = if usable { self.id } else { made_id(position, &self.name, usage) };
        ModelCall { id, name: self.name, arguments }
    }
}

/// An id where the vendor gave none, an unusable one or one twice. It differs within an answer, and between answers to
/// conversations of different lengths.
fn made_id(position: usize, name: &str, usage: Usage) -> String {
    let digest = Digest::of(format!("{position} {usage:?} {name}").as_bytes());
    format!("call_{}", &digest.to_hex()[..24])
}

/// Arguments as a value: an object, or text that holds one.
fn arguments_of(given: &Value) -> CallArguments {
    match given {
        Value::Object(members) => CallArguments::Object(members.clone()),
        Value::String(text) => arguments_in(text),
        Value::Null => CallArguments::Object(Map::new()),
        other => CallArguments::Unreadable(other.to_string()),
    }
}

/// Arguments as text. No text is no arguments; text that was put into quotes once too often is unwrapped once.
fn arguments_in(text: &str) -> CallArguments {
    if text.trim().is_empty() {
        return CallArguments::Object(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => CallArguments::Object(members),
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(members)) => CallArguments::Object(members),
            _ => CallArguments::Unreadable(text.to_owned()),
        },
        _ => CallArguments::Unreadable(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn only(given: Value, pieces: &[&str]) -> CallArguments {
        let mut draft = Draft::default();
        let call = draft.add_call("a", "t", given).unwrap();
        for piece in pieces {
            draft.add_arguments(call, piece).unwrap();
        }
        draft.finish(StopCause::Done, Usage::default()).calls.remove(0).arguments
    }

    #[test]
    fn arguments_come_as_an_object_as_text_or_not_at_all() {
        let object = CallArguments::Object(json!({"a": 1}).as_object().unwrap().clone());
        assert_eq!(only(json!({"a": 1}), &[]), object);
        assert_eq!(only(json!("{\"a\":1}"), &[]), object);
        assert_eq!(only(json!("\"{\\\"a\\\":1}\""), &[]), object);
        assert_eq!(only(json!({}), &["{\"a\"", ":1}"]), object);
        for none in [json!(null), json!(""), json!(" "), json!({})] {
            assert_eq!(only(none, &[]), CallArguments::Object(Map::new()));
        }
        for bad in ["{\"a\":", "[1]", "7", "\"x\"", &"[".repeat(5_000)] {
            assert_eq!(only(json!(bad), &[]), CallArguments::Unreadable(bad.to_owned()));
        }
        assert_eq!(only(json!([1]), &[]), CallArguments::Unreadable("[1]".to_owned()));
    }

    #[test]
    fn ids_are_made_where_they_are_missing_doubled_or_unusable() {
        let mut draft = Draft::default();
        for id in ["", "good", "good", "a b", &"x".repeat(129), "functions.read:0"] {
            draft.add_call(id, "t", Value::Null).unwrap();
        }
        let ids: Vec<String> =
            draft.finish(StopCause::Calls, Usage::default()).calls.into_iter().map(|call| call.id).collect();
        let distinct: std::collections::BTreeSet<&String> = ids.iter().collect();
        assert_eq!(distinct.len(), 6);
        assert_eq!((ids[1].as_str(), ids[5].as_str()), ("good", "functions.read:0"));
        assert!(ids[0].starts_with("call_") && ids[2].starts_with("call_") && ids[3].starts_with("call_"));
    }

    #[test]
    fn the_end_is_told_by_what_is_there() {
        let draft = |calls: usize| {
            let mut draft = Draft::default();
            for _ in 0..calls {
                draft.add_call("", "t", Value::Null).unwrap();
            }
            draft
        };
        let stop = |calls, said| draft(calls).finish(said, Usage::default()).stop;
        assert_eq!(stop(1, StopCause::Done), StopCause::Calls);
        assert_eq!(stop(0, StopCause::Calls), StopCause::Done);
        assert_eq!(stop(1, StopCause::Length), StopCause::Length);
        let mut refusal = draft(0);
        refusal.add_refusal("no").unwrap();
        assert_eq!(refusal.finish(StopCause::Done, Usage::default()).stop, StopCause::Refused);
    }

    #[test]
    fn an_answer_has_a_size() {
        let mut draft = Draft::default();
        let text = "x".repeat(KEPT_BYTES);
        draft.add_text(&text).unwrap();
        assert_eq!(draft.add_text("x").unwrap_err().code, "MODEL_ANSWER_TOO_LARGE");
        let mut draft = Draft::default();
        for _ in 0..CALLS {
            draft.add_call("", "t", Value::Null).unwrap();
        }
        assert_eq!(draft.add_call("", "t", Value::Null).unwrap_err().code, "MODEL_ANSWER_TOO_LARGE");
    }
}
