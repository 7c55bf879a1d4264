//! What the server charges is what it told.

use ambit_model_server::{ModelServer, Price, RandomPlan, Script, Turn, Usage, Wire};
use serde_json::{Value, json};

use crate::client::{Raw, good, post, send, usual_headers};

/// The usage that an answer tells, found without the server's help.
fn told(wire: Wire, stream: bool, raw: &Raw) -> Usage {
    let whole = if stream { raw.events() } else { vec![raw.json()] };
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{value} in {}", raw.text()));
    match wire {
        Wire::Messages => {
            let last = whole.iter().rev().find(|event| event["usage"].is_object()).unwrap();
            let usage = &last["usage"];
            Usage {
                input: number(&usage["input_tokens"]),
                cache_read: number(&usage["cache_read_input_tokens"]),
                cache_write: number(&usage["cache_creation_input_tokens"]),
                output: number(&usage["output_tokens"]),
                reasoning: number(&usage["output_tokens_details"]["thinking_tokens"]),
            }
        }
        Wire::Responses => {
            let last = whole.last().unwrap();
            let usage = if stream { &last["response"]["usage"] } else { &last["usage"] };
            let (read, write) = (
                &usage["input_tokens_details"]["cached_tokens"],
                &usage["input_tokens_details"]["cache_write_tokens"],
            );
            Usage {
                input: number(&usage["input_tokens"]) - number(read) - number(write),
                cache_read: number(read),
                cache_write: number(write),
                output: number(&usage["output_tokens"]),
                reasoning: number(&usage["output_tokens_details"]["reasoning_tokens"]),
            }
        }
        Wire::Chat => {
            let usage = &whole.last().unwrap()["usage"];
            let details = &usage["prompt_tokens_details"];
            Usage {
                input: number(&usage["prompt_tokens"])
                    - number(&details["cached_tokens"])
                    - number(&details["cache_write_tokens"]),
                cache_read: number(&details["cached_tokens"]),
                cache_write: number(&details["cache_write_tokens"]),
                output: number(&usage["completion_tokens"]),
                reasoning: number(&usage["completion_tokens_details"]["reasoning_tokens"]),
            }
        }
    }
}

#[test]
fn random_answers_are_billed_as_they_were_told() {
    let price = Price { input: 1_234_567, cache_read: 123_457, cache_write: 1_500_001, output: 7_654_321 };
    let server = ModelServer::builder(Script::random(RandomPlan::of(11))).price(price).start().unwrap();
    let mut cost = 0;
    let mut count = 0;
    for wire in Wire::ALL {
        for round in 0..40 {
            let stream = round % 2 == 0;
            let raw = post(&server, wire, &good(wire, &format!("round {round}"), stream));
            assert_eq!(raw.status, 200, "{}", raw.text());
            let usage = told(wire, stream, &raw);
            let entry = server.bill().entries.last().unwrap().clone();
            assert_eq!((entry.usage, entry.wire, entry.told), (usage, wire, true));
            let exact = u128::from(usage.input) * 1_234_567
                + u128::from(usage.cache_read) * 123_457
                + u128::from(usage.cache_write) * 1_500_001
                + u128::from(usage.output) * 7_654_321;
            cost += exact / 1_000_000 + u128::from(exact % 1_000_000 > 0);
            count += 1;
        }
    }
    assert_eq!(server.bill().total_micro_dollars(), cost);
    assert_eq!(server.bill().charged().count(), count);
}

#[test]
fn a_stream_of_chat_tells_its_usage_only_where_it_is_asked_to() {
    let server = ModelServer::start(Script::of([Turn::text("a").repeated()])).unwrap();
    let mut body = good(Wire::Chat, "x", true);
    assert!(post(&server, Wire::Chat, &body).text().contains("prompt_tokens"));
    body.as_object_mut().unwrap().remove("stream_options");
    assert!(!post(&server, Wire::Chat, &body).text().contains("usage"));
    let entries = server.bill().entries;
    assert!(entries[0].told && !entries[1].told);
    assert!(entries[1].charged && entries[1].cost_micro_dollars > 0);
}

#[test]
fn every_request_is_kept_also_those_that_nothing_answers() {
    let server = ModelServer::builder(Script::of([Turn::text("a")])).wires(&[Wire::Chat]).start().unwrap();
    let stray = send(&server, "POST", "/elsewhere", &["x-api-key: secret"], "{\"a\":1}", usize::MAX);
    assert_eq!(stray.status, 404);
    let other = good(Wire::Messages, "x", false).to_string();
    let other =
        send(&server, "POST", Wire::Messages.path(), usual_headers(Wire::Messages), &other, usize::MAX);
    assert_eq!(other.status, 404);
    assert_eq!(post(&server, Wire::Chat, &good(Wire::Chat, "first", false)).status, 200);
    assert_eq!(post(&server, Wire::Chat, &good(Wire::Chat, "second", false)).status, 400);
    let requests = server.requests();
    assert_eq!((requests[0].path.as_str(), requests[0].body.as_str()), ("/elsewhere", "{\"a\":1}"));
    assert!(requests[0].headers.contains(&("x-api-key".to_owned(), "secret".to_owned())));
    assert!(requests[2].body.contains("first") && requests.len() == 4);
    assert_eq!(server.problems(), ["request 4: the script has no turn for it"]);
    let bill = send(&server, "GET", "/bill", &[], "", usize::MAX).json();
    assert_eq!(bill, serde_json::to_value(server.bill()).unwrap());
    assert_eq!(bill["entries"][0]["wire"], json!("chat"));
    assert_eq!(bill["entries"].as_array().unwrap().len(), 2);
}
