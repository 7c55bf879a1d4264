//! Connections that go wrong, at real servers.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use ambit_agent_models::{Charge, Client, Model, ModelRequest};
use ambit_ports::AbortHandle;
use tokio::net::TcpListener;

use crate::scene::{self, Play, Server, answer, ask, chat_answer};

const FREE: &str = "  key: none\n  price: free\n";

async fn outcome(plays: Vec<Play>, more: &str) -> (&'static str, Charge, usize) {
    let server = Server::start(plays).await;
    let (client, _) = server.client("openai-chat", more);
    let failure = ask(&client).await.unwrap_err();
    (failure.code, failure.charge, server.requests().len())
}

fn status(line: &str, headers: &str) -> Vec<Play> {
    vec![Play::Answer(answer(line, headers, r#"{"error":{"type":"some_error","message":"CANARY"}}"#))]
}

#[tokio::test]
async fn a_status_says_what_is_owed_and_whether_to_ask_again() {
    for (line, code, charge, asked) in [
        ("429 Slow", "MODEL_RATE_LIMITED", Charge::Nothing, 5),
        ("503 Busy", "MODEL_OVERLOADED", Charge::Nothing, 5),
        ("529 Busy", "MODEL_OVERLOADED", Charge::Nothing, 5),
        ("400 Bad", "MODEL_REQUEST_REFUSED", Charge::Nothing, 1),
        ("401 Who", "MODEL_KEY_REFUSED", Charge::Nothing, 1),
        ("403 No", "MODEL_KEY_REFUSED", Charge::Nothing, 1),
        ("404 No", "MODEL_NOT_FOUND", Charge::Nothing, 1),
        ("413 Big", "MODEL_REQUEST_TOO_LARGE", Charge::Nothing, 1),
        ("408 Late", "MODEL_TIMEOUT", Charge::Unsettled, 1),
        ("500 Oops", "MODEL_SERVER_FAILED", Charge::Unsettled, 1),
        ("502 Oops", "MODEL_SERVER_FAILED", Charge::Unsettled, 1),
        ("504 Oops", "MODEL_SERVER_FAILED", Charge::Unsettled, 1),
        ("204 None", "MODEL_ANSWER_UNREADABLE", Charge::Unsettled, 1),
    ] {
        assert_eq!(outcome(status(line, ""), FREE).await, (code, charge, asked), "{line}");
    }
}

#[tokio::test]
async fn whoever_asks_for_too_long_a_wait_is_not_asked_again() {
    let late = outcome(status("429 Slow", "retry-after: 3600\r\n"), FREE).await;
    assert_eq!(late, ("MODEL_RATE_LIMITED", Charge::Nothing, 1));
    let empty = Play::Answer(answer("429 Slow", "", r#"{"error":{"code":"insufficient_quota"}}"#));
    assert_eq!(outcome(vec![empty], FREE).await, ("MODEL_RATE_LIMITED", Charge::Nothing, 1));
}

#[tokio::test]
async fn no_redirect_is_followed() {
    let other = Server::start(vec![Play::Answer(answer("200 OK", "", &chat_answer()))]).await;
    for line in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let to = format!("location: {}/v1/chat/completions\r\n", other.base);
        let found = outcome(status(line, &to), FREE).await;
        assert_eq!(found, ("MODEL_REDIRECTED", Charge::Nothing, 1), "{line}");
    }
    assert!(other.requests().is_empty());
    let (client, _) = other.client("openai-chat", FREE);
    assert_eq!(ask(&client).await.unwrap().text, "Hi.");
}

#[tokio::test]
async fn what_breaks_after_it_was_sent_is_not_settled_and_not_asked_again() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n".to_vec();
    let half = [head.clone(), b"{\"choices\"".to_vec()].concat();
    for (name, play, code) in [
        ("reset", Play::Reset, "MODEL_CONNECTION_LOST"),
        ("no answer", Play::Answer(Vec::new()), "MODEL_CONNECTION_LOST"),
        ("half an answer", Play::Answer(half), "MODEL_CONNECTION_LOST"),
        ("no http", Play::Answer(b"SSH-2.0-x\r\n".to_vec()), "MODEL_CONNECTION_LOST"),
        ("a silent server", Play::Stall(Vec::new()), "MODEL_TIMEOUT"),
        ("silence in the middle", Play::Stall(head), "MODEL_TIMEOUT"),
    ] {
        let more = format!("{FREE}  timeoutSeconds: 1\n");
        assert_eq!(outcome(vec![play], &more).await, (code, Charge::Unsettled, 1), "{name}");
    }
}

#[tokio::test]
async fn without_a_connection_nothing_is_owed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let (client, clock) = scene::client_of(scene::document("openai-chat", &base, FREE));
    let failure = ask(&client).await.unwrap_err();
    assert_eq!((failure.code, failure.charge), ("MODEL_UNREACHABLE", Charge::Nothing));
    assert_eq!(clock.waits().len(), 4);
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_gets_no_request() {
    let server = Server::start(vec![Play::Reset]).await;
    let base = server.base.replace("http:", "https:");
    let (client, _) =
        scene::client_of(scene::document("openai-chat", &base, "  key: env:KEY\n  price: free\n"));
    let failure = ask(&client).await.unwrap_err();
    assert_eq!((failure.code, failure.charge), ("MODEL_UNREACHABLE", Charge::Nothing));
    assert_eq!(server.requests(), vec!["\u{16}"; 5], "a handshake, and nothing of a request");
}

#[tokio::test]
async fn a_content_type_is_not_believed() {
    let stream = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"Hi.\"}},\"finish_reason\":\"stop\"}}],{}}}\n\ndata: [DONE]\n\n",
        scene::USAGE
    );
    for (kind, body, streams) in [
        ("text/event-stream", chat_answer(), true),
        ("image/png", chat_answer(), false),
        ("application/json", stream.clone(), true),
        ("application/json", stream, false),
    ] {
        let play = Play::Answer(answer("200 OK", &format!("content-type: {kind}\r\n"), &body));
        let server = Server::start(vec![play]).await;
        let (client, _) = server.client("openai-chat", &format!("{FREE}  stream: {streams}\n"));
        assert_eq!(ask(&client).await.unwrap().text, "Hi.", "{kind}");
    }
}

#[tokio::test]
async fn an_answer_without_end_is_cut() {
    let more = format!("{FREE}  timeoutSeconds: 30\n");
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
    let call =
        r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"ID","function":{"name":"t"}}]}}]}"#;
    let calls: String = (0..65).map(|n| format!("{}\n\n", call.replace("ID", &n.to_string()))).collect();
    let text =
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", "x".repeat(3 << 20));
    for (name, body) in [("calls", calls), ("text", text.repeat(2)), ("a line", "x".repeat((8 << 20) + 1))] {
        let play = Play::Stall([head.as_bytes(), body.as_bytes()].concat());
        assert_eq!(
            outcome(vec![play], &more).await,
            ("MODEL_ANSWER_TOO_LARGE", Charge::Unsettled, 1),
            "{name}"
        );
    }
}

#[tokio::test]
async fn an_abort_ends_a_call_at_once_and_leaves_it_unsettled() {
    let server = Server::start(vec![Play::Stall(Vec::new())]).await;
    let (client, _) = server.client("openai-chat", FREE);
    let (handle, signal) = AbortHandle::new();
    let call = tokio::spawn(async move { client.complete(scene::request(), signal).await });
    while server.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    handle.abort();
    let ended = tokio::time::timeout(Duration::from_secs(60), call).await.unwrap().unwrap();
    let failure = ended.unwrap_err();
    assert_eq!((failure.code, failure.charge), ("MODEL_ABORTED", Charge::Unsettled));

    let (client, _) = server.client("openai-chat", FREE);
    let (handle, signal) = AbortHandle::new();
    handle.abort();
    let failure = client.complete(scene::request(), signal).await.unwrap_err();
    assert_eq!((failure.code, failure.charge), ("MODEL_ABORTED", Charge::Nothing));
    assert_eq!(server.requests().len(), 1);
}

/// A clock of which every wait lasts for ever, and is told of when it begins.
#[derive(Default)]
struct StandingClock(tokio::sync::Notify);

#[async_trait::async_trait]
impl ambit_ports::runtime::Clock for StandingClock {
    fn now(&self) -> ambit_ids::UnixMs {
        ambit_ids::UnixMs::new(1_796_000_000_000)
    }

    async fn sleep_until(&self, _: ambit_ids::UnixMs) {
        self.0.notify_one();
        std::future::pending::<()>().await;
    }
}

#[tokio::test]
async fn an_abort_between_attempts_owes_nothing() {
    let server = Server::start(status("503 Busy", "")).await;
    let document = scene::document("openai-chat", &server.base, FREE);
    let (clock, entropy) = (Arc::new(StandingClock::default()), Arc::new(scene::NoChance));
    let client = Client::new(document, &|_| None, clock.clone(), entropy, 0).unwrap();
    let (handle, signal) = AbortHandle::new();
    let (failure, ()) = tokio::join!(client.complete(scene::request(), signal), async {
        clock.0.notified().await;
        handle.abort();
    });
    let failure = failure.unwrap_err();
    assert_eq!((failure.code, failure.charge), ("MODEL_ABORTED", Charge::Nothing));
}

#[tokio::test]
async fn localhost_is_this_machine() {
    let server = Server::start(vec![Play::Answer(answer("200 OK", "", &chat_answer()))]).await;
    let base = server.base.replace("127.0.0.1", "localhost");
    let (client, _) = scene::client_of(scene::document("openai-chat", &base, FREE));
    assert_eq!(ask(&client).await.unwrap().text, "Hi.");
}

async fn refused_before_sending(client: &Client, request: ModelRequest) -> &'static str {
    let (_handle, signal) = AbortHandle::new();
    let failure = client.complete(request, signal).await.unwrap_err();
    assert_eq!(failure.charge, Charge::Nothing);
    failure.code
}

#[tokio::test]
async fn no_call_passes_the_bounds_of_its_document() {
    let server = Server::start(vec![Play::Answer(answer("200 OK", "", &chat_answer()))]).await;
    let (client, _) = server.client("openai-chat", FREE);
    let large = ModelRequest { system: "x".repeat(60_000), ..scene::request() };
    assert_eq!(refused_before_sending(&client, large).await, "MODEL_REQUEST_TOO_LARGE");
    let long = ModelRequest { max_output_tokens: 101, ..scene::request() };
    assert_eq!(refused_before_sending(&client, long).await, "MODEL_REQUEST_TOO_LARGE");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_token_cap_counts_what_was_used_and_what_nobody_can_tell_at_its_bound() {
    let ok = || Play::Answer(answer("200 OK", "", &chat_answer()));
    let bound = ambit_agent_models::ModelAgentDocument::input_bound_tokens(&scene::request()) + 100;
    let capped = |cap: u64| format!("  key: none\n  tokenCap: {cap}\n");

    // Two calls of 10 tokens each fit beside the bound of the second, a third does not.
    let server = Server::start(vec![ok()]).await;
    let (client, _) = server.client("openai-chat", &capped(bound + 10));
    ask(&client).await.unwrap();
    ask(&client).await.unwrap();
    assert_eq!(refused_before_sending(&client, scene::request()).await, "MODEL_TOKEN_CAP");
    assert_eq!(server.requests().len(), 2);
    assert_eq!(client.call_quote().get(), 0);

    let server = Server::start(vec![Play::Reset]).await;
    let (client, _) = server.client("openai-chat", &capped(bound + 10));
    assert_eq!(ask(&client).await.unwrap_err().charge, Charge::Unsettled);
    assert_eq!(refused_before_sending(&client, scene::request()).await, "MODEL_TOKEN_CAP");

    // A turn before this client is one of the document's full bound.
    let server = Server::start(vec![ok()]).await;
    for (turns_before, answered) in [(0, true), (1, true), (2, false)] {
        let document = scene::document("openai-chat", &server.base, &capped(60_100 + bound));
        let clock = Arc::new(scene::StillClock::default());
        let entropy = Arc::new(scene::NoChance);
        let client = Client::new(document, &|_| None, clock, entropy, turns_before).unwrap();
        assert_eq!(ask(&client).await.is_ok(), answered, "{turns_before}");
    }
}

/// Proxies are named by the environment of a process, so this test starts itself once more in another one.
#[tokio::test]
async fn no_proxy_is_asked() {
    const CHILD: &str = "AMBIT_TEST_BEHIND_A_PROXY";
    if let Ok(base) = std::env::var(CHILD) {
        let (client, _) = scene::client_of(scene::document("openai-chat", &base, FREE));
        assert_eq!(ask(&client).await.unwrap().text, "Hi.");
        return;
    }
    let server = Server::start(vec![Play::Answer(answer("200 OK", "", &chat_answer()))]).await;
    let proxy = Server::start(vec![Play::Answer(answer("200 OK", "", &chat_answer()))]).await;
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "transport::no_proxy_is_asked", "--nocapture"]).env(CHILD, &server.base);
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        child.env(name, &proxy.base);
    }
    child.env_remove("no_proxy").env_remove("NO_PROXY");
    let done = tokio::task::spawn_blocking(move || child.output().unwrap()).await.unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    assert_eq!((server.requests().len(), proxy.requests().len()), (1, 0));
}
