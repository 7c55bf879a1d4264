use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::dialogue::{Message, ModelReply, ModelRequest, StopCause, ToolSpec, Usage};
use crate::limits::{ITEMS, KEPT_BYTES};
use crate::wire::draft::Draft;
use crate::wire::fault::{Fault, error_of};
use crate::wire::json::{index, items, parse, sent_arguments, sent_name, text};
use crate::wire::openai_usage::{self, Names};
use crate::wire::sse::Flow;
use crate::wire::{EventReader, Manner};

const NAMES: Names = Names {
    input: "input_tokens",
    input_details: "input_tokens_details",
    output: "output_tokens",
    output_details: "output_tokens_details",
};

pub(super) fn encode(manner: &Manner, request: &ModelRequest) -> Value {
    let mut body = json!({
        "model": manner.model,
        "input": request.messages.iter().flat_map(message).collect::<Vec<_>>(),
        "max_output_tokens": request.max_output_tokens,
        "store": false,
        "stream": manner.stream,
    });
    if !request.system.is_empty() {
        body["instructions"] = json!(request.system);
    }
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
        body["parallel_tool_calls"] = json!(false);
    }
    body
}

/// Not strict in the vendor's sense, under which a schema may have no optional members. Every call is read strictly here.
fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        "strict": false,
    })
}

fn message(message: &Message) -> Vec<Value> {
    match message {
        Message::User(text) => vec![json!({"role": "user", "content": text})],
        Message::Assistant { text, calls } => {
            let words = (!text.is_empty()).then(|| json!({"role": "assistant", "content": text}));
            let calls = calls.iter().map(|call| {
                let arguments = sent_arguments(call).to_string();
                let name = sent_name(call);
                json!({"type": "function_call", "call_id": call.id, "name": name, "arguments": arguments})
            });
            words.into_iter().chain(calls).collect()
        }
        Message::ToolResults(results) => results
            .iter()
            .map(|result| {
                json!({"type": "function_call_output", "call_id": result.call, "output": result.content})
            })
            .collect(),
    }
}

pub(super) fn whole(body: &Value) -> Result<ModelReply, Fault> {
    answer(body, items(body, "output"))
}

/// The usage of an answer, where it is told at all.
pub(super) fn usage_of(body: &Value) -> Result<Usage, Fault> {
    match body.get("usage") {
        Some(usage @ Value::Object(_)) => openai_usage::read(usage, &NAMES),
        _ => Err(Fault::usage("there is no usage")),
    }
}

fn answer(body: &Value, output: &[Value]) -> Result<ModelReply, Fault> {
    let said = match text(body, "status") {
        "completed" => StopCause::Done,
        "incomplete" => match body.pointer("/incomplete_details/reason").and_then(Value::as_str) {
            Some("content_filter") => StopCause::Refused,
            _ => StopCause::Length,
        },
        _ => return Err(Fault::unreadable("it was not completed").settled(usage_of(body).ok())),
    };
    let usage = usage_of(body)?;
    if output.len() > ITEMS {
        return Err(Fault::too_large("it has too many items").settled(Some(usage)));
    }
    let mut draft = Draft::default();
    for item in output {
        take(&mut draft, item).map_err(|fault| fault.settled(Some(usage)))?;
    }
    Ok(draft.finish(said, usage))
}

/// Takes words and calls of an item. Reasoning and kinds that are not known are dropped.
fn take(draft: &mut Draft, item: &Value) -> Result<(), Fault> {
    match text(item, "type") {
        "message" => {
            for part in items(item, "content") {
                match text(part, "type") {
                    "output_text" => draft.add_text(text(part, "text"))?,
                    "refusal" => draft.add_refusal(text(part, "refusal"))?,
                    _ => {}
                }
            }
            Ok(())
        }
        "function_call" => {
            let given = item.get("arguments").cloned().unwrap_or_default();
            draft.add_call(text(item, "call_id"), text(item, "name"), given).map(|_| ())
        }
        _ => Ok(()),
    }
}

/// Reads items where they are done. The pieces before that say nothing more and are only counted.
#[derive(Default)]
pub(super) struct Reader {
    done: BTreeMap<u64, Value>,
    kept_bytes: usize,
    pieces_bytes: usize,
    last: Option<Value>,
}

impl EventReader for Reader {
    fn event(&mut self, data: &[u8]) -> Result<Flow, Fault> {
        // Some imitators end a stream as Chat Completions does.
        if data == b"[DONE]" {
            return Ok(Flow::Done);
        }
        let mut event = parse(data).ok_or_else(|| Fault::malformed("an event is no JSON"))?;
        match text(&event, "type") {
            "response.output_item.done" => self.item(&mut event, data.len())?,
            "response.output_text.delta" | "response.function_call_arguments.delta" => {
                self.pieces_bytes += text(&event, "delta").len();
                if self.pieces_bytes > KEPT_BYTES {
                    return Err(Fault::too_large("its text and its calls together are too large"));
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.last = event.get_mut("response").map(Value::take);
                return Ok(Flow::Done);
            }
            "error" => return Err(Fault::vendor(error_of(&event).unwrap_or(&event))),
            _ => {}
        }
        Ok(Flow::More)
    }

    fn finish(self: Box<Self>) -> Result<ModelReply, Fault> {
        let last = self.last.ok_or_else(Fault::cut)?;
        if let Some(error) = error_of(&last) {
            return Err(Fault::vendor(error).settled(usage_of(&last).ok()));
        }
        let told = items(&last, "output");
        if told.is_empty() {
            let done: Vec<Value> = self.done.into_values().collect();
            return answer(&last, &done);
        }
        answer(&last, told)
    }
}

impl Reader {
    fn item(&mut self, event: &mut Value, bytes: usize) -> Result<(), Fault> {
        let index = index(event, "output_index").ok_or_else(|| Fault::malformed("an item has no index"))?;
        let item = event.get_mut("item").map(Value::take).unwrap_or_default();
        let kept = matches!(text(&item, "type"), "message" | "function_call");
        self.kept_bytes += if kept { bytes } else { 0 };
        if self.done.len() == ITEMS || self.kept_bytes > 2 * KEPT_BYTES {
            return Err(Fault::too_large("it has too many items"));
        }
        match self.done.insert(index, if kept { item } else { Value::Null }) {
            None => Ok(()),
            Some(_) => Err(Fault::malformed("two items have one index")),
        }
    }
}
