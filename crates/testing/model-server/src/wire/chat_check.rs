//! Requests of OpenAI Chat Completions, as strictly as the vendor reads them.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::check::{Asked, DeclaredTool, Rejection, array, count, flag, object, string};
use super::openai;

const FIELDS: [&str; 36] = [
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "moderation",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
];
const FUNCTION_FIELDS: [&str; 4] = ["name", "description", "parameters", "strict"];

pub(super) fn check(body: &Value) -> Result<Asked, Rejection> {
    let fields = object(body, "body")?;
    openai::known_fields(fields, &FIELDS)?;
    openai::sampling(fields)?;
    let (old, new) = (count(fields, "max_tokens")?, count(fields, "max_completion_tokens")?);
    if old.is_some() && new.is_some() {
        return Err(Rejection::bad(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
        )
        .coded("invalid_parameter_combination"));
    }
    if count(fields, "n")?.is_some_and(|choices| choices > 1) {
        return Err(Rejection::bad("n: more than one choice is not offered here").about("n"));
    }
    let tools = tools(fields)?;
    let may_call = openai::tool_choice(fields, &tools, |choice| {
        choice.get("function").and_then(|function| function.get("name")).and_then(Value::as_str)
    })?;
    let mut asked = Asked {
        model: string(fields, "model", "")?.to_owned(),
        stream: flag(fields, "stream")?,
        max_output_tokens: new.or(old),
        tools,
        may_call,
        ..Asked::default()
    };
    asked.wants_usage = !asked.stream;
    if let Some(options) = openai::stream_options(fields, &asked)? {
        asked.wants_usage = flag(options, "include_usage")?;
    }
    let Some(messages) = fields.get("messages") else {
        return Err(Rejection::bad("Missing required parameter: 'messages'.")
            .about("messages")
            .coded("missing_required_parameter"));
    };
    let messages = array(messages, "messages")?;
    if messages.is_empty() {
        return Err(Rejection::bad(
            "Invalid 'messages': empty array. Expected an array with minimum length 1.",
        )
        .about("messages")
        .coded("empty_array"));
    }
    let mut so_far = Conversation::default();
    for (index, message) in messages.iter().enumerate() {
        let at = format!("messages[{index}]");
        so_far.take(object(message, &at)?, &at)?;
    }
    so_far.close()?;
    asked.answers = so_far.answers;
    asked.tool_results = so_far.results;
    Ok(asked)
}

fn tools(fields: &Map<String, Value>) -> Result<Vec<DeclaredTool>, Rejection> {
    let Some(tools) = fields.get("tools").filter(|tools| !tools.is_null()) else { return Ok(Vec::new()) };
    let tools = array(tools, "tools")?;
    if tools.is_empty() {
        return Err(Rejection::bad("Invalid 'tools': empty array. Expected an array with minimum length 1.")
            .about("tools")
            .coded("empty_array"));
    }
    let mut declared = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        let at = format!("tools[{index}]");
        let tool = object(tool, &at)?;
        let function = tool.get("function").filter(|_| tool.get("type") == Some(&Value::from("function")));
        let Some(function) = function else {
            return Err(Rejection::bad(format!("Missing required parameter: '{at}.function'."))
                .about(format!("{at}.function"))
                .coded("missing_required_parameter"));
        };
        let at = format!("{at}.function");
        let function = object(function, &at)?;
        if let Some(unknown) = function.keys().find(|name| !FUNCTION_FIELDS.contains(&name.as_str())) {
            return Err(Rejection::bad(format!("Unknown parameter: '{at}.{unknown}'."))
                .about(format!("{at}.{unknown}"))
                .coded("unknown_parameter"));
        }
        declared.push(openai::function(function, &at)?);
    }
    Ok(declared)
}

#[derive(Default)]
struct Conversation {
    answers: usize,
    results: usize,
    /// Calls of the last answer that no tool has answered.
    open: BTreeSet<String>,
}

impl Conversation {
    fn take(&mut self, message: &Map<String, Value>, at: &str) -> Result<(), Rejection> {
        let role = string(message, "role", at)?;
        if role != "tool" {
            self.close()?;
        }
        let content = message.get("content").unwrap_or(&Value::Null);
        let place = format!("{at}.content");
        match role {
            "system" | "developer" => openai::content(content, &["text"], &place),
            "user" => openai::content(content, &["text", "image_url", "input_audio", "file"], &place),
            "assistant" => self.answer(message, content, at),
            "tool" => {
                let id = string(message, "tool_call_id", at)?;
                if !self.open.remove(id) {
                    return Err(Rejection::bad(
                        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with \
                         'tool_calls'.",
                    )
                    .about(format!("{at}.role")));
                }
                self.results += 1;
                openai::content(content, &["text"], &place)
            }
            other => Err(Rejection::bad(format!(
                "Invalid value: '{other}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and \
                 'developer'."
            ))
            .about(format!("{at}.role"))
            .coded("invalid_value")),
        }
    }

    fn answer(&mut self, message: &Map<String, Value>, content: &Value, at: &str) -> Result<(), Rejection> {
        self.answers += 1;
        let calls = message.get("tool_calls").filter(|calls| !calls.is_null());
        let refused = message.get("refusal").is_some_and(Value::is_string);
        if !content.is_null() || (calls.is_none() && !refused) {
            openai::content(content, &["text", "refusal"], &format!("{at}.content"))?;
        }
        let Some(calls) = calls else { return Ok(()) };
        let place = format!("{at}.tool_calls");
        let calls = array(calls, &place)?;
        if calls.is_empty() {
            return Err(Rejection::bad(format!(
                "Invalid '{place}': empty array. Expected an array with minimum length 1."
            ))
            .about(place)
            .coded("empty_array"));
        }
        for (index, call) in calls.iter().enumerate() {
            let at = format!("{place}[{index}]");
            let call = object(call, &at)?;
            let id = string(call, "id", &at)?;
            if string(call, "type", &at)? != "function" {
                return Err(Rejection::bad(format!("Invalid value for '{at}.type'.")).about(at));
            }
            let function = call.get("function").unwrap_or(&Value::Null);
            let function_at = format!("{at}.function");
            openai::repeated_call(object(function, &function_at)?, &function_at)?;
            if !self.open.insert(id.to_owned()) {
                return Err(Rejection::bad(format!("{at}.id: another call has this id")).about(at));
            }
        }
        Ok(())
    }

    fn close(&self) -> Result<(), Rejection> {
        if self.open.is_empty() {
            return Ok(());
        }
        let ids: Vec<_> = self.open.iter().map(String::as_str).collect();
        Err(Rejection::bad(format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
             'tool_call_id'. The following tool_call_ids did not have response messages: {}",
            ids.join(", ")
        ))
        .about("messages"))
    }
}
