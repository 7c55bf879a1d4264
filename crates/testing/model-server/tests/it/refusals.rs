//! Requests that the vendors refuse, each beside the good one that it was made of.

use ambit_model_server::{ModelServer, Script, Turn, Wire};
use serde_json::{Value, json};

use crate::client::{good, post, send, usual_headers};

fn server() -> ModelServer {
    ModelServer::builder(Script::of([Turn::text("a").repeated()])).key("k").start().unwrap()
}

/// A conversation with a call and its result.
fn with_call(wire: Wire) -> Value {
    let mut body = good(wire, "x", false);
    let (field, more) = match wire {
        Wire::Messages => (
            "messages",
            json!([
                {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a"}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "b"}]},
            ]),
        ),
        Wire::Responses => (
            "input",
            json!([
                {"type": "function_call", "call_id": "t1", "name": "read_file", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "t1", "output": "b"},
            ]),
        ),
        Wire::Chat => (
            "messages",
            json!([
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "t1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "t1", "content": "b"},
            ]),
        ),
    };
    body[field].as_array_mut().unwrap().extend(more.as_array().unwrap().clone());
    body
}

/// Puts the value at the pointer, or takes away what is there for null.
fn changed(mut body: Value, pointer: &str, value: &Value) -> Value {
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    match body.pointer_mut(parent).unwrap() {
        Value::Object(fields) if value.is_null() => {
            fields.remove(last);
        }
        Value::Object(fields) => {
            fields.insert(last.to_owned(), value.clone());
        }
        Value::Array(items) if value.is_null() => {
            items.remove(last.parse().unwrap());
        }
        Value::Array(items) => items[last.parse::<usize>().unwrap()] = value.clone(),
        _ => panic!("{pointer}"),
    }
    body
}

fn refused(wire: Wire, rows: &[(&str, Value, &str)]) {
    let server = server();
    assert_eq!(post(&server, wire, &with_call(wire)).status, 200);
    for (pointer, value, says) in rows {
        let raw = post(&server, wire, &changed(with_call(wire), pointer, value));
        assert_eq!(raw.status, 400, "{pointer} {value}");
        let body = raw.json();
        assert_eq!(body["error"]["type"], "invalid_request_error");
        assert_eq!(body["type"] == "error", wire == Wire::Messages);
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{pointer} {value}: {message}");
    }
    assert_eq!(server.bill().charged().count(), 1);
    assert_eq!(server.bill().entries.len(), rows.len() + 1);
}

#[test]
fn messages_are_read_strictly() {
    let null = Value::Null;
    refused(
        Wire::Messages,
        &[
            ("/max_tokens", null.clone(), "max_tokens: Field required"),
            ("/max_tokens", json!(0), "max_tokens"),
            ("/model", null.clone(), "model: Field required"),
            ("/messages", null.clone(), "messages: Field required"),
            ("/messages", json!([]), "at least one message"),
            ("/messages/0", null.clone(), "first message must use"),
            ("/messages/1", null.clone(), "unexpected `tool_use_id`"),
            ("/messages/2", null.clone(), "without `tool_result` blocks"),
            ("/messages/2/content/0/tool_use_id", json!("t2"), "unexpected `tool_use_id`"),
            ("/messages/1/content/0/input", json!("{}"), "valid dictionary"),
            ("/messages/0/role", json!("robot"), "role"),
            ("/messages/0/content", json!(""), "non-empty content"),
            ("/messages/0/content", json!([{"type": "text", "text": ""}]), "non-empty"),
            (
                "/messages/0/content",
                json!([{"type": "tool_use", "id": "t", "name": "n", "input": {}}]),
                "can not be in",
            ),
            ("/tools/0/input_schema", null.clone(), "input_schema: Field required"),
            ("/tools/0/input_schema", json!({"type": "array"}), "should be 'object'"),
            ("/tools/0/name", json!("a b"), "match pattern"),
            ("/tools/0/parameters", json!({}), "Extra inputs"),
            ("/tool_choice", json!({"type": "tool", "name": "other"}), "not found"),
            ("/thinking", json!({"type": "enabled", "budget_tokens": 10}), "1024"),
            ("/thinking", json!({"type": "enabled", "budget_tokens": 2000}), "must be greater"),
            ("/max_output_tokens", json!(5), "Extra inputs"),
            ("/stream", json!("yes"), "boolean"),
        ],
    );
}

#[test]
fn responses_are_read_strictly() {
    let null = Value::Null;
    refused(
        Wire::Responses,
        &[
            ("/input", null.clone(), "'input'"),
            ("/model", null.clone(), "model"),
            ("/input/0/role", json!("robot"), "robot"),
            ("/input/0/content", json!([{"type": "text", "text": "x"}]), "'input_text'"),
            ("/input/1", null.clone(), "No tool call found"),
            ("/input/2", null.clone(), "No tool output found"),
            ("/input/1/arguments", json!({"path": "a"}), "expected a string"),
            ("/input/2/output", null.clone(), "output"),
            ("/input/2", json!({"type": "reasoning", "id": "rs", "summary": []}), "following item"),
            ("/input/2/type", json!("tool_result"), "tool_result"),
            ("/tools/0/parameters", json!({"type": "string"}), "Invalid schema"),
            ("/tools/0/strict", json!(true), "additionalProperties"),
            ("/tools/0/function", json!({}), "Unknown parameter"),
            ("/tools/0/name", json!("a b"), "pattern"),
            ("/tool_choice", json!({"type": "function", "name": "other"}), "not found"),
            ("/max_output_tokens", json!(1), "below minimum"),
            ("/max_tokens", json!(100), "Unknown parameter"),
            ("/previous_response_id", json!("resp_1"), "Previous response"),
            ("/stream_options", json!({}), "only allowed when 'stream'"),
        ],
    );
}

#[test]
fn chats_are_read_strictly() {
    let null = Value::Null;
    refused(
        Wire::Chat,
        &[
            ("/messages", null.clone(), "'messages'"),
            ("/messages", json!([]), "empty array"),
            ("/model", null.clone(), "model"),
            ("/messages/0/role", json!("robot"), "robot"),
            ("/messages/0/content", null.clone(), "content"),
            ("/messages/1", null.clone(), "must be a response to"),
            ("/messages/2", json!({"role": "user", "content": "y"}), "did not have response messages"),
            ("/messages/2", null.clone(), "did not have response messages"),
            ("/messages/2/tool_call_id", json!("t2"), "must be a response to"),
            ("/messages/1/tool_calls/0/function/arguments", json!({}), "expected a string"),
            ("/messages/1/tool_calls/0/type", null.clone(), "type"),
            ("/messages/1/tool_calls", json!([]), "empty array"),
            ("/tools/0/function", null.clone(), "function"),
            ("/tools/0/function/parameters", json!({"type": "string"}), "Invalid schema"),
            ("/tools/0/function/input_schema", json!({}), "Unknown parameter"),
            ("/tools", json!([]), "empty array"),
            ("/tool_choice", json!({"type": "function", "function": {"name": "other"}}), "not found"),
            ("/max_tokens", json!(5), "at the same time"),
            ("/stream_options", json!({"include_usage": true}), "only allowed when 'stream'"),
            ("/system", json!("x"), "Unknown parameter"),
            ("/temperature", json!(3), "between"),
        ],
    );
}

#[test]
fn keys_and_headers_are_checked_before_the_body() {
    let server = server();
    let rows: [(Wire, &[&str], u16); 9] = [
        (Wire::Messages, &["x-api-key: k"], 400),
        (Wire::Messages, &["anthropic-version: 2023-06-01"], 401),
        (Wire::Messages, &["anthropic-version: 2023-06-01", "authorization: Bearer other"], 401),
        (Wire::Messages, &["anthropic-version: 2023-06-01", "x-api-key: other"], 401),
        (Wire::Messages, &["anthropic-version: soon", "x-api-key: k"], 400),
        (Wire::Chat, &["x-api-key: k"], 401),
        (Wire::Chat, &["authorization: k"], 401),
        (Wire::Responses, &["authorization: Bearer other"], 401),
        (Wire::Responses, &["authorization: Bearer k", "content-type: text/plain"], 415),
    ];
    for (wire, headers, status) in rows {
        let mut headers = headers.to_vec();
        if status != 415 {
            headers.push("content-type: application/json");
        }
        let body = good(wire, "x", false).to_string();
        let raw = send(&server, "POST", wire.path(), &headers, &body, usize::MAX);
        assert_eq!(raw.status, status, "{headers:?}");
        assert!(raw.json()["error"]["message"].is_string());
        let good = send(&server, "POST", wire.path(), usual_headers(wire), &body, usize::MAX);
        assert_eq!(good.status, 200);
    }
    let broken = send(&server, "POST", Wire::Chat.path(), usual_headers(Wire::Chat), "{", usize::MAX);
    assert_eq!(broken.status, 400);
}
