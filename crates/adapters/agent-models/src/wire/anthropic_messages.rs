use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::dialogue::{Message, ModelReply, ModelRequest, StopCause, ToolResult, Usage};
use crate::limits::ITEMS;
use crate::wire::draft::Draft;
use crate::wire::fault::{Fault, error_of};
use crate::wire::json::{index, items, parse, sent_arguments, sent_name, text, tokens};
use crate::wire::sse::Flow;
use crate::wire::{EventReader, Manner};

pub(super) fn encode(manner: &Manner, request: &ModelRequest) -> Value {
    let mut body = json!({
        "model": manner.model,
        "max_tokens": request.max_output_tokens,
        "stream": manner.stream,
        "messages": request.messages.iter().filter_map(message).collect::<Vec<_>>(),
    });
    // The mark covers what stands before it as well: the tools.
    if !request.system.is_empty() {
        let mark = json!({"type": "ephemeral"});
        body["system"] = json!([{"type": "text", "text": request.system, "cache_control": mark}]);
    }
    if !request.tools.is_empty() {
        let tool = |tool: &crate::dialogue::ToolSpec| json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema});
        body["tools"] = request.tools.iter().map(tool).collect();
        body["tool_choice"] = json!({"type": "auto", "disable_parallel_tool_use": true});
    }
    body
}

fn message(message: &Message) -> Option<Value> {
    let (role, content) = match message {
        Message::User(text) => ("user", json!(text)),
        Message::Assistant { text, calls } => {
            let words = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
            let calls = calls.iter().map(|call| {
                json!({"type": "tool_use", "id": call.id, "name": sent_name(call), "input": sent_arguments(call)})
            });
            ("assistant", words.into_iter().chain(calls).collect())
        }
        Message::ToolResults(results) => ("user", results.iter().map(result).collect()),
    };
    let empty = content.as_array().is_some_and(Vec::is_empty);
    (!empty).then(|| json!({"role": role, "content": content}))
}

fn result(result: &ToolResult) -> Value {
    json!({
        "type": "tool_result",
        "tool_use_id": result.call,
        "content": result.content,
        "is_error": result.is_error,
    })
}

/// Counts that a later event replaces, each for itself: they are running totals.
#[derive(Default)]
struct Counts {
    input: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
}

impl Counts {
    fn replace(&mut self, usage: Option<&Value>) -> Result<(), Fault> {
        let Some(usage) = usage else { return Ok(()) };
        let details = usage.get("output_tokens_details").unwrap_or(&Value::Null);
        for (count, group, name) in [
            (&mut self.input, usage, "input_tokens"),
            (&mut self.cache_read, usage, "cache_read_input_tokens"),
            (&mut self.cache_write, usage, "cache_creation_input_tokens"),
            (&mut self.output, usage, "output_tokens"),
            (&mut self.reasoning, details, "thinking_tokens"),
        ] {
            *count = tokens(group, name)?.or(*count);
        }
        Ok(())
    }

    fn usage(&self) -> Result<Usage, Fault> {
        Ok(Usage {
            input_tokens: self.input.ok_or_else(|| Fault::usage("the input is not counted"))?,
            cache_read_tokens: self.cache_read.unwrap_or_default(),
            cache_write_tokens: self.cache_write.unwrap_or_default(),
            output_tokens: self.output.ok_or_else(|| Fault::usage("the output is not counted"))?,
            reasoning_tokens: self.reasoning.unwrap_or_default(),
        })
    }
}

fn stop_cause(reason: &str) -> StopCause {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => StopCause::Length,
        "refusal" => StopCause::Refused,
        "tool_use" => StopCause::Calls,
        _ => StopCause::Done,
    }
}

pub(super) fn whole(body: &Value) -> Result<ModelReply, Fault> {
    let mut counts = Counts::default();
    counts.replace(body.get("usage"))?;
    let usage = counts.usage()?;
    if !body.get("content").is_some_and(Value::is_array) {
        return Err(Fault::unreadable("it has no content").settled(Some(usage)));
    }
    let mut draft = Draft::default();
    let blocks = items(body, "content");
    if blocks.len() > ITEMS {
        return Err(Fault::too_large("it has too many blocks").settled(Some(usage)));
    }
    for block in blocks {
        begin(&mut draft, block).map_err(|fault| fault.settled(Some(usage)))?;
    }
    Ok(draft.finish(stop_cause(text(body, "stop_reason")), usage))
}

/// What a block is, once it has begun.
#[derive(Clone, Copy)]
enum Block {
    Text,
    Call(usize),
    /// Thinking, or a kind that is not known: nothing of it is kept.
    Dropped,
}

fn begin(draft: &mut Draft, block: &Value) -> Result<Block, Fault> {
    match text(block, "type") {
        "text" => draft.add_text(text(block, "text")).map(|()| Block::Text),
        "tool_use" => {
            let given = block.get("input").cloned().unwrap_or_default();
            draft.add_call(text(block, "id"), text(block, "name"), given).map(Block::Call)
        }
        _ => Ok(Block::Dropped),
    }
}

#[derive(Default)]
pub(super) struct Reader {
    draft: Draft,
    counts: Counts,
    /// Blocks by their index; `None` once they have ended.
    blocks: BTreeMap<u64, Option<Block>>,
    reason: String,
    started: bool,
    complete: bool,
}

impl EventReader for Reader {
    fn event(&mut self, data: &[u8]) -> Result<Flow, Fault> {
        let event = parse(data).ok_or_else(|| Fault::malformed("an event is no JSON"))?;
        match text(&event, "type") {
            "message_start" if self.started => return Err(Fault::malformed("it starts twice")),
            "message_start" => {
                self.started = true;
                self.counts.replace(event.get("message").and_then(|message| message.get("usage")))?;
                // The first count of output is of what was written before the stream began.
                self.counts.output = None;
            }
            "content_block_start" => self.block_start(&event)?,
            "content_block_delta" => self.block_delta(&event)?,
            "content_block_stop" => {
                let open = self.open(&event)?;
                *open = None;
            }
            "message_delta" => {
                self.counts.replace(event.get("usage"))?;
                let delta = event.get("delta").unwrap_or(&Value::Null);
                if let Some(reason) = delta.get("stop_reason").and_then(Value::as_str) {
                    reason.clone_into(&mut self.reason);
                }
            }
            "message_stop" => {
                self.complete = true;
                return Ok(Flow::Done);
            }
            "error" => return Err(Fault::vendor(error_of(&event).unwrap_or(&Value::Null))),
            _ => {}
        }
        Ok(Flow::More)
    }

    fn finish(self: Box<Self>) -> Result<ModelReply, Fault> {
        if !self.complete {
            return Err(Fault::cut());
        }
        let usage = self.counts.usage()?;
        Ok(self.draft.finish(stop_cause(&self.reason), usage))
    }
}

impl Reader {
    fn block_start(&mut self, event: &Value) -> Result<(), Fault> {
        let index = index(event, "index").ok_or_else(|| Fault::malformed("a block has no index"))?;
        if self.blocks.len() == ITEMS {
            return Err(Fault::too_large("it has too many blocks"));
        }
        let block = begin(&mut self.draft, event.get("content_block").unwrap_or(&Value::Null))?;
        match self.blocks.insert(index, Some(block)) {
            None => Ok(()),
            Some(_) => Err(Fault::malformed("two blocks have one index")),
        }
    }

    fn open(&mut self, event: &Value) -> Result<&mut Option<Block>, Fault> {
        let open = index(event, "index").and_then(|index| self.blocks.get_mut(&index));
        open.filter(|block| block.is_some())
            .ok_or_else(|| Fault::malformed("a block goes on that is not open"))
    }

    fn block_delta(&mut self, event: &Value) -> Result<(), Fault> {
        let block = *self.open(event)?;
        let delta = event.get("delta").unwrap_or(&Value::Null);
        match (block, text(delta, "type")) {
            (Some(Block::Text), "text_delta") => self.draft.add_text(text(delta, "text")),
            (Some(Block::Call(call)), "input_json_delta") => match delta.get("partial_json") {
                Some(Value::String(piece)) => self.draft.add_arguments(call, piece),
                Some(Value::Null) | None => Ok(()),
                Some(value) => self.draft.add_arguments(call, &value.to_string()),
            },
            (Some(Block::Text), "input_json_delta") | (Some(Block::Call(_)), "text_delta") => {
                Err(Fault::malformed("a block goes on as another kind"))
            }
            _ => Ok(()),
        }
    }
}
