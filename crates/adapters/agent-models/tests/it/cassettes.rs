//! Every answer that models give, good and bad, over every wire, whole and as a stream: what is read is the same.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ambit_agent_models::{
    CallArguments, CallFailure, Cassette, Charge, Client, ModelCall, ModelReply, StopCause, Usage,
};
use serde_json::json;

use crate::scene::{self, NoChance, StillClock, WIRES};

const USAGE: Usage = Usage {
    input_tokens: 11,
    cache_read_tokens: 5,
    cache_write_tokens: 4,
    output_tokens: 7,
    reasoning_tokens: 3,
};

fn path(wire: &str, case: &str, form: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/cassettes/{wire}/{case}.{form}.json"))
}

async fn play(wire: &str, case: &str, form: &str) -> (Result<ModelReply, CallFailure>, Arc<StillClock>) {
    let cassette = Cassette::read(&path(wire, case, form)).unwrap();
    let more = format!("  key: none\n  price: free\n  stream: {}\n", form == "stream");
    let document = scene::document(wire, "https://models.example", &more);
    let clock = Arc::new(StillClock::default());
    let client = Client::replaying(document, cassette, clock.clone(), Arc::new(NoChance)).unwrap();
    (scene::ask(&client).await, clock)
}

fn call(id: &str, name: &str, arguments: CallArguments) -> ModelCall {
    ModelCall { id: id.to_owned(), name: name.to_owned(), arguments }
}

fn object(value: &serde_json::Value) -> CallArguments {
    CallArguments::Object(value.as_object().unwrap().clone())
}

fn read_call() -> ModelCall {
    call("c1", "read_project_file", object(&json!({"path": "a.py"})))
}

fn list_call() -> ModelCall {
    call("c2", "list_project_files", object(&json!({"path": "."})))
}

fn expected(case: &str) -> ModelReply {
    let (text, calls, stop) = match case {
        "text" | "unknown-kinds" | "no-done" => ("Hello, wörld.", vec![], StopCause::Done),
        "call" => ("I look.", vec![read_call()], StopCause::Calls),
        "two-calls" | "one-index" | "no-index" => ("", vec![read_call(), list_call()], StopCause::Calls),
        "other-arguments" => ("", vec![read_call()], StopCause::Calls),
        "wrong-name" => {
            ("", vec![call("c1", "Read File!", object(&json!({"path": "a.py"})))], StopCause::Calls)
        }
        "invalid-arguments" => {
            let arguments = CallArguments::Unreadable("{\"path\":".to_owned());
            ("", vec![call("c1", "read_project_file", arguments)], StopCause::Calls)
        }
        "no-arguments" => ("", vec![call("c1", "list_project_files", object(&json!({})))], StopCause::Calls),
        "empty" => ("", vec![], StopCause::Done),
        "refusal" => ("I cannot help with that.", vec![], StopCause::Refused),
        "length" => ("Once upon", vec![], StopCause::Length),
        "reasoning" => ("So.", vec![read_call()], StopCause::Calls),
        other => panic!("{other}"),
    };
    ModelReply { text: text.to_owned(), calls, stop, usage: USAGE }
}

#[tokio::test]
async fn an_answer_reads_alike_over_every_wire() {
    for case in [
        "text",
        "call",
        "two-calls",
        "wrong-name",
        "invalid-arguments",
        "other-arguments",
        "no-arguments",
        "empty",
        "refusal",
        "length",
        "reasoning",
        "unknown-kinds",
    ] {
        for wire in WIRES {
            for form in ["whole", "stream"] {
                let (reply, _) = play(wire, case, form).await;
                assert_eq!(reply.unwrap(), expected(case), "{wire} {case} {form}");
            }
        }
    }
    for case in ["no-done", "one-index", "no-index"] {
        let (reply, _) = play("openai-chat", case, "stream").await;
        assert_eq!(reply.unwrap(), expected(case), "{case}");
    }
}

#[tokio::test]
async fn what_is_no_answer_has_one_outcome() {
    for (case, form, code) in [
        ("error-body", "whole", "MODEL_VENDOR_ERROR"),
        ("error-body", "stream", "MODEL_VENDOR_ERROR"),
        ("error-event", "stream", "MODEL_VENDOR_ERROR"),
        ("half", "whole", "MODEL_ANSWER_UNREADABLE"),
        ("half", "stream", "MODEL_STREAM_CUT"),
        ("broken", "whole", "MODEL_CONNECTION_LOST"),
        ("broken", "stream", "MODEL_CONNECTION_LOST"),
        ("no-usage", "whole", "MODEL_USAGE_ABSENT"),
        ("no-usage", "stream", "MODEL_USAGE_ABSENT"),
    ] {
        for wire in WIRES {
            let (reply, clock) = play(wire, case, form).await;
            let failure = reply.unwrap_err();
            assert_eq!((failure.code, failure.charge), (code, Charge::Unsettled), "{wire} {case} {form}");
            assert!(!failure.to_string().contains("CANARY"), "{failure}");
            assert!(clock.waits().is_empty(), "asked again: {wire} {case} {form}");
        }
    }
    for (wire, case) in [
        ("anthropic-messages", "one-index-twice"),
        ("anthropic-messages", "out-of-order"),
        ("openai-responses", "one-index-twice"),
        ("openai-responses", "out-of-order"),
    ] {
        let failure = play(wire, case, "stream").await.0.unwrap_err();
        assert_eq!(
            (failure.code, failure.charge),
            ("MODEL_STREAM_MALFORMED", Charge::Unsettled),
            "{wire} {case}"
        );
    }
}

#[tokio::test]
async fn a_failed_answer_that_tells_what_it_used_is_settled() {
    for form in ["whole", "stream"] {
        let failure = play("openai-responses", "failed", form).await.0.unwrap_err();
        assert_eq!((failure.code, failure.charge), ("MODEL_VENDOR_ERROR", Charge::Settled(USAGE)), "{form}");
    }
}

#[tokio::test]
async fn who_is_turned_away_waits_and_asks_again() {
    for wire in WIRES {
        for (case, wait) in [("rate-limited", 250), ("rate-limited-for-a-while", 7_000), ("overloaded", 250)]
        {
            let (reply, clock) = play(wire, case, "whole").await;
            assert_eq!(reply.unwrap(), expected("text"), "{wire} {case}");
            assert_eq!(clock.waits(), [wait], "{wire} {case}");
        }
    }
}

#[tokio::test]
async fn a_cassette_that_is_played_out_answers_nothing() {
    let document = scene::document(WIRES[0], "https://models.example", "  key: none\n  price: free\n");
    let clock = Arc::new(StillClock::default());
    let client = Client::replaying(document, Cassette::default(), clock.clone(), Arc::new(NoChance)).unwrap();
    let failure = scene::ask(&client).await.unwrap_err();
    assert_eq!((failure.code, failure.charge), ("MODEL_UNREACHABLE", Charge::Nothing));
    assert_eq!(clock.waits(), [250, 500, 1_000, 2_000]);
}
