//! Answers of Anthropic Messages.

use serde_json::{Value, json};

use super::{Event, Rejection, filler_words};
use crate::answer::{Answer, Arguments, PlacedCall, pieces};
use crate::script::Stop;

pub(super) fn error(rejection: &Rejection, number: u64) -> Value {
    let kind = match rejection.status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({
        "type": "error",
        "error": {"type": kind, "message": rejection.message},
        "request_id": format!("req_{number:012}"),
    })
}

pub(super) fn whole(answer: &Answer) -> Value {
    let mut message = empty_message(answer);
    message["content"] = blocks(answer).into_iter().map(|block| block.whole).collect();
    message["stop_reason"] = json!(stop_reason(answer.stop));
    message["stop_details"] = stop_details(answer);
    if answer.tells_usage {
        message["usage"] = usage(answer, answer.usage.output);
    }
    message
}

pub(super) fn events(answer: &Answer) -> Vec<Event> {
    let mut message = empty_message(answer);
    if answer.tells_usage {
        message["usage"] = usage(answer, answer.usage.output.min(1));
    }
    let mut events = vec![
        Event::named("message_start", &json!({"type": "message_start", "message": message})),
        Event::named("ping", &json!({"type": "ping"})),
    ];
    for (index, block) in blocks(answer).into_iter().enumerate() {
        events.push(of_block("content_block_start", index, "content_block", block.empty));
        let deltas = block.deltas.into_iter();
        events.extend(deltas.map(|delta| of_block("content_block_delta", index, "delta", delta)));
        let stop = json!({"type": "content_block_stop", "index": index});
        events.push(Event::named("content_block_stop", &stop));
    }
    let mut delta = json!({
        "type": "message_delta",
        "delta": {
            "stop_reason": stop_reason(answer.stop),
            "stop_sequence": null,
            "stop_details": stop_details(answer),
        },
    });
    if answer.tells_usage {
        delta["usage"] = json!({
            "input_tokens": answer.usage.input,
            "cache_creation_input_tokens": answer.usage.cache_write,
            "cache_read_input_tokens": answer.usage.cache_read,
            "output_tokens": answer.usage.output,
            "output_tokens_details": {"thinking_tokens": answer.usage.reasoning},
        });
    }
    events.push(Event::named("message_delta", &delta));
    events.push(Event::named("message_stop", &json!({"type": "message_stop"})));
    events
}

pub(super) fn filler_event() -> Event {
    of_block("content_block_delta", 0, "delta", json!({"type": "text_delta", "text": filler_words()}))
}

fn of_block(name: &'static str, index: usize, field: &str, value: Value) -> Event {
    let mut data = json!({"type": name, "index": index});
    data[field] = value;
    Event::named(name, &data)
}

fn empty_message(answer: &Answer) -> Value {
    json!({
        "id": format!("msg_{:012}", answer.number),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "stop_details": null,
    })
}

fn usage(answer: &Answer, output: u64) -> Value {
    let usage = &answer.usage;
    json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {"ephemeral_5m_input_tokens": usage.cache_write, "ephemeral_1h_input_tokens": 0},
        "output_tokens": output,
        "output_tokens_details": {"thinking_tokens": usage.reasoning.min(output)},
        "service_tier": "standard",
    })
}

fn stop_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "end_turn",
        Stop::Calls => "tool_use",
        Stop::Length => "max_tokens",
        Stop::Refusal | Stop::Filter => "refusal",
    }
}

fn stop_details(answer: &Answer) -> Value {
    match answer.stop {
        Stop::Refusal | Stop::Filter => {
            json!({"type": "refusal", "category": "general_harms", "explanation": answer.refusal})
        }
        _ => Value::Null,
    }
}

/// A block of content as a whole answer has it, and as a stream builds it.
struct Block {
    whole: Value,
    empty: Value,
    deltas: Vec<Value>,
}

fn blocks(answer: &Answer) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(thinking) = &answer.thinking {
        let signature = format!("c2lnbmVk{:012}", answer.number);
        let mut deltas: Vec<_> = pieces(thinking)
            .into_iter()
            .map(|piece| json!({"type": "thinking_delta", "thinking": piece}))
            .collect();
        deltas.push(json!({"type": "signature_delta", "signature": signature}));
        blocks.push(Block {
            whole: json!({"type": "thinking", "thinking": thinking, "signature": signature}),
            empty: json!({"type": "thinking", "thinking": "", "signature": ""}),
            deltas,
        });
    }
    if let Some(text) = &answer.text {
        blocks.push(Block {
            whole: json!({"type": "text", "text": text}),
            empty: json!({"type": "text", "text": ""}),
            deltas: pieces(text)
                .into_iter()
                .map(|piece| json!({"type": "text_delta", "text": piece}))
                .collect(),
        });
    }
    blocks.extend(answer.calls.iter().map(tool_use));
    blocks
}

fn tool_use(call: &PlacedCall) -> Block {
    let block = |input: Value| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input});
    let (input, parts) = match &call.arguments {
        Arguments::Text(text) => {
            let input = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()));
            let parts = std::iter::once(String::new()).chain(pieces(text)).map(Value::String).collect();
            (input, parts)
        }
        Arguments::OtherShape(value) => (Value::String(value.to_string()), vec![value.clone()]),
    };
    let delta = |part| json!({"type": "input_json_delta", "partial_json": part});
    Block { whole: block(input), empty: block(json!({})), deltas: parts.into_iter().map(delta).collect() }
}
