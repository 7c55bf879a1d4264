//! The client meets a server that was written without it, over every wire, whole and as a stream.

use std::sync::Arc;

use ambit_agent_models::{
    CallArguments, CallFailure, Client, Message, Model, ModelCall, ModelReply, ModelRequest, StopCause,
    ToolResult, Usage,
};
use ambit_model_server::{Fault, ModelServer, Script, Stop, Turn, UsageGiven};
use ambit_ports::AbortHandle;
use serde_json::json;

use crate::scene::{self, StillClock, WIRES};

pub(crate) const KEYED: &str = "  key: env:KEY\n  price: free\n";

/// What is asked over one wire in one form.
pub(crate) struct Meeting {
    pub(crate) wire: &'static str,
    pub(crate) stream: bool,
    pub(crate) server: ModelServer,
    pub(crate) client: Client,
    pub(crate) clock: Arc<StillClock>,
}

impl Meeting {
    pub(crate) fn of(wire: &'static str, stream: bool, script: Script, more: &str) -> Self {
        let server = ModelServer::builder(script).key(scene::KEY).start().unwrap();
        let document =
            scene::document(wire, &server.base_url(), &format!("{KEYED}  stream: {stream}\n{more}"));
        let (client, clock) = scene::client_of(document);
        Self { wire, stream, server, client: client.recording(), clock }
    }

    pub(crate) fn everywhere(script: &Script) -> impl Iterator<Item = Self> {
        let ways = WIRES.iter().flat_map(|wire| [(*wire, false), (*wire, true)]);
        ways.map(|(wire, stream)| Self::of(wire, stream, script.clone(), ""))
    }

    pub(crate) async fn ask(&self, messages: &[Message]) -> Result<ModelReply, CallFailure> {
        let (_handle, signal) = AbortHandle::new();
        let request = ModelRequest { messages: messages.to_vec(), ..scene::request() };
        self.client.complete(request, signal).await
    }

    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.wire, if self.stream { "stream" } else { "whole" })
    }

    /// The request that came last.
    fn last_body(&self) -> serde_json::Value {
        serde_json::from_str(&self.server.requests().last().unwrap().body).unwrap()
    }
}

pub(crate) fn hello() -> Vec<Message> {
    vec![Message::User("Hello?".to_owned())]
}

fn read(path: &str) -> Turn {
    Turn::call("read_project_file", json!({"path": path}))
}

const GIVEN: UsageGiven = UsageGiven {
    input: Some(11),
    cache_read: Some(5),
    cache_write: Some(4),
    output: Some(7),
    reasoning: Some(3),
};
const USAGE: Usage = Usage {
    input_tokens: 11,
    cache_read_tokens: 5,
    cache_write_tokens: 4,
    output_tokens: 7,
    reasoning_tokens: 3,
};

#[tokio::test]
async fn words_come_as_they_were_said_with_every_token_once() {
    let words = "Hello, “wörld”: \"{}\"\n\n日本 🦀.";
    for (stop, expected) in
        [(Stop::End, StopCause::Done), (Stop::Length, StopCause::Length), (Stop::Filter, StopCause::Refused)]
    {
        for meeting in Meeting::everywhere(&Script::of([Turn::text(words).stop(stop).usage(GIVEN)])) {
            let reply = meeting.ask(&hello()).await.unwrap();
            assert_eq!((reply.text.as_str(), reply.stop, reply.usage), (words, expected, USAGE));
            assert!(reply.calls.is_empty() && meeting.server.problems().is_empty(), "{}", meeting.name());
        }
    }
}

// proves E-B05
// break crates/adapters/agent-models/src/attempt.rs: `thoughts::without(&bytes, key)` -> `String::from_utf8_lossy(&bytes).into_owned()`
#[tokio::test]
async fn thoughts_reach_nothing() {
    let turn = read("a.py").thinking("CANARY is what I think of it, at some length").saying("I look.");
    for meeting in Meeting::everywhere(&Script::of([turn])) {
        let reply = meeting.ask(&hello()).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.calls.len()), ("I look.", 1), "{}", meeting.name());
        assert!(reply.usage.reasoning_tokens > 0, "{}", meeting.name());
        let recorded = scene::written(&meeting.client.cassette());
        assert!(recorded.contains("look"), "{recorded}");
        for text in [format!("{reply:?}"), format!("{:?}", meeting.client), recorded] {
            // A stream brings them in pieces.
            assert!(!text.contains("CANARY") && !text.contains("at some"), "{}: {text}", meeting.name());
        }
        let replayed = scene::replaying(meeting.wire, meeting.client.cassette());
        assert_eq!(scene::ask(&replayed).await.unwrap(), reply, "{}", meeting.name());
    }
}

fn results(reply: &ModelReply, content: &str) -> Message {
    let result = |call: &ModelCall| ToolResult {
        call: call.id.clone(),
        content: content.to_owned(),
        is_error: content.starts_with("no"),
    };
    Message::ToolResults(reply.calls.iter().map(result).collect())
}

fn said(reply: &ModelReply) -> Message {
    Message::Assistant { text: reply.text.clone(), calls: reply.calls.clone() }
}

#[tokio::test]
async fn calls_and_their_results_go_round() {
    let script = Script::of([
        read("a.py").saying("I look."),
        read("b.py").and_call("read_project_file", json!({"path": "\"c\".py"})),
        Turn::text("The content was ${content}."),
    ])
    .capture("content", "content: ([a-z]+)");
    for meeting in Meeting::everywhere(&script) {
        let mut messages = hello();
        let first = meeting.ask(&messages).await.unwrap();
        assert_eq!((first.text.as_str(), first.stop), ("I look.", StopCause::Calls), "{}", meeting.name());
        messages.extend([said(&first), results(&first, "no such file")]);
        let second = meeting.ask(&messages).await.unwrap();
        let paths: Vec<_> = second
            .calls
            .iter()
            .map(|call| match &call.arguments {
                CallArguments::Object(members) => members["path"].as_str().unwrap(),
                CallArguments::Unreadable(text) => panic!("{text}"),
            })
            .collect();
        assert_eq!(paths, ["b.py", "\"c\".py"], "{}", meeting.name());
        assert!(second.calls.iter().all(|call| call.name == "read_project_file"));
        messages.extend([said(&second), results(&second, "content: egg")]);
        let third = meeting.ask(&messages).await.unwrap();
        assert_eq!((third.text.as_str(), third.stop), ("The content was egg.", StopCause::Done));
        assert_eq!(meeting.server.unused_turns(), [0_usize; 0], "{}", meeting.name());
        let body = meeting.last_body().to_string();
        for call in first.calls.iter().chain(&second.calls) {
            assert_eq!(body.matches(&call.id).count(), 2, "{}: {body}", meeting.name());
        }
    }
}

#[tokio::test]
async fn arguments_that_are_none_can_be_answered_and_the_conversation_goes_on() {
    for fault in
        [Fault::InvalidArguments, Fault::WrongToolName, Fault::TwoCalls, Fault::Empty, Fault::Refusal]
    {
        let script = Script::of([read("a.py").failing(fault.clone()), Turn::text("I see.")]);
        for meeting in Meeting::everywhere(&script) {
            let mut messages = hello();
            let first = meeting.ask(&messages).await.unwrap();
            messages.push(said(&first));
            messages.push(match first.calls.is_empty() {
                true => Message::User("Go on.".to_owned()),
                false => results(&first, "no"),
            });
            let second = meeting.ask(&messages).await;
            assert_eq!(second.unwrap().text, "I see.", "{} {fault:?}", meeting.name());
        }
    }
}

#[tokio::test]
async fn who_was_turned_away_asks_again_and_pays_once() {
    let turn = Turn::text("At last.")
        .after(Fault::RateLimited)
        .after(Fault::RateLimitedFor { seconds: 7 })
        .after(Fault::Overloaded)
        .after(Fault::Unavailable)
        .usage(GIVEN);
    for meeting in Meeting::everywhere(&Script::of([turn])) {
        let reply = meeting.ask(&hello()).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.usage), ("At last.", USAGE));
        assert_eq!(meeting.clock.waits(), [250, 7_000, 1_000, 2_000], "{}", meeting.name());
        let bill = meeting.server.bill();
        let statuses: Vec<u16> = bill.entries.iter().map(|entry| entry.status).collect();
        assert_eq!(statuses, [429, 429, 529, 503, 200], "{}", meeting.name());
        assert_eq!(bill.charged().count(), 1);
        let bodies: Vec<String> = meeting.server.requests().into_iter().map(|request| request.body).collect();
        assert!(bodies.iter().all(|body| *body == bodies[0]), "{}", meeting.name());
    }
}
