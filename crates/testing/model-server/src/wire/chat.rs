//! Answers of OpenAI Chat Completions.

use serde_json::{Value, json};

use super::{Event, filler_words};
use crate::answer::{Answer, Arguments, pieces};
use crate::script::Stop;

/// A fixed time, so that the same script makes the same answers.
const CREATED: u64 = 1_750_000_000;

pub(super) fn whole(answer: &Answer) -> Value {
    let mut message = json!({
        "role": "assistant",
        "content": answer.text,
        "refusal": answer.refusal,
        "annotations": [],
    });
    if let Some(thinking) = &answer.thinking {
        message["reasoning_content"] = json!(thinking);
    }
    if !answer.calls.is_empty() {
        message["tool_calls"] = answer
            .calls
            .iter()
            .map(|call| {
                let arguments = match &call.arguments {
                    Arguments::Text(text) => json!(text),
                    Arguments::OtherShape(value) => value.clone(),
                };
                json!({
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": arguments},
                })
            })
            .collect();
    }
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(answer.stop)});
    let mut completion = envelope(answer, "chat.completion");
    completion["choices"] = json!([choice]);
    if answer.tells_usage {
        completion["usage"] = usage(answer);
    }
    completion
}

pub(super) fn events(answer: &Answer, wants_usage: bool) -> Vec<Event> {
    let opening = answer.text.as_ref().map(|_| "");
    let mut deltas = vec![json!({"role": "assistant", "content": opening, "refusal": null})];
    let told = |text: &Option<String>, field: &str| -> Vec<Value> {
        let delta = |piece| {
            let mut delta = json!({});
            delta[field] = Value::String(piece);
            delta
        };
        text.iter().flat_map(|text| pieces(text)).map(delta).collect()
    };
    deltas.extend(told(&answer.thinking, "reasoning_content"));
    deltas.extend(told(&answer.text, "content"));
    deltas.extend(told(&answer.refusal, "refusal"));
    for (index, call) in answer.calls.iter().enumerate() {
        let opening = json!({
            "index": index,
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": ""},
        });
        deltas.push(json!({"tool_calls": [opening]}));
        let parts = match &call.arguments {
            Arguments::Text(text) => pieces(text).into_iter().map(Value::String).collect(),
            Arguments::OtherShape(value) => vec![value.clone()],
        };
        let more = |part| json!({"tool_calls": [{"index": index, "function": {"arguments": part}}]});
        deltas.extend(parts.into_iter().map(more));
    }
    let chunk = |choices: Value| {
        let mut chunk = envelope(answer, "chat.completion.chunk");
        chunk["choices"] = choices;
        if wants_usage {
            chunk["usage"] = Value::Null;
        }
        chunk
    };
    let choice = |delta: Value, finish: Option<&str>| {
        chunk(json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]))
    };
    let mut events: Vec<_> = deltas.into_iter().map(|delta| Event::unnamed(&choice(delta, None))).collect();
    events.push(Event::unnamed(&choice(json!({}), Some(finish_reason(answer.stop)))));
    if wants_usage && answer.tells_usage {
        let mut last = chunk(json!([]));
        last["usage"] = usage(answer);
        events.push(Event::unnamed(&last));
    }
    events.push(Event { name: None, data: "[DONE]".to_owned() });
    events
}

pub(super) fn filler_event(number: u64) -> Event {
    Event::unnamed(&json!({
        "id": format!("chatcmpl-{number:012}"),
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": "filler",
        "choices": [{"index": 0, "delta": {"content": filler_words()}, "finish_reason": null}],
    }))
}

fn envelope(answer: &Answer, object: &str) -> Value {
    json!({
        "id": format!("chatcmpl-{:012}", answer.number),
        "object": object,
        "created": CREATED,
        "model": answer.model,
        "service_tier": "default",
        "system_fingerprint": "fp_script",
    })
}

fn usage(answer: &Answer) -> Value {
    let usage = &answer.usage;
    json!({
        "prompt_tokens": usage.whole_input(),
        "completion_tokens": usage.output,
        "total_tokens": usage.whole_input().saturating_add(usage.output),
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}

fn finish_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::End | Stop::Refusal => "stop",
        Stop::Calls => "tool_calls",
        Stop::Length => "length",
        Stop::Filter => "content_filter",
    }
}
