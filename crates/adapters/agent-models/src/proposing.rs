//! What a model answered, as a proposal to the platform. What it left to the platform is filled in; what it says itself is
//! passed on as it is, to be judged there.

use ambit_canonical::admit_within;
use ambit_ids::{Digest, limits};
use serde_json::{Map, Value, json};

use crate::dialogue::{CallArguments, ModelCall, ModelReply, StopCause};
use crate::exchange::{Exchange, MadeCall};
use crate::prompts;
use crate::quoting::in_short;
use crate::toolbox::{APPLY_PATCH, PROPOSE_PLAN, RUN_GATE, is_read};
use crate::turn_context::TurnContext;

/// The most calls of an answer that are remembered. The platform denies an answer with more as a whole.
const REMEMBERED: usize = limits::QUEUED_CALLS;
/// The longest id and name of a call that every vendor takes back.
const NAME_CHARS: usize = 64;
/// What stands for arguments that cannot be passed on.
const UNREADABLE: &str = "unreadable";

/// An answer to a turn, and what is remembered of it.
pub(crate) struct Proposed {
    pub(crate) bytes: Vec<u8>,
    pub(crate) exchange: Exchange,
}

/// The proposal that a reply makes. `is_taken` says which ids of calls are in use already.
pub(crate) fn propose(reply: ModelReply, context: &TurnContext, is_taken: impl Fn(&str) -> bool) -> Proposed {
    let (nothing, remark) = match reply.stop {
        StopCause::Length => ("cut-off", prompts::CUT_OFF),
        StopCause::Refused => ("refused", prompts::REFUSED),
        StopCause::Done | StopCause::Calls => ("without-call", prompts::WITHOUT_CALL),
    };
    let mut exchange =
        Exchange { turn: context.turn, text: reply.text, calls: Vec::new(), remark, is_brief: false };
    // Of an answer that was cut off nobody can tell which of its calls are whole.
    let is_whole = !matches!(reply.stop, StopCause::Length | StopCause::Refused);
    if !is_whole || reply.calls.is_empty() {
        return Proposed { bytes: json!({"nothing": nothing}).to_string().into_bytes(), exchange };
    }
    let mut filling = Filling { context, patches: Vec::new() };
    let mut moves = Vec::with_capacity(reply.calls.len());
    for (index, call) in reply.calls.into_iter().enumerate() {
        let (proposed, flaw) = filling.proposal(&call);
        moves.push(proposed);
        if index < REMEMBERED {
            let is_free =
                |id: &String| !is_taken(id) && exchange.calls.iter().all(|made: &MadeCall| made.id != *id);
            let own = (0_u32..).map(|more| format!("call_{}_{index}_{more}", context.turn));
            let id = usable(&call.id).into_iter().chain(own).find(is_free).unwrap_or_default();
            exchange.calls.push(MadeCall {
                id,
                name: usable(&call.name).unwrap_or_else(|| "unknown_tool".to_owned()),
                arguments: match call.arguments {
                    CallArguments::Object(members) => members,
                    CallArguments::Unreadable(_) => Map::new(),
                },
                flaw,
                outcome: None,
            });
        }
    }
    let answer = match <[Value; 1]>::try_from(moves) {
        Ok([single]) => single,
        Err(several) => json!({"calls": several}),
    };
    Proposed { bytes: answer.to_string().into_bytes(), exchange }
}

/// A name that every vendor takes back in a conversation.
fn usable(name: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    ((1..=NAME_CHARS).contains(&name.len()) && name.chars().all(plain)).then(|| name.to_owned())
}

/// Fills in what the platform knows.
struct Filling<'a> {
    context: &'a TurnContext,
    /// The patches so far in this answer: a gate after one of them runs on another tree.
    patches: Vec<Digest>,
}

impl Filling<'_> {
    /// A call as the platform takes it, and what is wrong with it where the platform cannot know.
    fn proposal(&mut self, call: &ModelCall) -> (Value, Option<String>) {
        let members = match &call.arguments {
            CallArguments::Object(members) => members.clone(),
            CallArguments::Unreadable(text) => {
                let told = format!(
                    "The arguments were no JSON object, and nothing of them was taken. They began: {}",
                    in_short(text, 200)
                );
                return (unreadable(&call.name), Some(told));
            }
        };
        let proposed = if call.name == PROPOSE_PLAN { plan(members) } else { self.call(&call.name, members) };
        match admit_within(proposed.to_string().as_bytes(), usize::MAX) {
            Ok(()) => (proposed, None),
            // One such call must not take the others of the answer with it.
            Err(error) => {
                let told = format!("The arguments cannot be taken: {}", in_short(&error.to_string(), 200));
                (unreadable(&call.name), Some(told))
            }
        }
    }

    fn call(&mut self, name: &str, mut input: Map<String, Value>) -> Value {
        input.retain(|_, value| !value.is_null());
        let mut proposed = Map::new();
        proposed.insert("tool".to_owned(), json!(name));
        let known = self.context.tools.iter().find(|tool| tool.name == name);
        if name == APPLY_PATCH {
            for (theirs, ours) in [("step", "planStep"), ("hypothesis", "hypothesis")] {
                if let Some(value) = input.remove(theirs) {
                    proposed.insert(ours.to_owned(), value);
                }
            }
        }
        if is_read(name) {
            self.choose_revision(&mut input);
            // The whole project, as models like to say it.
            if input
                .get("under")
                .and_then(Value::as_str)
                .is_some_and(|under| matches!(under, "" | "." | "./" | "/"))
            {
                input.remove("under");
            }
        }
        let takes = |member: &str| known.is_some_and(|tool| tool.input["properties"].get(member).is_some());
        for (member, value) in [
            ("projectId", json!(self.context.project)),
            ("revisionId", json!(self.context.revision)),
            ("expectedBaseSha", json!(self.context.head)),
        ] {
            if takes(member) {
                input.entry(member).or_insert(value);
            }
        }
        if name == RUN_GATE && takes("idempotencyKey") {
            let gate = input.get("gateId").and_then(Value::as_str).unwrap_or_default();
            let fresh = json!(self.gate_name(gate));
            input.entry("idempotencyKey").or_insert(fresh);
        }
        if let (APPLY_PATCH, Some(patch)) = (name, input.get("patch").and_then(Value::as_str)) {
            self.patches.push(Digest::of(patch.as_bytes()));
        }
        proposed.insert("input".to_owned(), Value::Object(input));
        Value::Object(proposed)
    }

    fn choose_revision(&self, input: &mut Map<String, Value>) {
        let Some(chosen) = input.remove("revision") else { return };
        let revision = match chosen.as_str() {
            Some("current") => json!(self.context.revision),
            Some("base") => json!(self.context.base_revision),
            _ => chosen,
        };
        input.entry("revisionId").or_insert(revision);
    }

    /// The key of a gate execution: the one that the execution on this very tree had, where there is one, else one that
    /// follows from the gate, the tree and the executions so far, so that the same proposal is the same key.
    fn gate_name(&self, id: &str) -> String {
        let gate = self.context.gates.iter().find(|gate| gate.id == id);
        if let Some(known) = gate.and_then(|gate| gate.ran_as.clone()).filter(|_| self.patches.is_empty()) {
            return known;
        }
        let (head, runs) = (self.context.head.to_hex(), gate.map_or(0, |gate| gate.runs).to_string());
        let mut parts: Vec<String> = vec![id.to_owned(), head, runs];
        parts.extend(self.patches.iter().map(Digest::to_hex));
        let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
        format!("gate-{}", &Digest::of_parts(&parts).to_hex()[..40])
    }
}

fn plan(mut members: Map<String, Value>) -> Value {
    let steps = members.remove("steps").unwrap_or(Value::Null);
    members.insert("plan".to_owned(), steps);
    Value::Object(members)
}

/// A call whose arguments are none, to be denied in its place.
fn unreadable(name: &str) -> Value {
    if name == PROPOSE_PLAN {
        return json!({"plan": UNREADABLE});
    }
    json!({"tool": name, "input": UNREADABLE})
}
