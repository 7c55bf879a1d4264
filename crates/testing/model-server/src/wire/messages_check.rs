//! Requests of Anthropic Messages, as strictly as the vendor reads them. Messages of one role that follow each other are
//! one message, as they are to the vendor.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::check::{
    Asked, DeclaredTool, Headers, MayCall, Rejection, array, count, flag, header, is_tool_name, object,
    string, within,
};

const FIELDS: [&str; 22] = [
    "cache_control",
    "container",
    "context_management",
    "diagnostics",
    "inference_geo",
    "max_tokens",
    "mcp_servers",
    "messages",
    "metadata",
    "model",
    "output_config",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];
const TOOL_FIELDS: [&str; 10] = [
    "allowed_callers",
    "cache_control",
    "defer_loading",
    "description",
    "eager_input_streaming",
    "input_examples",
    "input_schema",
    "name",
    "strict",
    "type",
];
/// Longer names of tools are not taken.
const TOOL_NAME_BYTES: usize = 128;
/// A budget for thinking below this is not taken.
const LEAST_THINKING_TOKENS: u64 = 1024;

/// The versions of the interface that are known.
const VERSIONS: [&str; 3] = ["2023-01-01", "2023-06-01", "2026-10-21"];

/// A key comes in the vendor's own header, or as a bearer, as the vendor's newer clients send it.
pub(super) fn headers(headers: &Headers, key: Option<&str>) -> Result<(), Rejection> {
    let bearer = header(headers, "authorization").and_then(|value| value.strip_prefix("Bearer "));
    let given = header(headers, "x-api-key").or(bearer).filter(|given| !given.is_empty());
    let Some(given) = given else { return Err(Rejection::new(401, "x-api-key header is required")) };
    if key.is_some_and(|key| key != given) {
        return Err(Rejection::new(401, "invalid x-api-key"));
    }
    match header(headers, "anthropic-version") {
        None => Err(Rejection::bad("anthropic-version: header is required")),
        Some(version) if VERSIONS.contains(&version) => Ok(()),
        Some(other) => Err(Rejection::bad(format!("anthropic-version: \"{other}\" is not a valid version"))),
    }
}

pub(super) fn check(body: &Value) -> Result<Asked, Rejection> {
    let fields = object(body, "body")?;
    if let Some(unknown) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Err(Rejection::bad(format!("{unknown}: Extra inputs are not permitted")));
    }
    let model = string(fields, "model", "")?.to_owned();
    let Some(max_tokens) = count(fields, "max_tokens")? else {
        return Err(Rejection::bad("max_tokens: Field required"));
    };
    within(fields, "temperature", 0.0, 1.0)?;
    within(fields, "top_p", 0.0, 1.0)?;
    let tools = tools(fields)?;
    let may_call = tool_choice(fields, &tools)?;
    thinking(fields, max_tokens)?;
    if let Some(system) = fields.get("system").filter(|system| !system.is_string()) {
        for (index, block) in array(system, "system")?.iter().enumerate() {
            let at = format!("system.{index}");
            text_block(object(block, &at)?, &at)?;
        }
    }
    let Some(messages) = fields.get("messages") else {
        return Err(Rejection::bad("messages: Field required"));
    };
    let conversation = conversation(array(messages, "messages")?)?;
    Ok(Asked {
        model,
        stream: flag(fields, "stream")?,
        wants_usage: true,
        max_output_tokens: Some(max_tokens),
        tools,
        answers: conversation.answers,
        tool_results: conversation.results,
        may_call,
    })
}

fn tools(fields: &Map<String, Value>) -> Result<Vec<DeclaredTool>, Rejection> {
    let Some(tools) = fields.get("tools") else { return Ok(Vec::new()) };
    let mut declared: Vec<DeclaredTool> = Vec::new();
    for (index, tool) in array(tools, "tools")?.iter().enumerate() {
        let at = format!("tools.{index}.custom");
        let tool = object(tool, &at)?;
        if let Some(unknown) = tool.keys().find(|name| !TOOL_FIELDS.contains(&name.as_str())) {
            return Err(Rejection::bad(format!("{at}.{unknown}: Extra inputs are not permitted")));
        }
        if tool.get("type").is_some_and(|kind| kind != "custom" && !kind.is_null()) {
            return Err(Rejection::bad(format!(
                "tools.{index}: only tools of the type `custom` are known here"
            )));
        }
        let name = string(tool, "name", &at)?;
        if !is_tool_name(name, TOOL_NAME_BYTES) {
            return Err(Rejection::bad(format!(
                "{at}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            )));
        }
        if declared.iter().any(|known| known.name == name) {
            return Err(Rejection::bad("tools: Tool names must be unique."));
        }
        let Some(schema) = tool.get("input_schema") else {
            return Err(Rejection::bad(format!("{at}.input_schema: Field required")));
        };
        if object(schema, &format!("{at}.input_schema"))?.get("type") != Some(&Value::from("object")) {
            return Err(Rejection::bad(format!("{at}.input_schema.type: Input should be 'object'")));
        }
        declared.push(DeclaredTool { name: name.to_owned(), schema: schema.clone() });
    }
    Ok(declared)
}

fn tool_choice(fields: &Map<String, Value>, tools: &[DeclaredTool]) -> Result<MayCall, Rejection> {
    let Some(choice) = fields.get("tool_choice") else { return Ok(MayCall::Any) };
    if tools.is_empty() {
        return Err(Rejection::bad("tool_choice: tool_choice may only be specified while providing tools."));
    }
    let choice = object(choice, "tool_choice")?;
    match string(choice, "type", "tool_choice")? {
        "auto" => Ok(MayCall::Any),
        "none" => Ok(MayCall::None),
        "any" => Ok(MayCall::Must),
        "tool" => {
            let name = string(choice, "name", "tool_choice")?;
            if tools.iter().any(|tool| tool.name == name) {
                Ok(MayCall::Named(name.to_owned()))
            } else {
                Err(Rejection::bad(format!("tool_choice: Tool '{name}' not found in provided tools")))
            }
        }
        other => {
            Err(Rejection::bad(format!("tool_choice: Input tag '{other}' does not match any of the tags")))
        }
    }
}

fn thinking(fields: &Map<String, Value>, max_tokens: u64) -> Result<(), Rejection> {
    let Some(thinking) = fields.get("thinking") else { return Ok(()) };
    let thinking = object(thinking, "thinking")?;
    match string(thinking, "type", "thinking")? {
        "disabled" | "adaptive" | "between_tools" => Ok(()),
        "enabled" => match count(thinking, "budget_tokens")? {
            Some(budget) if budget < LEAST_THINKING_TOKENS => Err(Rejection::bad(
                "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
            )),
            Some(budget) if budget >= max_tokens => {
                Err(Rejection::bad("`max_tokens` must be greater than `thinking.budget_tokens`"))
            }
            Some(_) => Ok(()),
            None => Err(Rejection::bad("thinking.enabled.budget_tokens: Field required")),
        },
        other => Err(Rejection::bad(format!("thinking: Input tag '{other}' does not match any of the tags"))),
    }
}

/// What was seen of a conversation so far.
#[derive(Default)]
struct Conversation {
    answers: usize,
    results: usize,
    last_role: String,
    /// Calls of the last answer that have no result yet.
    open: BTreeSet<String>,
    all_ids: BTreeSet<String>,
    /// Whether other content came in the message that must bring the results.
    past_results: bool,
}

fn conversation(messages: &[Value]) -> Result<Conversation, Rejection> {
    if messages.is_empty() {
        return Err(Rejection::bad("messages: at least one message is required"));
    }
    let mut so_far = Conversation::default();
    for (index, message) in messages.iter().enumerate() {
        let at = format!("messages.{index}");
        let message = object(message, &at)?;
        if let Some(unknown) = message.keys().find(|name| *name != "role" && *name != "content") {
            return Err(Rejection::bad(format!("{at}.{unknown}: Extra inputs are not permitted")));
        }
        let role = string(message, "role", &at)?;
        if !["user", "assistant", "system"].contains(&role) {
            return Err(Rejection::bad(format!("{at}.role: Input should be 'user' or 'assistant'")));
        }
        if index == 0 && role != "user" {
            return Err(Rejection::bad("messages: first message must use the \"user\" role"));
        }
        so_far.begin(role, &at)?;
        let last = index + 1 == messages.len();
        match message.get("content") {
            Some(Value::String(text)) if !text.is_empty() => so_far.plain(role),
            Some(Value::Array(blocks)) if !blocks.is_empty() => {
                for (place, block) in blocks.iter().enumerate() {
                    let at = format!("{at}.content.{place}");
                    so_far.block(object(block, &at)?, role, &at)?;
                }
            }
            Some(Value::String(_) | Value::Array(_)) if last && role == "assistant" => {}
            Some(Value::String(_) | Value::Array(_)) => {
                return Err(Rejection::bad(format!(
                    "{at}: all messages must have non-empty content except for the optional final assistant message"
                )));
            }
            Some(_) => return Err(Rejection::bad(format!("{at}.content: Input should be a valid list"))),
            None => return Err(Rejection::bad(format!("{at}.content: Field required"))),
        }
    }
    so_far.close("the end")?;
    Ok(so_far)
}

impl Conversation {
    fn begin(&mut self, role: &str, at: &str) -> Result<(), Rejection> {
        if role != self.last_role {
            if role != "user" {
                self.close(at)?;
            }
            self.past_results = false;
            self.answers += usize::from(role == "assistant");
            role.clone_into(&mut self.last_role);
        }
        Ok(())
    }

    fn close(&self, at: &str) -> Result<(), Rejection> {
        if self.open.is_empty() {
            return Ok(());
        }
        let ids: Vec<_> = self.open.iter().map(String::as_str).collect();
        Err(Rejection::bad(format!(
            "{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block \
             must have a corresponding `tool_result` block in the next message.",
            ids.join(", ")
        )))
    }

    fn plain(&mut self, role: &str) {
        if role == "user" {
            self.past_results = true;
        }
    }

    fn block(&mut self, block: &Map<String, Value>, role: &str, at: &str) -> Result<(), Rejection> {
        match (string(block, "type", at)?, role) {
            ("text", _) => {
                self.plain(role);
                text_block(block, at)
            }
            ("image" | "document" | "search_result", "user") => {
                self.plain(role);
                Ok(())
            }
            ("thinking", "assistant") => {
                string(block, "thinking", at)?;
                string(block, "signature", at).map(|_| ())
            }
            ("redacted_thinking", "assistant") => string(block, "data", at).map(|_| ()),
            ("tool_use", "assistant") => self.tool_use(block, at),
            ("tool_result", "user") => self.tool_result(block, at),
            (kind, role) => {
                Err(Rejection::bad(format!("{at}: `{kind}` blocks can not be in `{role}` messages")))
            }
        }
    }

    fn tool_use(&mut self, block: &Map<String, Value>, at: &str) -> Result<(), Rejection> {
        let id = string(block, "id", at)?;
        if !is_tool_name(id, usize::MAX) {
            return Err(Rejection::bad(format!("{at}.id: String should match pattern '^[a-zA-Z0-9_-]+$'")));
        }
        if !self.all_ids.insert(id.to_owned()) {
            return Err(Rejection::bad(format!("{at}: `tool_use` ids must be unique")));
        }
        string(block, "name", at)?;
        match block.get("input") {
            Some(Value::Object(_)) => {}
            _ => return Err(Rejection::bad(format!("{at}.input: Input should be a valid dictionary"))),
        }
        self.open.insert(id.to_owned());
        Ok(())
    }

    fn tool_result(&mut self, block: &Map<String, Value>, at: &str) -> Result<(), Rejection> {
        let id = string(block, "tool_use_id", at)?;
        if !self.open.remove(id) {
            return Err(Rejection::bad(format!(
                "{at}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have \
                 a corresponding `tool_use` block in the previous message."
            )));
        }
        if self.past_results {
            return Err(Rejection::bad(format!("{at}: `tool_result` blocks must come before other content")));
        }
        flag(block, "is_error")?;
        self.results += 1;
        match block.get("content") {
            None | Some(Value::String(_)) => Ok(()),
            Some(content) => {
                for (index, part) in array(content, &format!("{at}.content"))?.iter().enumerate() {
                    let at = format!("{at}.content.{index}");
                    let part = object(part, &at)?;
                    if string(part, "type", &at)? == "text" {
                        text_block(part, &at)?;
                    }
                }
                Ok(())
            }
        }
    }
}

fn text_block(block: &Map<String, Value>, at: &str) -> Result<(), Rejection> {
    if string(block, "text", at)?.is_empty() {
        return Err(Rejection::bad("messages: text content blocks must be non-empty"));
    }
    Ok(())
}
