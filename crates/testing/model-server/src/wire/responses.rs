//! Answers of OpenAI Responses.

use serde_json::{Value, json};

use super::{Event, filler_words};
use crate::answer::{Answer, Arguments, PlacedCall, pieces};
use crate::script::Stop;

/// A fixed time, so that the same script makes the same answers.
const CREATED_AT: u64 = 1_750_000_000;

pub(super) fn whole(answer: &Answer, body: &Value) -> Value {
    let mut response = envelope(answer, body, "in_progress");
    finish(&mut response, answer);
    response
}

pub(super) fn events(answer: &Answer, body: &Value) -> Vec<Event> {
    let mut stream = Stream::default();
    stream.push("response.created", json!({"response": envelope(answer, body, "in_progress")}));
    stream.push("response.in_progress", json!({"response": envelope(answer, body, "in_progress")}));
    for (index, item) in items(answer).into_iter().enumerate() {
        stream.item(index, item);
    }
    let ending =
        if incomplete_reason(answer.stop).is_some() { "response.incomplete" } else { "response.completed" };
    stream.push(ending, json!({"response": whole(answer, body)}));
    stream.events
}

pub(super) fn error_event(index: usize) -> Event {
    let data = json!({
        "type": "error",
        "code": "server_error",
        "message": "The server had an error while processing your request.",
        "param": null,
        "sequence_number": index,
    });
    Event::named("error", &data)
}

pub(super) fn filler_event(number: u64, index: usize) -> Event {
    let data = json!({
        "type": "response.output_text.delta",
        "item_id": format!("msg_{number:012}"),
        "output_index": 0,
        "content_index": 0,
        "delta": filler_words(),
        "logprobs": [],
        "sequence_number": index,
    });
    Event::named("response.output_text.delta", &data)
}

fn envelope(answer: &Answer, body: &Value, status: &str) -> Value {
    let echoed = |name: &str, otherwise: Value| body.get(name).cloned().unwrap_or(otherwise);
    json!({
        "id": format!("resp_{:012}", answer.number),
        "object": "response",
        "created_at": CREATED_AT,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": echoed("instructions", Value::Null),
        "max_output_tokens": echoed("max_output_tokens", Value::Null),
        "metadata": echoed("metadata", json!({})),
        "model": answer.model,
        "output": [],
        "parallel_tool_calls": echoed("parallel_tool_calls", json!(true)),
        "previous_response_id": null,
        "reasoning": echoed("reasoning", json!({"effort": null, "summary": null})),
        "service_tier": "default",
        "store": echoed("store", json!(true)),
        "temperature": echoed("temperature", json!(1.0)),
        "text": echoed("text", json!({"format": {"type": "text"}})),
        "tool_choice": echoed("tool_choice", json!("auto")),
        "tools": echoed("tools", json!([])),
        "top_p": echoed("top_p", json!(1.0)),
        "truncation": "disabled",
        "usage": null,
        "user": null,
    })
}

fn finish(response: &mut Value, answer: &Answer) {
    response["output"] = items(answer).into_iter().map(|item| item.whole).collect();
    match incomplete_reason(answer.stop) {
        Some(reason) => {
            response["status"] = json!("incomplete");
            response["incomplete_details"] = json!({"reason": reason});
        }
        None => response["status"] = json!("completed"),
    }
    if answer.tells_usage {
        let usage = &answer.usage;
        response["usage"] = json!({
            "input_tokens": usage.whole_input(),
            "input_tokens_details": {
                "cached_tokens": usage.cache_read,
                "cache_write_tokens": usage.cache_write,
            },
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": usage.whole_input().saturating_add(usage.output),
        });
    }
}

fn incomplete_reason(stop: Stop) -> Option<&'static str> {
    match stop {
        Stop::Length => Some("max_output_tokens"),
        Stop::Filter => Some("content_filter"),
        Stop::End | Stop::Calls | Stop::Refusal => None,
    }
}

/// An item of output as a whole answer has it, and the steps in which a stream builds it.
struct Item {
    id: String,
    whole: Value,
    empty: Value,
    steps: Vec<(&'static str, Value)>,
}

fn items(answer: &Answer) -> Vec<Item> {
    let mut items = Vec::new();
    if let Some(thinking) = &answer.thinking {
        items.push(reasoning(answer.number, thinking));
    }
    if let Some(text) = &answer.text {
        items.push(message(answer, &Said::Text(text)));
    }
    if let Some(refusal) = &answer.refusal {
        items.push(message(answer, &Said::Refusal(refusal)));
    }
    items.extend(answer.calls.iter().map(function_call));
    items
}

fn reasoning(number: u64, thinking: &str) -> Item {
    let id = format!("rs_{number:012}");
    let encrypted = format!("ZW5jcnlwdGVk{number:012}");
    let part = |text: &str| json!({"type": "summary_text", "text": text});
    let at = |value: Value| placed(value, &[("summary_index", json!(0))]);
    let mut steps = vec![("response.reasoning_summary_part.added", at(json!({"part": part("")})))];
    for piece in pieces(thinking) {
        steps.push(("response.reasoning_summary_text.delta", at(json!({"delta": piece}))));
    }
    steps.push(("response.reasoning_summary_text.done", at(json!({"text": thinking}))));
    steps.push(("response.reasoning_summary_part.done", at(json!({"part": part(thinking)}))));
    Item {
        whole: json!({
            "id": id, "type": "reasoning", "summary": [part(thinking)], "encrypted_content": encrypted,
        }),
        empty: json!({"id": id, "type": "reasoning", "summary": []}),
        id,
        steps,
    }
}

enum Said<'a> {
    Text(&'a str),
    Refusal(&'a str),
}

fn message(answer: &Answer, said: &Said<'_>) -> Item {
    let id = match said {
        Said::Text(_) => format!("msg_{:012}", answer.number),
        Said::Refusal(_) => format!("msg_{:012}r", answer.number),
    };
    let part = |words: &str| match said {
        Said::Text(_) => json!({"type": "output_text", "text": words, "annotations": [], "logprobs": []}),
        Said::Refusal(_) => json!({"type": "refusal", "refusal": words}),
    };
    let (words, delta, done, field) = match said {
        Said::Text(words) => (*words, "response.output_text.delta", "response.output_text.done", "text"),
        Said::Refusal(words) => (*words, "response.refusal.delta", "response.refusal.done", "refusal"),
    };
    let at = |value: Value| {
        let value = placed(value, &[("content_index", json!(0))]);
        if matches!(said, Said::Text(_)) { placed(value, &[("logprobs", json!([]))]) } else { value }
    };
    let part_at = |words: &str| placed(json!({"part": part(words)}), &[("content_index", json!(0))]);
    let mut steps = vec![("response.content_part.added", part_at(""))];
    steps.extend(pieces(words).into_iter().map(|piece| (delta, at(json!({"delta": piece})))));
    steps.push((done, at(placed(json!({}), &[(field, json!(words))]))));
    steps.push(("response.content_part.done", part_at(words)));
    let status = if incomplete_reason(answer.stop).is_some() { "incomplete" } else { "completed" };
    Item {
        whole: json!({
            "id": id, "type": "message", "role": "assistant", "status": status, "content": [part(words)],
        }),
        empty: json!({
            "id": id, "type": "message", "role": "assistant", "status": "in_progress", "content": [],
        }),
        id,
        steps,
    }
}

fn function_call(call: &PlacedCall) -> Item {
    let id = format!("fc_{}", call.id);
    let item = |arguments: &Value, status: &str| {
        json!({
            "id": id, "type": "function_call", "call_id": call.id, "name": call.name,
            "arguments": arguments, "status": status,
        })
    };
    let (arguments, parts) = match &call.arguments {
        Arguments::Text(text) => {
            (json!(text), pieces(text).into_iter().map(Value::String).collect::<Vec<_>>())
        }
        Arguments::OtherShape(value) => (value.clone(), vec![value.clone()]),
    };
    let mut steps: Vec<_> = parts
        .into_iter()
        .map(|part| ("response.function_call_arguments.delta", json!({"delta": part})))
        .collect();
    steps.push(("response.function_call_arguments.done", json!({"arguments": arguments, "name": call.name})));
    Item {
        whole: item(&arguments, "completed"),
        empty: item(&json!(""), "in_progress"),
        id: id.clone(),
        steps,
    }
}

fn placed(mut value: Value, fields: &[(&str, Value)]) -> Value {
    for (name, field) in fields {
        value[*name] = field.clone();
    }
    value
}

#[derive(Default)]
struct Stream {
    events: Vec<Event>,
}

impl Stream {
    fn push(&mut self, kind: &'static str, data: Value) {
        let data = placed(data, &[("type", json!(kind)), ("sequence_number", json!(self.events.len()))]);
        self.events.push(Event::named(kind, &data));
    }

    fn item(&mut self, index: usize, item: Item) {
        self.push("response.output_item.added", json!({"output_index": index, "item": item.empty}));
        for (kind, data) in item.steps {
            let at = [("output_index", json!(index)), ("item_id", json!(item.id))];
            self.push(kind, placed(data, &at));
        }
        self.push("response.output_item.done", json!({"output_index": index, "item": item.whole}));
    }
}
