//! What a model thinks is no part of a record: not in words, not in pieces, not sealed.

use serde_json::Value;

use crate::wire::{Events, Flow, parse};

/// Stands for what cannot be read, and reads as no answer itself.
const LEFT_OUT: &str = ": left out\n\n";
const THOUGHT: (&str, &str) = ("<think>", "</think>");
/// Members that name or place a thing and say nothing.
const NAMES: &[&str] = &["type", "id", "item_id", "object", "role", "status"];
/// What a model gives to a tool, and the tools themselves. Names in there are the project's.
const GIVEN: &[&str] = &["input", "arguments", "tools"];
/// Members in which a stream brings words piece by piece.
const PIECES: &[&str] = &["content", "text", "delta", "partial_json", "arguments", "refusal"];

/// The body of an answer without thoughts. It reads as the same answer. What cannot be read is left out, since there might
/// be thoughts in it, and so is a stream that says the key back in pieces.
pub(crate) fn without(body: &[u8], key: Option<&str>) -> String {
    if body.trim_ascii().is_empty() {
        return String::new();
    }
    if body.trim_ascii_start().starts_with(b"{") {
        let Some(mut whole) = parse(body) else { return "{".to_owned() };
        clear(std::slice::from_mut(&mut whole));
        return whole.to_string();
    }
    let mut events = Vec::new();
    // A stream that passes a limit is recorded as far as it was read.
    let _passes_a_limit = Events::default().push(body, &mut |data| {
        events.push(match data {
            b"[DONE]" => None,
            data => Some(parse(data).unwrap_or(Value::Null)),
        });
        Ok(Flow::More)
    });
    let mut values: Vec<Value> = events.iter().flatten().cloned().collect();
    clear(&mut values);
    let mut said = String::new();
    values.iter().for_each(|value| collect(value, &mut said));
    if values.is_empty() || key.is_some_and(|key| said.contains(key)) {
        return LEFT_OUT.to_owned();
    }
    let mut values = values.into_iter();
    let line = |event: Option<Value>| match event.and_then(|_| values.next()) {
        Some(Value::Null) => "data: {\n\n".to_owned(),
        Some(value) => format!("data: {value}\n\n"),
        None => "data: [DONE]\n\n".to_owned(),
    };
    events.into_iter().map(line).collect()
}

fn clear(values: &mut [Value]) {
    values.iter_mut().for_each(|value| blank(value, false));
    let mut said = String::new();
    values.iter_mut().for_each(|value| each_content(value, &mut |text| said.push_str(text)));
    if !said.trim_start().starts_with(THOUGHT.0) {
        return;
    }
    let mut hidden = said.find(THOUGHT.1).map_or(said.len(), |at| at + THOUGHT.1.len());
    for value in values {
        each_content(value, &mut |text| {
            let cut = hidden.min(text.len());
            hidden -= cut;
            text.drain(..cut);
        });
    }
}

/// Empties every text of a thought.
fn blank(value: &mut Value, thought: bool) {
    match value {
        Value::String(text) if thought => text.clear(),
        Value::Array(items) => items.iter_mut().for_each(|item| blank(item, thought)),
        Value::Object(members) => {
            let thought = thought || members.get("type").and_then(Value::as_str).is_some_and(is_thought);
            for (name, member) in members {
                let passed = NAMES.contains(&name.as_str()) || (!thought && GIVEN.contains(&name.as_str()));
                if !passed {
                    blank(member, thought || is_thought(name));
                }
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_thought(name: &str) -> bool {
    ["thinking", "reasoning", "thought", "signature", "encrypted_content"]
        .iter()
        .any(|word| name.contains(word))
}

/// The words of Chat Completions, among which some servers leave thoughts. Only the first choice is one.
fn each_content(value: &mut Value, take: &mut dyn FnMut(&mut String)) {
    let Some(choices) = value.get_mut("choices").and_then(Value::as_array_mut) else { return };
    choices.retain(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0);
    for choice in choices {
        for place in ["message", "delta"] {
            match choice.get_mut(place).and_then(|message| message.get_mut("content")) {
                Some(Value::String(text)) => take(text),
                Some(Value::Array(parts)) => {
                    for part in parts {
                        if let Some(Value::String(text)) = part.get_mut("text") {
                            take(text);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// Adds every piece of words.
fn collect(value: &Value, said: &mut String) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, said)),
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if PIECES.contains(&name.as_str()) => said.push_str(text),
                    member => collect(member, said),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stream(events: &[Value]) -> String {
        events.iter().map(|event| format!("data: {event}\n\n")).collect()
    }

    #[test]
    fn thoughts_are_emptied_and_what_a_tool_is_given_is_not() {
        let body = json!({
            "content": [
                {"type": "thinking", "thinking": "CANARY", "signature": "CANARY"},
                {"type": "redacted_thinking", "data": "CANARY"},
                {"type": "tool_use", "id": "c", "name": "t", "input": {"reasoning": "kept", "type": "thinking"}},
            ],
            "output": [{"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "CANARY"}]}],
            "choices": [{"message": {"reasoning_content": "CANARY", "content": " <think>CANARY</think>So."}}],
            "usage": {"reasoning_tokens": 7},
        });
        let left = without(body.to_string().as_bytes(), None);
        assert!(!left.contains("CANARY"), "{left}");
        let left: Value = serde_json::from_str(&left).unwrap();
        assert_eq!(left["content"][2], body["content"][2]);
        assert_eq!(left["usage"], body["usage"]);
        assert_eq!(left["choices"][0]["message"]["content"], "So.");
    }

    #[test]
    fn a_thought_in_pieces_goes_and_so_does_what_cannot_be_read() {
        let delta = |text: &str| json!({"choices": [{"index": 0, "delta": {"content": text}}]});
        let body = stream(&[delta("<th"), delta("ink>CAN"), delta("ARY</thi"), delta("nk>So"), delta(".")]);
        let left = without(body.as_bytes(), None);
        assert_eq!(left, stream(&[delta(""), delta(""), delta(""), delta("So"), delta(".")]));
        for (unreadable, expected) in [
            ("{\"thinking\":\"CANARY", "{"),
            ("<html>CANARY", LEFT_OUT),
            ("data: {\"thinking\":\"CANARY", LEFT_OUT),
            ("data: {\"a\":\"CANARY\n\ndata: [DONE]\n\n", "data: {\n\ndata: [DONE]\n\n"),
            (" ", ""),
        ] {
            assert_eq!(without(unreadable.as_bytes(), None), expected, "{unreadable}");
        }
    }

    #[test]
    fn a_key_that_is_said_back_in_pieces_takes_the_stream_with_it() {
        let delta = |text: &str| json!({"delta": {"type": "text_delta", "text": text}});
        let body = stream(&[delta("a KE"), delta("Y b")]);
        assert_eq!(without(body.as_bytes(), Some("KEY")), LEFT_OUT);
        assert_eq!(without(body.as_bytes(), Some("other")), body);
    }
}
