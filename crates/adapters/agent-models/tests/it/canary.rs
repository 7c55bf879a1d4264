//! A key goes into one header and nowhere else, whatever a server does with it.

use ambit_agent_models::{CallArguments, Charge, Model};
use ambit_model_server::{Fault, ModelServer, Script, TakenRequest, Turn};
use ambit_ports::AbortHandle;

use crate::meeting::{Meeting, hello};
use crate::scene::{self, KEY as CANARY, Play, Server, WIRES, answer, ask};

const KEYED: &str = "  key: env:KEY\n  price: free\n  stream: false\n";

#[tokio::test]
async fn a_key_is_sent_in_the_header_of_its_wire_alone() {
    for (wire, header) in
        WIRES.iter().zip(["x-api-key: ", "authorization: Bearer ", "authorization: Bearer "])
    {
        let server = Server::start(vec![Play::Answer(answer("400 Bad", "", "{}"))]).await;
        let (client, _) = server.client(wire, KEYED);
        ask(&client).await.unwrap_err();
        let request = server.requests().remove(0);
        assert_eq!(request.matches(CANARY).count(), 1, "{wire}");
        assert!(request.contains(&format!("{header}{CANARY}\r\n")), "{wire}: {request}");
        assert_eq!(request.contains("anthropic-version: 2023-06-01\r\n"), *wire == "anthropic-messages");
        let expected = match *wire {
            "anthropic-messages" => "POST /v1/messages HTTP/1.1\r\n",
            "openai-responses" => "POST /v1/responses HTTP/1.1\r\n",
            _ => "POST /v1/chat/completions HTTP/1.1\r\n",
        };
        assert!(request.starts_with(expected), "{request}");
        assert!(request.contains("accept-encoding: identity\r\n"), "{request}");
        for unwanted in ["cookie:", "referer:"] {
            assert!(!request.to_ascii_lowercase().contains(unwanted), "{unwanted}");
        }
    }
}

#[tokio::test]
async fn a_key_that_is_said_back_goes_no_further() {
    let echoes = [
        answer(
            "401 Who",
            "",
            &format!(r#"{{"error":{{"type":"{CANARY}","code":"{CANARY}","message":"{CANARY}"}}}}"#),
        ),
        answer("500 Oops", &format!("x-echo: {CANARY}\r\n"), CANARY),
        answer("200 OK", "", &format!(r#"{{"error":{{"type":"{CANARY}"}}}}"#)),
        answer("200 OK", "", CANARY),
        answer("429 Slow", &format!("retry-after: {CANARY}\r\n"), CANARY),
        answer(
            "200 OK",
            "",
            &format!(
                r#"{{"choices":[{{"message":{{"content":"a {CANARY}","tool_calls":[{{"id":"{CANARY}","function":{{"name":"{CANARY}","arguments":"{{\"a\":[\"{CANARY}\"]}}"}}}}]}}}}],{}}}"#,
                scene::USAGE
            ),
        ),
    ];
    for (number, echo) in echoes.into_iter().enumerate() {
        let server = Server::start(vec![Play::Answer(echo)]).await;
        let (client, _) = server.client("openai-chat", KEYED);
        let client = client.recording();
        let outcome = ask(&client).await;
        assert!(server.requests()[0].contains(CANARY), "the key was not sent");
        if number == 5 {
            let reply = outcome.as_ref().unwrap();
            assert!(
                matches!(&reply.calls[0].arguments, CallArguments::Object(members) if members.len() == 1)
            );
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cassette.json");
        client.cassette().write(&path).unwrap();
        let cassette = std::fs::read_to_string(&path).unwrap();
        assert!(cassette.contains("\"request\""));
        for text in [format!("{outcome:?}"), format!("{client:?}"), cassette] {
            assert!(!text.contains("CANARY"), "{number}: {text}");
        }
        if let Err(failure) = outcome {
            assert!(!failure.to_string().contains("CANARY"));
        }
    }
}

#[tokio::test]
async fn what_was_recorded_is_played_again() {
    let server = Server::start(vec![
        Play::Answer(answer("429 Slow", "retry-after: 1\r\n", "{}")),
        Play::Answer(answer("200 OK", "", &scene::chat_answer())),
    ])
    .await;
    let (client, _) = server.client("openai-chat", KEYED);
    let client = client.recording();
    let first = ask(&client).await.unwrap();
    let clock = std::sync::Arc::new(scene::StillClock::default());
    let document = scene::document("openai-chat", "https://models.example", "  key: none\n  price: free\n");
    let entropy = std::sync::Arc::new(scene::NoChance);
    let replayed =
        ambit_agent_models::Client::replaying(document, client.cassette(), clock.clone(), entropy).unwrap();
    let (_handle, signal) = AbortHandle::new();
    assert_eq!(replayed.complete(scene::request(), signal).await.unwrap(), first);
    assert_eq!(clock.waits(), [1_000]);
}

/// What the server's own log says of the key: the one header that has it.
fn where_the_key_is(request: &TakenRequest) -> Vec<&str> {
    assert!(!request.body.contains(CANARY) && !request.path.contains(CANARY), "{request:?}");
    let keyed = request.headers.iter().filter(|(_, value)| value.contains(CANARY));
    keyed.map(|(name, _)| name.as_str()).collect()
}

#[tokio::test]
async fn a_key_is_in_one_header_of_every_request_and_in_nothing_that_is_kept() {
    let script = Script::of([
        Turn::call("read_project_file", serde_json::json!({"path": "a"})).after(Fault::RateLimited),
        // Said back: whole, and in the pieces of a stream.
        Turn::text(&format!("The key is {CANARY}.")).thinking(CANARY),
        Turn::call("read_project_file", serde_json::json!({"path": CANARY})),
        Turn::fault(Fault::ServerError),
        Turn::fault(Fault::ErrorBody),
        Turn::fault(Fault::Redirect307),
        Turn::fault(Fault::Cut { after_bytes: 200 }),
    ]);
    for wire in WIRES {
        for stream in [false, true] {
            let meeting = Meeting::of(wire, stream, script.clone(), "");
            let mut shown = String::new();
            for _ in 0..7 {
                let outcome = meeting.ask(&hello()).await;
                let told = outcome.as_ref().err().map(ToString::to_string);
                shown += &format!("{outcome:?} {told:?} {:?}", meeting.client);
            }
            let requests = meeting.server.requests();
            assert_eq!(requests.len(), 8, "{}", meeting.name());
            let header = if wire == "anthropic-messages" { "x-api-key" } else { "authorization" };
            for request in &requests {
                assert_eq!(where_the_key_is(request), [header], "{}", meeting.name());
            }
            // A piece of a stream holds eleven characters.
            shown += &scene::written(&meeting.client.cassette());
            assert!(shown.contains("[key]") && shown.contains("MODEL_SERVER_FAILED"), "{shown}");
            assert!(
                !shown.contains("CANARY") && !shown.contains("0123456789-k"),
                "{}: {shown}",
                meeting.name()
            );
        }
    }
}

#[tokio::test]
async fn a_key_that_is_refused_is_not_shown() {
    for wire in WIRES {
        let server = ModelServer::builder(Script::of([Turn::text("Hi.")])).key("another").start().unwrap();
        let (client, _) = scene::client_of(scene::document(wire, &server.base_url(), KEYED));
        let failure = ask(&client).await.unwrap_err();
        assert_eq!((failure.code, failure.charge), ("MODEL_KEY_REFUSED", Charge::Nothing), "{wire}");
        assert_eq!(where_the_key_is(&server.requests()[0]).len(), 1, "{wire}");
        assert!(!format!("{failure} {failure:?} {client:?}").contains("CANARY"), "{wire}");
    }
}
