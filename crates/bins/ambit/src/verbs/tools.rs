use ambit_run::tool::{Field, TOOLS};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::cli::ToolsVerb;
use crate::failure::Failure;

pub(crate) fn run(verb: &ToolsVerb) -> Result<Answer, Failure> {
    let ToolsVerb::List = verb;
    let mut text = String::new();
    let mut tools: Vec<Value> = Vec::new();
    for tool in TOOLS {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!(
            "{}\n  {}\n  in   {}\n  out  {}\n  side effect {}, at most {} ms, {} bytes inline\n",
            tool.name,
            tool.summary,
            fields(tool.input),
            fields(tool.output),
            tool.side_effect(),
            tool.timeout_ms,
            tool.inline_bytes
        ));
        tools.push(json!({
            "name": tool.name,
            "summary": tool.summary,
            "input": tool.input_schema(),
            "output": tool.output_schema(),
            "sideEffect": tool.side_effect(),
            "timeoutMs": tool.timeout_ms,
            "inlineBytes": tool.inline_bytes,
        }));
    }
    Ok(Answer::new(text, Value::Array(tools)).prose())
}

fn fields(fields: &[Field]) -> String {
    let described: Vec<String> = fields
        .iter()
        .map(|field| {
            format!("{}{}: {}", field.name, if field.required { "" } else { "?" }, field.kind.as_str())
        })
        .collect();
    described.join("\n       ")
}
