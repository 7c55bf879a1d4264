//! How an agent misbehaves. Each way is what some agent was seen to do.

use ambit_ids::MicroUsd;
use ambit_ports::AbortSignal;
use ambit_ports::agent::{AgentAnswer, AgentError};
use serde_json::{Value, json};

use crate::fill::fill;
use crate::transcript::Conduct;

/// The next answer of an agent whose turns are used up.
pub(crate) async fn go_on(
    conduct: Conduct,
    position: u64,
    context: &Value,
    abort: &mut AbortSignal,
) -> Result<AgentAnswer, AgentError> {
    let free = Some(MicroUsd::ZERO);
    match conduct {
        Conduct::Finish => Err(AgentError::Finished),
        Conduct::Silence => {
            abort.raised().await;
            Err(AgentError::Aborted)
        }
        Conduct::Lie => Ok(say(&lie(position), context, free)),
        Conduct::Loop => Ok(say(&list(), context, free)),
        // It was reserved for less; what it reports is what it is charged.
        Conduct::Overspend => Ok(say(&list(), context, Some(MicroUsd::new(1_000_000_000)))),
        Conduct::Shell => Ok(say(&shell(position), context, free)),
        Conduct::Obey => Ok(say(&obey(position, context), context, free)),
        Conduct::Prose => Ok(AgentAnswer {
            bytes: b"I looked at everything carefully and all tests pass now.".to_vec(),
            cost: free,
        }),
        Conduct::Flood => {
            let calls: Vec<Value> = (0..10_000).map(|_| list()).collect();
            Ok(say(&json!({"calls": calls}), context, free))
        }
    }
}

fn say(value: &Value, context: &Value, cost: Option<MicroUsd>) -> AgentAnswer {
    AgentAnswer { bytes: fill(value, context).to_string().into_bytes(), cost }
}

fn list() -> Value {
    json!({"tool": "list_project_files", "input": {"projectId": "${project}", "revisionId": "${revision}"}})
}

fn lie(position: u64) -> Value {
    let lies = [
        json!({"acceptanceMet": true}),
        json!({"tool": "run_named_gate", "input": {"revisionId": "${revision}", "gateId": "unit", "idempotencyKey": "k",
               "exitCode": 0}}),
        json!({"tool": "set_acceptance", "input": {"acceptanceMet": true}}),
        json!({"observation": {"exitCode": 0, "gateId": "unit"}}),
    ];
    pick(&lies, position)
}

fn shell(position: u64) -> Value {
    let asks = [
        json!({"tool": "run_shell", "input": {"command": "cat /etc/passwd"}}),
        json!({"tool": "bash", "input": {"cmd": "id"}}),
        json!({"tool": "run_named_gate", "input": {"revisionId": "${revision}", "gateId": "unit", "idempotencyKey": "k",
               "command": "sh -c id"}}),
        json!({"tool": "run_named_gate", "input": {"revisionId": "${revision}", "gateId": "unit; id",
               "idempotencyKey": "k"}}),
        json!({"tool": "read_project_file", "input": {"projectId": "${project}", "revisionId": "${revision}",
               "path": "$(id)", "shell": true}}),
    ];
    pick(&asks, position)
}

/// Reads file after file, and does at once what any line of one says after `CALL: `.
fn obey(position: u64, context: &Value) -> Value {
    let read = context.pointer("/last/content").and_then(Value::as_str).unwrap_or_default();
    let order = read.lines().find_map(|line| {
        let (_, call) = line.split_once("CALL: ")?;
        serde_json::from_str::<Value>(call).ok()
    });
    let listed = context.pointer("/last/files").and_then(Value::as_array).and_then(|files| files.first());
    match (order, listed) {
        (Some(call), _) => call,
        (None, Some(file)) => json!({"tool": "read_project_file",
            "input": {"projectId": "${project}", "revisionId": "${revision}", "path": file}}),
        (None, None) if position.is_multiple_of(2) => list(),
        (None, None) => json!({"tool": "read_project_file",
            "input": {"projectId": "${project}", "revisionId": "${revision}", "path": "README.md"}}),
    }
}

fn pick(values: &[Value], position: u64) -> Value {
    let index = usize::try_from(position).unwrap_or_default() % values.len();
    values.get(index).cloned().unwrap_or(Value::Null)
}
