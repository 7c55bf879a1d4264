//! Requests of OpenAI Responses, as strictly as the vendor reads them.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::check::{Asked, DeclaredTool, Rejection, array, count, flag, object, string};
use super::openai;

const FIELDS: [&str; 31] = [
    "background",
    "client_metadata",
    "context_management",
    "conversation",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "moderation",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
];
const TOOL_FIELDS: [&str; 5] = ["type", "name", "description", "parameters", "strict"];
/// Fewer output tokens than this can not be asked for.
const LEAST_OUTPUT_TOKENS: u64 = 16;

pub(super) fn check(body: &Value) -> Result<Asked, Rejection> {
    let fields = object(body, "body")?;
    openai::known_fields(fields, &FIELDS)?;
    openai::sampling(fields)?;
    let max_output_tokens = count(fields, "max_output_tokens")?;
    if max_output_tokens.is_some_and(|most| most < LEAST_OUTPUT_TOKENS) {
        return Err(Rejection::bad(
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.",
        )
        .about("max_output_tokens")
        .coded("integer_below_min_value"));
    }
    if fields.get("previous_response_id").is_some_and(|id| !id.is_null()) {
        return Err(Rejection::bad("Previous response not found: nothing is kept between requests here.")
            .about("previous_response_id")
            .coded("previous_response_not_found"));
    }
    let tools = tools(fields)?;
    let may_call = openai::tool_choice(fields, &tools, |choice| choice.get("name").and_then(Value::as_str))?;
    let mut asked = Asked {
        model: string(fields, "model", "")?.to_owned(),
        stream: flag(fields, "stream")?,
        wants_usage: true,
        max_output_tokens,
        tools,
        may_call,
        ..Asked::default()
    };
    openai::stream_options(fields, &asked)?;
    match fields.get("input") {
        Some(Value::String(_)) => {}
        Some(input) => {
            let mut items = Items::default();
            for (index, item) in array(input, "input")?.iter().enumerate() {
                let at = format!("input[{index}]");
                items.take(object(item, &at)?, &at)?;
            }
            items.close()?;
            asked.answers = items.answers;
            asked.tool_results = items.answered.len();
        }
        None => {
            return Err(Rejection::bad("Missing required parameter: 'input'.")
                .about("input")
                .coded("missing_required_parameter"));
        }
    }
    Ok(asked)
}

fn tools(fields: &Map<String, Value>) -> Result<Vec<DeclaredTool>, Rejection> {
    let Some(tools) = fields.get("tools").filter(|tools| !tools.is_null()) else { return Ok(Vec::new()) };
    let mut declared = Vec::new();
    for (index, tool) in array(tools, "tools")?.iter().enumerate() {
        let at = format!("tools[{index}]");
        let tool = object(tool, &at)?;
        match string(tool, "type", &at)? {
            "function" => {}
            other => {
                return Err(Rejection::bad(format!(
                    "{at}.type: only functions are known here, not '{other}'"
                ))
                .about(format!("{at}.type")));
            }
        }
        if let Some(unknown) = tool.keys().find(|name| !TOOL_FIELDS.contains(&name.as_str())) {
            return Err(Rejection::bad(format!("Unknown parameter: '{at}.{unknown}'."))
                .about(format!("{at}.{unknown}"))
                .coded("unknown_parameter"));
        }
        declared.push(openai::function(tool, &at)?);
    }
    Ok(declared)
}

#[derive(Default)]
struct Items {
    answers: usize,
    /// Whether the last item was the model's.
    answering: bool,
    /// Whether the last item was reasoning, which belongs to what follows it.
    after_reasoning: bool,
    called: BTreeSet<String>,
    answered: BTreeSet<String>,
}

impl Items {
    fn take(&mut self, item: &Map<String, Value>, at: &str) -> Result<(), Rejection> {
        let kind = match item.get("type") {
            None => "message",
            Some(_) => string(item, "type", at)?,
        };
        let mut by_model = true;
        match kind {
            "message" => by_model = message(item, at)?,
            "reasoning" => {
                string(item, "id", at)?;
                let summary = item.get("summary").ok_or_else(|| {
                    Rejection::bad(format!("Missing required parameter: '{at}.summary'."))
                        .about(format!("{at}.summary"))
                        .coded("missing_required_parameter")
                })?;
                array(summary, &format!("{at}.summary"))?;
            }
            "function_call" => {
                openai::repeated_call(item, at)?;
                if !self.called.insert(string(item, "call_id", at)?.to_owned()) {
                    return Err(
                        Rejection::bad(format!("{at}.call_id: a call of this id came before")).about(at)
                    );
                }
            }
            "function_call_output" => {
                by_model = false;
                self.output(item, at)?;
            }
            other => {
                return Err(Rejection::bad(format!("Invalid value: '{other}'."))
                    .about(format!("{at}.type"))
                    .coded("invalid_value"));
            }
        }
        if self.after_reasoning && !by_model {
            return Err(lonely_reasoning());
        }
        self.after_reasoning = kind == "reasoning";
        self.answers += usize::from(by_model && !self.answering);
        self.answering = by_model;
        Ok(())
    }

    fn output(&mut self, item: &Map<String, Value>, at: &str) -> Result<(), Rejection> {
        let call = string(item, "call_id", at)?;
        if !self.called.contains(call) {
            return Err(Rejection::bad(format!(
                "No tool call found for function call output with call_id {call}."
            ))
            .about("input"));
        }
        if !self.answered.insert(call.to_owned()) {
            return Err(
                Rejection::bad(format!("{at}: the call {call} has its output already")).about("input")
            );
        }
        let output = item.get("output").ok_or_else(|| {
            Rejection::bad(format!("Missing required parameter: '{at}.output'."))
                .about(format!("{at}.output"))
                .coded("missing_required_parameter")
        })?;
        openai::content(output, &["input_text", "input_image", "input_file"], &format!("{at}.output"))
    }

    fn close(&self) -> Result<(), Rejection> {
        if self.after_reasoning {
            return Err(lonely_reasoning());
        }
        match self.called.difference(&self.answered).next() {
            Some(call) => {
                Err(Rejection::bad(format!("No tool output found for function call {call}.")).about("input"))
            }
            None => Ok(()),
        }
    }
}

fn lonely_reasoning() -> Rejection {
    Rejection::bad("An item of type 'reasoning' was provided without its required following item.")
        .about("input")
}

/// Whether it is the model's.
fn message(item: &Map<String, Value>, at: &str) -> Result<bool, Rejection> {
    let role = string(item, "role", at)?;
    let kinds: &[&str] = match role {
        "assistant" => &["output_text", "refusal"],
        "user" | "system" | "developer" => &["input_text", "input_image", "input_file"],
        other => {
            return Err(Rejection::bad(format!(
                "Invalid value: '{other}'. Supported values are: 'assistant', 'system', 'developer', and 'user'."
            ))
            .about(format!("{at}.role"))
            .coded("invalid_value"));
        }
    };
    let content = item.get("content").unwrap_or(&Value::Null);
    openai::content(content, kinds, &format!("{at}.content"))?;
    Ok(role == "assistant")
}
