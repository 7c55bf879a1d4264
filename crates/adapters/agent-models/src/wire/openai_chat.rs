use serde_json::{Value, json};

use crate::dialogue::{Message, ModelReply, ModelRequest, StopCause, ToolSpec, Usage};
use crate::limits::ITEMS;
use crate::wire::draft::Draft;
use crate::wire::fault::{Fault, error_of};
use crate::wire::json::{index, items, parse, sent_arguments, sent_name, text};
use crate::wire::openai_usage::{self, Names};
use crate::wire::sse::Flow;
use crate::wire::{EventReader, Manner, OutputLimitName};

const NAMES: Names = Names {
    input: "prompt_tokens",
    input_details: "prompt_tokens_details",
    output: "completion_tokens",
    output_details: "completion_tokens_details",
};

pub(super) fn encode(manner: &Manner, request: &ModelRequest) -> Value {
    let system = (!request.system.is_empty()).then(|| json!({"role": "system", "content": request.system}));
    let messages: Vec<Value> = system.into_iter().chain(request.messages.iter().flat_map(message)).collect();
    let mut body = json!({"model": manner.model, "messages": messages, "stream": manner.stream});
    let limit = match manner.output_limit {
        OutputLimitName::MaxTokens => "max_tokens",
        OutputLimitName::MaxCompletionTokens => "max_completion_tokens",
    };
    body[limit] = json!(request.max_output_tokens);
    if manner.stream {
        body["stream_options"] = json!({"include_usage": true});
    }
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
        body["parallel_tool_calls"] = json!(false);
    }
    body
}

fn tool(tool: &ToolSpec) -> Value {
    let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
    json!({"type": "function", "function": function})
}

fn message(message: &Message) -> Vec<Value> {
    match message {
        Message::User(text) => vec![json!({"role": "user", "content": text})],
        Message::Assistant { text, calls } => {
            if text.is_empty() && calls.is_empty() {
                return Vec::new();
            }
            let mut said = json!({"role": "assistant", "content": text});
            if !calls.is_empty() {
                said["tool_calls"] = calls
                    .iter()
                    .map(|call| {
                        let function =
                            json!({"name": sent_name(call), "arguments": sent_arguments(call).to_string()});
                        json!({"id": call.id, "type": "function", "function": function})
                    })
                    .collect();
            }
            vec![said]
        }
        Message::ToolResults(results) => results
            .iter()
            .map(|result| json!({"role": "tool", "tool_call_id": result.call, "content": result.content}))
            .collect(),
    }
}

fn stop_cause(reason: &str) -> StopCause {
    match reason {
        "length" => StopCause::Length,
        "content_filter" => StopCause::Refused,
        "tool_calls" | "function_call" => StopCause::Calls,
        _ => StopCause::Done,
    }
}

fn usage_of(body: &Value) -> Result<Option<Usage>, Fault> {
    match body.get("usage") {
        Some(usage @ Value::Object(_)) => openai_usage::read(usage, &NAMES).map(Some),
        _ => Ok(None),
    }
}

pub(super) fn whole(body: &Value) -> Result<ModelReply, Fault> {
    let usage = usage_of(body)?.ok_or_else(|| Fault::usage("there is no usage"))?;
    let settled = |fault: Fault| fault.settled(Some(usage));
    let choice =
        items(body, "choices").first().ok_or_else(|| settled(Fault::unreadable("it has no choice")))?;
    if let Some(error) = error_of(choice) {
        return Err(settled(Fault::vendor(error)));
    }
    let message = choice.get("message").unwrap_or(&Value::Null);
    let mut words = Words::default();
    words.take(message).map_err(settled)?;
    for call in items(message, "tool_calls") {
        let function = call.get("function").unwrap_or(&Value::Null);
        let given = function.get("arguments").cloned().unwrap_or_default();
        words.draft.add_call(text(call, "id"), text(function, "name"), given).map_err(settled)?;
    }
    words.finish(stop_cause(text(choice, "finish_reason")), usage).map_err(settled)
}

/// The words of an answer without the thoughts that some servers leave among them: everything from `<think>` at the very
/// beginning to `</think>`.
#[derive(Default)]
struct Words {
    draft: Draft,
    /// What came so far, until it is known whether it begins with a thought.
    held: String,
    place: Place,
}

#[derive(Default, PartialEq)]
enum Place {
    #[default]
    Beginning,
    Thought,
    Words,
}

const THOUGHT: (&str, &str) = ("<think>", "</think>");
/// How much white space may stand before a thought.
const HELD_BYTES: usize = 64;

impl Words {
    /// Takes `content` (text, or parts of which some are text) and `refusal` of a message or of a piece of one.
    fn take(&mut self, message: &Value) -> Result<(), Fault> {
        match message.get("content") {
            Some(Value::String(content)) => self.add(content)?,
            Some(Value::Array(parts)) => {
                for part in parts.iter().take(ITEMS).filter(|part| text(part, "type") == "text") {
                    self.add(text(part, "text"))?;
                }
            }
            _ => {}
        }
        self.draft.add_refusal(text(message, "refusal"))
    }

    fn add(&mut self, piece: &str) -> Result<(), Fault> {
        if self.place == Place::Words {
            return self.draft.add_text(piece);
        }
        self.held.push_str(piece);
        if self.place == Place::Beginning {
            let begins = self.held.trim_start();
            if begins.starts_with(THOUGHT.0) {
                self.place = Place::Thought;
            } else if !THOUGHT.0.starts_with(begins) || self.held.len() > HELD_BYTES {
                return self.release();
            }
        }
        if self.place == Place::Thought {
            if let Some(end) = self.held.find(THOUGHT.1) {
                self.held.drain(..end + THOUGHT.1.len());
                return self.release();
            }
            // Of a thought only as much is held as may be the beginning of its end.
            let keep = self.held.len().saturating_sub(THOUGHT.1.len() - 1);
            let keep = (keep..=self.held.len()).find(|at| self.held.is_char_boundary(*at)).unwrap_or(keep);
            self.held.drain(..keep);
        }
        Ok(())
    }

    fn release(&mut self) -> Result<(), Fault> {
        self.place = Place::Words;
        let held = std::mem::take(&mut self.held);
        self.draft.add_text(&held)
    }

    fn finish(mut self, said: StopCause, usage: Usage) -> Result<ModelReply, Fault> {
        if self.place == Place::Beginning {
            self.release()?;
        }
        Ok(self.draft.finish(said, usage))
    }
}

#[derive(Default)]
pub(super) struct Reader {
    words: Words,
    /// The index that each call was given on the wire, in the order of the calls.
    indices: Vec<Option<u64>>,
    reason: Option<String>,
    usage: Option<Usage>,
}

impl EventReader for Reader {
    fn event(&mut self, data: &[u8]) -> Result<Flow, Fault> {
        if data == b"[DONE]" {
            return Ok(Flow::Done);
        }
        let chunk = parse(data).ok_or_else(|| Fault::malformed("an event is no JSON"))?;
        if let Some(error) = error_of(&chunk) {
            return Err(Fault::vendor(error));
        }
        // A running total: what comes later replaces it.
        self.usage = usage_of(&chunk)?.or(self.usage);
        for choice in
            items(&chunk, "choices").iter().filter(|choice| index(choice, "index").unwrap_or(0) == 0)
        {
            let delta = choice.get("delta").unwrap_or(&Value::Null);
            self.words.take(delta)?;
            for piece in items(delta, "tool_calls") {
                self.call(piece)?;
            }
            if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
                self.reason = Some(reason.to_owned());
            }
            if self.reason.as_deref() == Some("error") {
                return Err(Fault::vendor(error_of(choice).unwrap_or(&Value::Null)));
            }
        }
        Ok(Flow::More)
    }

    /// A stream without its `[DONE]` is complete all the same where it told why it ended and what it used.
    fn finish(self: Box<Self>) -> Result<ModelReply, Fault> {
        let reason = self.reason.ok_or_else(Fault::cut)?;
        let usage = self.usage.ok_or_else(|| Fault::usage("the stream had no usage"))?;
        self.words.finish(stop_cause(&reason), usage)
    }
}

impl Reader {
    /// A piece belongs to the last call of its index, unless it brings another id: some servers give every call the same
    /// index, or none.
    fn call(&mut self, piece: &Value) -> Result<(), Fault> {
        let (at, id) = (index(piece, "index"), text(piece, "id"));
        let function = piece.get("function").unwrap_or(&Value::Null);
        let known = match at {
            Some(_) => self.indices.iter().rposition(|known| *known == at),
            None => self.indices.len().checked_sub(1),
        };
        let known = known.filter(|call| {
            let known = self.words.draft.call_id(*call);
            id.is_empty() || known.is_empty() || known == id
        });
        let draft = &mut self.words.draft;
        let call = match known {
            Some(call) => {
                draft.complete(call, id, text(function, "name"))?;
                call
            }
            None => {
                self.indices.push(at);
                draft.add_call(id, text(function, "name"), Value::Null)?
            }
        };
        match function.get("arguments") {
            Some(Value::String(arguments)) => draft.add_arguments(call, arguments),
            Some(Value::Null) | None => Ok(()),
            Some(value) => draft.add_arguments(call, &value.to_string()),
        }
    }
}
