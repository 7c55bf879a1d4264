//! The vendors' own clients converse with the server, unchanged.

use std::path::{Path, PathBuf};
use std::process::Command;

use ambit_model_server::{Fault, ModelServer, Script, Stop, Turn, UsageGiven, Wire};
use serde_json::{Value, json};

const KEY: &str = "right-key-0123456789";

/// Where `cargo xtask test --install` puts the packages of this language, if they are those that the lock names.
fn packages(language: &str) -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let folder = target.join("model-sdks").join(language);
    let lock = match language {
        "python" => include_str!("../sdks/requirements.txt"),
        _ => include_str!("../sdks/package-lock.json"),
    };
    let installed = std::fs::read_to_string(folder.join(".installed")).ok();
    (installed.as_deref() == Some(lock)).then_some(folder)
}

fn script() -> Script {
    let usage = |input, output| UsageGiven {
        input: Some(input),
        cache_read: Some(31),
        cache_write: Some(17),
        output: Some(output),
        reasoning: Some(5),
    };
    let broken = |case: &str, fault| Turn::fault(fault).when(case).repeated();
    let turns = [
        Turn::text("The tool said ${found}. Grüße, 日本 🦀.").when("tool said").usage(usage(400, 40)),
        Turn::text("Many words, each of them \"quoted\" and\nsome on lines of their own.")
            .thinking("What could I say? Words.")
            .when("case:text")
            .usage(usage(100, 50)),
        Turn::text("And then").when("case:length").stop(Stop::Length).usage(usage(70, 30)),
        Turn { refusal: Some("I will not.".to_owned()), ..Turn::default() }
            .when("case:refusal")
            .usage(usage(80, 20)),
        Turn::call("read_file", json!({"path": "a/ü \"b\"\\.py"}))
            .and_call("read_file", json!({"path": "c"}))
            .saying("I look.")
            .thinking("Where is it?")
            .when("case:tool")
            .usage(usage(200, 60)),
    ];
    let faults = [
        broken("case:429-later", Fault::RateLimitedFor { seconds: 7 }),
        broken("case:429", Fault::RateLimited),
        broken("case:529", Fault::Overloaded),
        broken("case:503", Fault::Unavailable),
        broken("case:500", Fault::ServerError),
        broken("case:middle", Fault::ErrorEvent { after_events: 4 }),
        broken("case:cut", Fault::Cut { after_bytes: 150 }),
        Turn::text("After all.").when("case:retried").after(Fault::Unavailable),
    ];
    Script::of(turns.into_iter().map(Turn::repeated).chain(faults)).capture("found", "tool said (\\w+)")
}

/// What the client told of its conversation, and the server that it was with; `None` where its packages are not there.
fn conversation(wire: Wire, language: &str) -> Option<(ModelServer, Value)> {
    let name = serde_json::to_value(wire).unwrap();
    let Some(packages) = packages(language) else {
        println!("skipped: MODEL_SDKS_ABSENT {language} {name}");
        return None;
    };
    let server = ModelServer::builder(script()).key(KEY).start().unwrap();
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdks");
    let mut command = match language {
        "python" => {
            let mut python = Command::new("python3");
            python.arg(scripts.join("converse.py")).env("PYTHONPATH", &packages);
            python
        }
        _ => {
            let mut node = Command::new("node");
            node.arg(scripts.join("converse.mjs")).env("AMBIT_MODEL_SDKS_NODE", &packages);
            node
        }
    };
    // Compiled once into its own folder, Python's packages load in a third of the time.
    command.env_remove("PYTHONDONTWRITEBYTECODE");
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        command.env_remove(name);
    }
    let output = command.args([name.as_str().unwrap(), &server.base_url(), KEY]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(server.problems(), [] as [String; 0]);
    Some((server, serde_json::from_slice(&output.stdout).unwrap()))
}

/// What each wire calls the ends of an answer.
fn stops(wire: Wire) -> [&'static str; 4] {
    match wire {
        Wire::Messages => ["end_turn", "max_tokens", "refusal", "end_turn"],
        Wire::Responses => ["completed", "max_output_tokens", "completed", "completed"],
        Wire::Chat => ["stop", "length", "stop", "stop"],
    }
}

fn check(wire: Wire, language: &str) -> Option<Value> {
    let (server, seen) = conversation(wire, language)?;
    let said = &seen["said"];
    let [end, length, refusal, tool] = stops(wire);
    assert_eq!(
        said["text"],
        json!({"text": "Many words, each of them \"quoted\" and\nsome on lines of their own.", "stop": end})
    );
    assert_eq!(said["length"], json!({"text": "And then", "stop": length}));
    assert_eq!(said["refusal"]["refusal"], "I will not.");
    assert_eq!(said["refusal"]["stop"], refusal);
    assert_eq!(said["tool"], json!({"text": "The tool said word1. Grüße, 日本 🦀.", "stop": tool}));
    assert_eq!(said["retried"]["text"], "After all.");
    assert_eq!(
        seen["calls"],
        json!([["read_file", {"path": "a/ü \"b\"\\.py"}], ["read_file", {"path": "c"}]])
    );
    assert_eq!(seen["retry_after"], "7");
    assert_eq!(seen["usage"], told(&server), "{wire:?}");
    Some(seen["errors"].clone())
}

/// The usage of all that the client adds up: not what broke off, nor what it was told twice or after a retry.
fn told(server: &ModelServer) -> Value {
    let requests = server.requests();
    let mut bill = server.bill();
    bill.entries.retain(|entry| {
        let request = requests.iter().find(|request| request.number == entry.number).unwrap();
        entry.told && !request.body.contains("case:retried")
    });
    assert!(bill.entries.len() >= 8);
    assert!(bill.entries.iter().all(|entry| entry.charged && entry.cost_micro_dollars > 0));
    serde_json::to_value(bill.total_usage()).unwrap()
}

fn errors(rows: &[(&str, &str)]) -> Value {
    rows.iter()
        .map(|(case, name)| ((*case).to_owned(), json!(name)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// What the errors of a client are called: those with a status of their own, then what happens to streams that break.
fn expected(no_room: &str, absent: &str, rest: &[(&str, &str)]) -> Value {
    let mut rows = vec![("invalid", "BadRequestError"), ("key", "AuthenticationError")];
    for (whole, stream, name) in [
        ("429 whole", "429 stream", "RateLimitError"),
        ("429-later whole", "429-later stream", "RateLimitError"),
        ("529 whole", "529 stream", no_room),
        ("503 whole", "503 stream", absent),
        ("500 whole", "500 stream", "InternalServerError"),
    ] {
        rows.extend([(whole, name), (stream, name)]);
    }
    rows.push(("middle whole", "InternalServerError"));
    rows.extend(rest);
    errors(&rows)
}

const INTERNAL: &str = "InternalServerError";

#[test]
fn the_python_client_of_messages_converses() {
    let Some(seen) = check(Wire::Messages, "python") else { return };
    let broken = [
        ("middle stream", "APIStatusError"),
        ("cut whole", "APIConnectionError"),
        ("cut stream", "another: RemoteProtocolError"),
    ];
    assert_eq!(seen, expected("OverloadedError", "ServiceUnavailableError", &broken));
}

#[test]
fn the_node_client_of_messages_converses() {
    let Some(seen) = check(Wire::Messages, "node") else { return };
    let broken = [
        ("middle stream", "APIError"),
        ("cut whole", "another: TypeError"),
        ("cut stream", "AnthropicError"),
    ];
    assert_eq!(seen, expected("OverloadedError", "ServiceUnavailableError", &broken));
}

#[test]
fn the_python_client_of_responses_converses() {
    let Some(seen) = check(Wire::Responses, "python") else { return };
    // Its helper for streams passes the error on as an event, and misses the end of the answer.
    let broken = [
        ("middle stream", "another: RuntimeError"),
        ("cut whole", "APIConnectionError"),
        ("cut stream", "APIConnectionError"),
    ];
    assert_eq!(seen, expected(INTERNAL, INTERNAL, &broken));
}

#[test]
fn the_node_client_of_responses_converses() {
    let Some(seen) = check(Wire::Responses, "node") else { return };
    let broken =
        [("middle stream", "APIError"), ("cut whole", "another: TypeError"), ("cut stream", "OpenAIError")];
    assert_eq!(seen, expected(INTERNAL, INTERNAL, &broken));
}

#[test]
fn the_python_client_of_chat_converses() {
    let Some(seen) = check(Wire::Chat, "python") else { return };
    let broken = [
        ("middle stream", "APIError"),
        ("cut whole", "APIConnectionError"),
        ("cut stream", "APIConnectionError"),
    ];
    assert_eq!(seen, expected(INTERNAL, INTERNAL, &broken));
}

#[test]
fn the_node_client_of_chat_converses() {
    let Some(seen) = check(Wire::Chat, "node") else { return };
    let broken =
        [("middle stream", "APIError"), ("cut whole", "another: TypeError"), ("cut stream", "OpenAIError")];
    assert_eq!(seen, expected(INTERNAL, INTERNAL, &broken));
}
