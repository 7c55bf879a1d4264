//! Each fault, as a client sees it.

use std::io::{ErrorKind, Read};
use std::time::Duration;

use ambit_model_server::{Fault, ModelServer, Script, Turn, Wire};
use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::client::{Raw, good, post, send, send_and_wait, usual_headers};

fn calling(fault: Fault) -> ModelServer {
    let turn = Turn::call("read_file", json!({"path": "a/b"})).saying("I look.").failing(fault);
    ModelServer::start(Script::of([turn.repeated()])).unwrap()
}

/// What the fault makes of each wire, whole and as a stream.
fn each(fault: &Fault, mut check: impl FnMut(Wire, bool, Raw, &ModelServer)) {
    for wire in Wire::ALL {
        for stream in [false, true] {
            let server = calling(fault.clone());
            let raw = post(&server, wire, &good(wire, "x", stream));
            check(wire, stream, raw, &server);
        }
    }
}

/// The calls of an answer: the name, and the arguments as they were sent.
fn calls(wire: Wire, stream: bool, raw: &Raw) -> Vec<(String, Value)> {
    let name = |call: &Value| call["name"].as_str().unwrap().to_owned();
    let whole = if stream { raw.events() } else { vec![raw.json()] };
    match (wire, stream) {
        (Wire::Messages, false) => {
            let blocks = whole[0]["content"].as_array().unwrap().iter();
            blocks
                .filter(|block| block["type"] == "tool_use")
                .map(|block| (name(block), block["input"].clone()))
                .collect()
        }
        (Wire::Messages, true) => {
            let mut found: Vec<(String, Value)> = Vec::new();
            for event in &whole {
                if event["content_block"]["type"] == "tool_use" {
                    found.push((name(&event["content_block"]), json!("")));
                } else if event["delta"]["type"] == "input_json_delta" {
                    added(&mut found.last_mut().unwrap().1, &event["delta"]["partial_json"]);
                }
            }
            found
        }
        (Wire::Responses, _) => {
            let last = whole.last().unwrap();
            let output = if stream { &last["response"]["output"] } else { &last["output"] };
            let items = output.as_array().unwrap().iter();
            items
                .filter(|item| item["type"] == "function_call")
                .map(|item| (name(item), item["arguments"].clone()))
                .collect()
        }
        (Wire::Chat, false) => {
            let calls =
                whole[0]["choices"][0]["message"]["tool_calls"].as_array().cloned().unwrap_or_default();
            calls
                .iter()
                .map(|call| (name(&call["function"]), call["function"]["arguments"].clone()))
                .collect()
        }
        (Wire::Chat, true) => {
            let mut found: Vec<(String, Value)> = Vec::new();
            for event in &whole {
                let call = &event["choices"][0]["delta"]["tool_calls"][0];
                if call["id"].is_string() {
                    found.push((name(&call["function"]), json!("")));
                } else if call.is_object() {
                    added(&mut found.last_mut().unwrap().1, &call["function"]["arguments"]);
                }
            }
            found
        }
    }
}

fn added(so_far: &mut Value, part: &Value) {
    match (so_far.as_str(), part.as_str()) {
        (Some(before), Some(after)) => *so_far = json!(format!("{before}{after}")),
        _ => *so_far = part.clone(),
    }
}

#[test]
fn without_a_fault_the_call_is_as_it_should_be() {
    each(&Fault::Drip { bytes: 50, every_ms: 1 }, |wire, stream, raw, server| {
        let arguments = if wire == Wire::Messages && !stream {
            json!({"path": "a/b"})
        } else {
            json!("{\"path\":\"a/b\"}")
        };
        assert_eq!(calls(wire, stream, &raw), [("read_file".to_owned(), arguments)]);
        assert!(raw.complete && raw.status == 200);
        let kind = if stream { "text/event-stream; charset=utf-8" } else { "application/json" };
        assert!(raw.has_header(&format!("content-type: {kind}")));
        assert!(server.bill().entries[0].told);
    });
}

#[test]
fn calls_go_wrong_as_named() {
    each(&Fault::TwoCalls, |wire, stream, raw, _| assert_eq!(calls(wire, stream, &raw).len(), 2));
    each(&Fault::WrongToolName, |wire, stream, raw, _| {
        assert_eq!(calls(wire, stream, &raw)[0].0, "no_such_read_file");
    });
    each(&Fault::InvalidArguments, |wire, stream, raw, _| {
        assert_eq!(calls(wire, stream, &raw)[0].1, "{\"path\"");
    });
    each(&Fault::ArgumentsEncodedTwice, |wire, stream, raw, _| {
        let once = "{\"path\":\"a/b\"}";
        let sent =
            if wire == Wire::Messages && !stream { json!(once) } else { json!(json!(once).to_string()) };
        assert_eq!(calls(wire, stream, &raw)[0].1, sent);
    });
    each(&Fault::ArgumentsOfTheOtherShape, |wire, stream, raw, _| {
        let object = json!({"path": "a/b"});
        let sent = if wire == Wire::Messages && !stream { json!(object.to_string()) } else { object };
        assert_eq!(calls(wire, stream, &raw)[0].1, sent);
    });
    each(&Fault::Empty, |wire, stream, raw, _| assert!(calls(wire, stream, &raw).is_empty()));
    each(&Fault::Refusal, |wire, stream, raw, _| {
        assert!(raw.text().contains("refusal") && calls(wire, stream, &raw).is_empty());
    });
}

#[test]
fn statuses_come_without_a_bill() {
    let rows: [(Fault, u16); 8] = [
        (Fault::RateLimited, 429),
        (Fault::RateLimitedFor { seconds: 7 }, 429),
        (Fault::Overloaded, 529),
        (Fault::Unavailable, 503),
        (Fault::ServerError, 500),
        (Fault::Redirect302, 302),
        (Fault::Redirect307, 307),
        (Fault::ErrorBody, 200),
    ];
    for (fault, status) in rows {
        each(&fault, |_, _, raw, server| {
            assert_eq!(raw.status, status);
            assert_eq!(raw.has_header("retry-after: 7"), matches!(fault, Fault::RateLimitedFor { .. }));
            assert_eq!(raw.headers.contains("retry-after"), matches!(fault, Fault::RateLimitedFor { .. }));
            let redirects = matches!(status, 302 | 307);
            assert_eq!(raw.has_header("location: /elsewhere"), redirects);
            assert!(redirects || raw.json()["error"]["message"].is_string());
            assert!(!server.bill().entries[0].charged);
        });
    }
}

#[test]
fn streams_break_as_named() {
    each(&Fault::Cut { after_bytes: 100 }, |_, _, raw, server| {
        assert!(!raw.complete && raw.body.len() == 100, "{}", raw.body.len());
        assert!(server.bill().entries[0].charged && !server.bill().entries[0].told);
    });
    each(&Fault::CutCleanly { after_bytes: 100 }, |_, _, raw, _| {
        assert!(raw.complete && raw.body.len() == 100);
    });
    each(&Fault::ErrorEvent { after_events: 2 }, |_, stream, raw, _| {
        if stream {
            let events = raw.events();
            assert_eq!((raw.status, events.len()), (200, 3));
            assert!(events[2]["error"].is_object() || events[2]["type"] == "error");
        } else {
            assert_eq!(raw.status, 500);
        }
    });
    each(&Fault::UsageMissing, |_, _, raw, server| {
        let text = raw.text();
        assert!(
            ["input_tokens", "prompt_tokens", "output_tokens\":"]
                .iter()
                .all(|kind| !text.replace("max_output", "").contains(kind))
        );
        assert!(raw.complete && !server.bill().entries[0].told);
    });
    each(&Fault::WrongContentType, |_, _, raw, _| assert!(raw.has_header("content-type: text/html")));
    each(&Fault::Gzip, |_, stream, raw, _| {
        assert!(raw.has_header("content-encoding: gzip"));
        let mut text = String::new();
        GzDecoder::new(raw.body.as_slice()).read_to_string(&mut text).unwrap();
        assert_eq!(text.contains("data: "), stream);
        assert!(text.contains("I look."));
    });
}

#[test]
fn connections_end_as_named() {
    each(&Fault::Reset, |_, _, raw, server| {
        assert_eq!((raw.status, raw.error), (0, Some(ErrorKind::ConnectionReset)));
        assert!(server.requests()[0].body.is_empty());
    });
    each(&Fault::Close, |_, _, raw, server| {
        assert_eq!((raw.status, raw.error), (0, None));
        assert!(!server.requests()[0].body.is_empty());
    });
}

#[test]
fn a_stalled_answer_stays_and_an_endless_one_goes_on() {
    let (wire, body) = (Wire::Chat, good(Wire::Chat, "x", true).to_string());
    let stalled = calling(Fault::Stall { after_bytes: 80 });
    let patience = Duration::from_secs(3);
    let raw = send_and_wait(patience, &stalled, "POST", wire.path(), usual_headers(wire), &body, usize::MAX);
    assert_eq!((raw.body.len(), raw.complete), (80, false));
    assert!(matches!(raw.error, Some(ErrorKind::WouldBlock | ErrorKind::TimedOut)));
    for fault in [Fault::Endless, Fault::EndlessLine] {
        for wire in Wire::ALL {
            for stream in [false, true] {
                let server = calling(fault.clone());
                let body = good(wire, "x", stream).to_string();
                let raw = send(&server, "POST", wire.path(), usual_headers(wire), &body, 1_000_000);
                assert!(raw.body.len() > 900_000 && !raw.complete && raw.error.is_none());
                assert_eq!(raw.events().len() > 1000, stream && fault == Fault::Endless);
            }
        }
    }
}
