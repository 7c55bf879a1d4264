//! A model that a closure is, and contexts as the platform writes them.

use std::sync::{Arc, Mutex};

use ambit_agent_models::{
    CallArguments, CallFailure, ContextAllowance, Message, Model, ModelAgent, ModelCall, ModelReply,
    ModelRequest, ModelSettings, StopCause, Usage,
};
use ambit_ids::{AgentId, Digest, MicroUsd};
use ambit_ports::agent::{Agent, AgentAnswer, AgentError, TurnOffer};
use ambit_ports::{AbortHandle, AbortSignal};
use ambit_redaction::Redactor;
use async_trait::async_trait;
use serde_json::{Value, json};

pub(crate) type Said = Result<ModelReply, CallFailure>;
type Say = dyn FnMut(&ModelRequest) -> Said + Send;

/// A model that answers what a closure says, and keeps every request.
pub(crate) struct Parrot {
    say: Mutex<Box<Say>>,
    asked: Mutex<Vec<ModelRequest>>,
}

impl Parrot {
    pub(crate) fn new(say: impl FnMut(&ModelRequest) -> Said + Send + 'static) -> Arc<Self> {
        Arc::new(Self { say: Mutex::new(Box::new(say)), asked: Mutex::default() })
    }

    /// A model that makes these calls, one a turn, and then has nothing to say.
    pub(crate) fn script(calls: Vec<(&'static str, Value)>) -> Arc<Self> {
        let mut calls = calls.into_iter();
        Self::new(move |_| Ok(calls.next().map_or_else(silence, |(name, input)| call(name, input))))
    }

    pub(crate) fn asked(&self) -> Vec<ModelRequest> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn last_asked(&self) -> ModelRequest {
        self.asked().pop().unwrap()
    }
}

#[async_trait]
impl Model for Parrot {
    async fn complete(&self, request: ModelRequest, _: AbortSignal) -> Said {
        let said = (self.say.lock().unwrap())(&request);
        self.asked.lock().unwrap().push(request);
        said
    }
}

pub(crate) const USED: Usage = Usage {
    input_tokens: 100,
    cache_read_tokens: 10,
    cache_write_tokens: 5,
    output_tokens: 50,
    reasoning_tokens: 20,
};

pub(crate) fn reply(text: &str, calls: Vec<ModelCall>, stop: StopCause) -> ModelReply {
    ModelReply { text: text.to_owned(), calls, stop, usage: USED }
}

pub(crate) fn silence() -> ModelReply {
    reply("all is done", Vec::new(), StopCause::Done)
}

pub(crate) fn made(id: &str, name: &str, input: Value) -> ModelCall {
    let arguments = match input {
        Value::Object(members) => CallArguments::Object(members),
        other => CallArguments::Unreadable(other.to_string()),
    };
    ModelCall { id: id.to_owned(), name: name.to_owned(), arguments }
}

pub(crate) fn call(name: &str, input: Value) -> ModelReply {
    reply("", vec![made("call-1", name, input)], StopCause::Calls)
}

pub(crate) fn settings(tokens: u32) -> ModelSettings {
    ModelSettings {
        model: Digest::of(b"parrot"),
        quote: MicroUsd::new(1_000),
        cost: Arc::new(|usage| {
            MicroUsd::new(usage.input_tokens + usage.cache_read_tokens + 2 * usage.output_tokens)
        }),
        max_output_tokens: 4_096,
        redactor: Redactor::by_rules(),
        context: ContextAllowance::of_tokens(tokens).unwrap(),
    }
}

pub(crate) fn agent(model: &Arc<Parrot>, tokens: u32) -> Arc<ModelAgent> {
    let id = AgentId::new("parrot").unwrap();
    Arc::new(ModelAgent::new(id, model.clone(), settings(tokens)))
}

/// Offers a turn with this context.
pub(crate) async fn offer(agent: &ModelAgent, context: &Value) -> Result<AgentAnswer, AgentError> {
    let turn = u32::try_from(context["turn"].as_u64().unwrap()).unwrap();
    let (_handle, signal) = AbortHandle::new();
    let offer =
        TurnOffer { run: "run_000001".parse().unwrap(), turn, context: Arc::from(context.to_string()) };
    agent.answer(offer, signal).await
}

pub(crate) fn wait<F: Future>(work: F) -> F::Output {
    ambit_simulation::simulate(work)
}

fn tool(name: &str, members: &[&str]) -> Value {
    let properties: serde_json::Map<String, Value> =
        members.iter().map(|member| ((*member).to_owned(), json!({"type": "string"}))).collect();
    json!({"name": name, "summary": format!("Does {name}."),
        "input": {"type": "object", "properties": properties, "required": members, "additionalProperties": false}})
}

/// A context with a plan, before anything was done.
pub(crate) fn context(turn: u32) -> Value {
    json!({
        "run": "run_000001", "turn": turn, "proposals": turn - 1, "goal": "Say the right word.",
        "project": "shop", "revision": "rev-1", "baseRevision": "rev-0",
        "head": Digest::of(b"tree"),
        "acceptanceCases": [{"id": "AC-1", "statement": "The word is right."}],
        "scope": {"paths": ["src/**"], "work": ["domain"], "outOfScope": ["deployment"]},
        "protected": ["tests/**"],
        "gates": [{"id": "unit", "cases": ["AC-1"], "status": "not-run", "runs": 0, "ranAs": null}],
        "plan": [{"id": "s1", "summary": "say it", "work": "domain", "cases": ["AC-1"]}],
        "changedFiles": [], "mustExplain": null, "held": [],
        "left": {"modelSteps": 20, "toolCost": 1_000_000},
        "tools": [
            tool("read_project_file", &["projectId", "revisionId", "path"]),
            tool("list_project_files", &["projectId", "revisionId"]),
            tool("search_project_text", &["projectId", "revisionId", "text"]),
            tool("apply_project_patch", &["revisionId", "expectedBaseSha", "patch"]),
            tool("run_named_gate", &["revisionId", "gateId", "idempotencyKey"]),
            tool("request_scoped_approval", &["proposalId", "capability", "reason"]),
        ],
        "notes": null, "last": null, "since": [],
    })
}

/// The context with what came of the calls of an answer, in order.
pub(crate) fn told(mut context: Value, answer: &AgentAnswer, replies: &[Value]) -> Value {
    let answer = Digest::of(&answer.bytes);
    context["since"] = replies
        .iter()
        .enumerate()
        .map(|(index, reply)| json!({"answer": answer, "index": index, "reply": reply}))
        .collect();
    context
}

pub(crate) fn file(content: &str) -> Value {
    json!({"content": content, "sha256": Digest::of(content.as_bytes()), "truncated": false})
}

pub(crate) fn gate(code: i32, output: &str) -> Value {
    let mut reply = json!({"exitCode": code, "artifactId": Digest::of(b"a"), "durationMs": 5, "output": output,
        "truncated": false});
    if code != 0 {
        reply["errorClass"] = json!("failed");
        let failure = json!({"test": output, "class": "AssertionError", "message": output, "place": null});
        reply["summary"] = json!({"runner": null, "failures": [failure], "moreFailures": 0, "counts": null});
    }
    reply
}

pub(crate) fn denied(code: &str, detail: &str, instead: &str) -> Value {
    json!({"denied": {"code": code, "detail": detail, "rules": ["some-rule"], "instead": instead}})
}

/// Everything that the platform says in a request, apart from the instructions.
pub(crate) fn platform_text(request: &ModelRequest) -> String {
    let mut text = String::new();
    for message in &request.messages {
        match message {
            Message::User(said) => text.push_str(said),
            Message::Assistant { .. } => {}
            Message::ToolResults(results) => {
                results.iter().for_each(|result| {
                    text.push_str(&result.content);
                    text.push('\n');
                });
            }
        }
        text.push('\n');
    }
    text
}
