use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use super::*;
use crate::dialogue::{CallArguments, Message, ModelCall, ToolResult, ToolSpec};

const WIRES: [Wire; 3] = [Wire::AnthropicMessages, Wire::OpenaiResponses, Wire::OpenaiChat];

fn manner(stream: bool) -> Manner {
    Manner { model: "m".to_owned(), stream, output_limit: OutputLimitName::MaxTokens }
}

fn conversation() -> ModelRequest {
    let call =
        |id: &str, name: &str, arguments| ModelCall { id: id.to_owned(), name: name.to_owned(), arguments };
    let result =
        |call: &str, is_error| ToolResult { call: call.to_owned(), content: "r".to_owned(), is_error };
    let object = json!({"a": 1}).as_object().unwrap().clone();
    ModelRequest {
        system: "S".to_owned(),
        messages: vec![
            Message::User("U".to_owned()),
            Message::Assistant {
                text: "T".to_owned(),
                calls: vec![
                    call("c1", "read", CallArguments::Object(object)),
                    call("c2", "Bad name!", CallArguments::Unreadable("{".to_owned())),
                ],
            },
            Message::ToolResults(vec![result("c1", false), result("c2", true)]),
            Message::Assistant { text: String::new(), calls: vec![] },
            Message::User("V".to_owned()),
        ],
        tools: vec![ToolSpec {
            name: "read".to_owned(),
            description: "D".to_owned(),
            schema: json!({"type": "object"}),
        }],
        max_output_tokens: 9,
    }
}

#[test]
fn a_request_in_the_words_of_anthropic_messages() {
    let body = Wire::AnthropicMessages.encode(&manner(true), &conversation());
    assert_eq!(
        body,
        json!({
            "model": "m",
            "max_tokens": 9,
            "stream": true,
            "system": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}],
            "tools": [{"name": "read", "description": "D", "input_schema": {"type": "object"}}],
            "tool_choice": {"type": "auto", "disable_parallel_tool_use": true},
            "messages": [
                {"role": "user", "content": "U"},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "T"},
                    {"type": "tool_use", "id": "c1", "name": "read", "input": {"a": 1}},
                    {"type": "tool_use", "id": "c2", "name": "Bad_name_", "input": {"unreadable_arguments": "{"}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "r", "is_error": false},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "r", "is_error": true},
                ]},
                {"role": "user", "content": "V"},
            ],
        })
    );
}

#[test]
fn a_request_in_the_words_of_openai_responses() {
    let body = Wire::OpenaiResponses.encode(&manner(false), &conversation());
    assert_eq!(
        body,
        json!({
            "model": "m",
            "max_output_tokens": 9,
            "store": false,
            "stream": false,
            "instructions": "S",
            "tools": [{
                "type": "function", "name": "read", "description": "D", "parameters": {"type": "object"},
                "strict": false,
            }],
            "parallel_tool_calls": false,
            "input": [
                {"role": "user", "content": "U"},
                {"role": "assistant", "content": "T"},
                {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{\"a\":1}"},
                {
                    "type": "function_call", "call_id": "c2", "name": "Bad_name_",
                    "arguments": "{\"unreadable_arguments\":\"{\"}",
                },
                {"type": "function_call_output", "call_id": "c1", "output": "r"},
                {"type": "function_call_output", "call_id": "c2", "output": "r"},
                {"role": "user", "content": "V"},
            ],
        })
    );
}

#[test]
fn a_request_in_the_words_of_openai_chat() {
    let body = Wire::OpenaiChat.encode(&manner(true), &conversation());
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    assert_eq!(
        body,
        json!({
            "model": "m",
            "max_tokens": 9,
            "stream": true,
            "stream_options": {"include_usage": true},
            "tools": [{
                "type": "function",
                "function": {"name": "read", "description": "D", "parameters": {"type": "object"}},
            }],
            "parallel_tool_calls": false,
            "messages": [
                {"role": "system", "content": "S"},
                {"role": "user", "content": "U"},
                {"role": "assistant", "content": "T", "tool_calls": [
                    call("c1", "read", "{\"a\":1}"),
                    call("c2", "Bad_name_", "{\"unreadable_arguments\":\"{\"}"),
                ]},
                {"role": "tool", "tool_call_id": "c1", "content": "r"},
                {"role": "tool", "tool_call_id": "c2", "content": "r"},
                {"role": "user", "content": "V"},
            ],
        })
    );
    let whole = Manner { output_limit: OutputLimitName::MaxCompletionTokens, ..manner(false) };
    let body = Wire::OpenaiChat.encode(&whole, &conversation());
    assert_eq!((&body["max_completion_tokens"], &body["max_tokens"]), (&json!(9), &Value::Null));
    assert_eq!(body["stream_options"], Value::Null);
}

#[test]
fn without_tools_nothing_is_said_of_them() {
    for wire in WIRES {
        let request = ModelRequest { tools: vec![], system: String::new(), ..conversation() };
        let body = wire.encode(&manner(false), &request);
        for name in ["tools", "tool_choice", "parallel_tool_calls", "system", "instructions"] {
            assert_eq!(body[name], Value::Null, "{wire:?} {name}");
        }
    }
}

#[test]
fn a_total_tells_whether_reasoning_is_counted_apart() {
    let read = |usage: Value| {
        let body = json!({"choices": [{"message": {"content": "x"}}], "usage": usage});
        openai_chat::whole(&body).map(|reply| (reply.usage.output_tokens, reply.usage.reasoning_tokens))
    };
    let usage = |total: u64| {
        json!({
            "prompt_tokens": 10, "completion_tokens": 4, "total_tokens": total,
            "completion_tokens_details": {"reasoning_tokens": 3},
        })
    };
    assert_eq!(read(usage(14)), Ok((4, 3)));
    assert_eq!(read(usage(17)), Ok((7, 3)));
    for wrong in [
        json!({"prompt_tokens": 10}),
        json!({"prompt_tokens": -1, "completion_tokens": 1}),
        json!({"prompt_tokens": 1.5, "completion_tokens": 1}),
        json!({"prompt_tokens": "1", "completion_tokens": 1}),
        json!({"prompt_tokens": u64::MAX, "completion_tokens": 1}),
        json!({"prompt_tokens": 1, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 2}}),
        json!(7),
    ] {
        assert_eq!(read(wrong.clone()).unwrap_err().code, "MODEL_USAGE_ABSENT", "{wrong}");
    }
}

#[test]
fn thoughts_among_the_words_are_dropped_and_words_like_them_are_not() {
    let read = |pieces: &[&str]| {
        let mut reader = Box::<openai_chat::Reader>::default();
        for piece in pieces {
            reader.event(json!({"choices": [{"delta": {"content": piece}}]}).to_string().as_bytes()).unwrap();
        }
        let last = json!({
            "choices": [{"delta": {}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1},
        });
        reader.event(last.to_string().as_bytes()).unwrap();
        reader.finish().unwrap().text
    };
    assert_eq!(read(&["<think>secret</think>said"]), "said");
    assert_eq!(read(&["\n<th", "ink>", "sécret</th", "ink>", "said"]), "said");
    assert_eq!(read(&["<think>secret without end"]), "");
    assert_eq!(read(&["a <think>said</think>"]), "a <think>said</think>");
    assert_eq!(read(&["<thi"]), "<thi");
    assert_eq!(read(&["<this"]), "<this");
    let blank = " ".repeat(70);
    assert_eq!(read(&[&blank, "<think>x"]), format!("{blank}<think>x"));
}

fn decode(wire: Wire, chunks: &[&[u8]]) -> Result<crate::dialogue::ModelReply, Fault> {
    let mut decoder = Decoder::new(wire);
    for chunk in chunks {
        if decoder.push(chunk)? == Flow::Done {
            break;
        }
    }
    decoder.finish()
}

/// The bodies of all recorded answers, with their wires.
static RECORDED: std::sync::LazyLock<Vec<(Wire, String)>> = std::sync::LazyLock::new(recorded);

fn recorded() -> Vec<(Wire, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cassettes");
    let mut bodies = Vec::new();
    for (wire, name) in WIRES.into_iter().zip(["anthropic-messages", "openai-responses", "openai-chat"]) {
        for file in std::fs::read_dir(root.join(name)).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            let cassette: Value = serde_json::from_slice(&bytes).unwrap();
            for exchange in cassette["exchanges"].as_array().unwrap() {
                bodies.push((wire, exchange["body"].as_str().unwrap().to_owned()));
            }
        }
    }
    bodies
}

#[test]
fn an_answer_has_a_size_whole_and_as_a_stream() {
    let chunk = vec![b' '; 1 << 20];
    for (start, most) in [("{", crate::limits::WHOLE_BYTES), (":\n", crate::limits::ANSWER_BYTES)] {
        let mut decoder = Decoder::new(Wire::OpenaiChat);
        decoder.push(start.as_bytes()).unwrap();
        let mut taken = 0;
        // The lines of a stream end, or a line would be what is too large.
        let fault = loop {
            if start != "{" {
                decoder.push(b"\n").unwrap();
            }
            match decoder.push(&chunk) {
                Ok(_) => taken += chunk.len(),
                Err(fault) => break fault,
            }
        };
        assert_eq!((fault.code, taken), ("MODEL_ANSWER_TOO_LARGE", most - chunk.len()));
    }
}

#[test]
fn an_answer_reads_alike_however_it_is_divided() {
    assert!(RECORDED.len() > 100);
    for (wire, body) in RECORDED.iter() {
        let wire = *wire;
        let whole = decode(wire, &[body.as_bytes()]);
        for size in [1, 2, 3, 7, 64] {
            let chunks: Vec<&[u8]> = body.as_bytes().chunks(size).collect();
            assert_eq!(decode(wire, &chunks), whole, "{wire:?} by {size}: {body}");
        }
        let carriage = body.replace('\n', "\r\n");
        assert_eq!(decode(wire, &[carriage.as_bytes()]), whole, "{wire:?}: {body}");
    }
}

#[test]
fn an_answer_reads_alike_without_its_thoughts() {
    for (wire, body) in RECORDED.iter() {
        let without = crate::thoughts::without(body.as_bytes(), None);
        assert_eq!(
            decode(*wire, &[without.as_bytes()]),
            decode(*wire, &[body.as_bytes()]),
            "{wire:?}: {body}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), cut in 0usize..400) {
        let (head, tail) = bytes.split_at(cut.min(bytes.len()));
        for wire in WIRES {
            prop_assert_eq!(decode(wire, &[head, tail]), decode(wire, &[&bytes]));
        }
    }

    #[test]
    fn no_answer_that_was_meddled_with_makes_a_reader_panic(
        which in any::<prop::sample::Index>(),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        lines in prop::collection::vec(any::<prop::sample::Index>(), 0..3),
    ) {
        let (wire, body) = which.get(&RECORDED);
        let mut lines_of: Vec<&str> = body.split_inclusive("\n\n").collect();
        for line in &lines {
            let at = line.index(lines_of.len());
            let again = lines_of[at];
            lines_of.insert(at / 2, again);
        }
        let mut bytes = lines_of.concat().into_bytes();
        for (place, byte) in &places {
            let at = place.index(bytes.len());
            bytes[at] = *byte;
        }
        let chunks: Vec<&[u8]> = bytes.chunks(5).collect();
        prop_assert_eq!(decode(*wire, &chunks), decode(*wire, &[&bytes]));
    }

    #[test]
    fn every_token_is_counted_once(counts in prop::array::uniform5(0u64..1_000_000)) {
        let [fresh, read, written, said, thought] = counts;
        let expected = crate::dialogue::Usage {
            input_tokens: fresh,
            cache_read_tokens: read,
            cache_write_tokens: written,
            output_tokens: said + thought,
            reasoning_tokens: thought,
        };
        for wire in WIRES {
            let [whole, stream] = answers(wire, &expected);
            prop_assert_eq!(decode(wire, &[whole.as_bytes()]).unwrap().usage, expected, "{:?} {}", wire, whole);
            prop_assert_eq!(decode(wire, &[stream.as_bytes()]).unwrap().usage, expected, "{:?} {}", wire, stream);
        }
    }
}

/// An empty answer of this usage as each wire tells it, whole and as a stream.
fn answers(wire: Wire, usage: &crate::dialogue::Usage) -> [String; 2] {
    let input = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
    let details =
        json!({"cached_tokens": usage.cache_read_tokens, "cache_write_tokens": usage.cache_write_tokens});
    let reasoning = json!({"reasoning_tokens": usage.reasoning_tokens});
    let events =
        |events: &[Value]| events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>();
    match wire {
        Wire::AnthropicMessages => {
            let told = json!({
                "input_tokens": usage.input_tokens,
                "cache_read_input_tokens": usage.cache_read_tokens,
                "cache_creation_input_tokens": usage.cache_write_tokens,
                "output_tokens": usage.output_tokens,
                "output_tokens_details": {"thinking_tokens": usage.reasoning_tokens},
            });
            let mut first = told.clone();
            first["output_tokens"] = json!(3);
            let stream = events(&[
                json!({"type": "message_start", "message": {"usage": first}}),
                json!({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 5}}),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": told}),
                json!({"type": "message_stop"}),
            ]);
            [json!({"content": [], "usage": told}).to_string(), stream]
        }
        Wire::OpenaiResponses => {
            let told = json!({
                "input_tokens": input, "input_tokens_details": details,
                "output_tokens": usage.output_tokens, "output_tokens_details": reasoning,
            });
            let whole = json!({"status": "completed", "output": [], "usage": told});
            [whole.to_string(), events(&[json!({"type": "response.completed", "response": whole})])]
        }
        Wire::OpenaiChat => {
            let told = json!({
                "prompt_tokens": input, "prompt_tokens_details": details,
                "completion_tokens": usage.output_tokens, "completion_tokens_details": reasoning,
                "total_tokens": input + usage.output_tokens,
            });
            let stream = events(&[
                json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}),
                json!({"choices": [], "usage": told}),
            ]);
            [json!({"choices": [{"message": {}}], "usage": told}).to_string(), stream]
        }
    }
}
