//! The tools as a model is told of them. What the platform knows by itself is not asked of a model.

use serde_json::{Map, Value, json};

use crate::dialogue::ToolSpec;
use crate::prompts;
use crate::turn_context::{Tool, TurnContext};

/// The tool by which a plan is proposed. It is no tool of the platform: a plan is an answer of its own kind.
pub(crate) const PROPOSE_PLAN: &str = "propose_plan";
/// The tools with a side effect that this crate knows by name.
pub(crate) const APPLY_PATCH: &str = "apply_project_patch";
pub(crate) const RUN_GATE: &str = "run_named_gate";
pub(crate) const ASK_APPROVAL: &str = "request_scoped_approval";
/// The tools that only look.
const READS: [&str; 3] = ["read_project_file", "list_project_files", "search_project_text"];
/// The members of inputs that the platform knows.
pub(crate) const FILLED: [&str; 4] = ["projectId", "revisionId", "expectedBaseSha", "idempotencyKey"];
/// The most bytes of names that a schema lists. Where there are more, the state of the run lists them.
const LISTED_BYTES: usize = 1024;

/// Whether a tool only looks at the project.
pub(crate) fn is_read(name: &str) -> bool {
    READS.contains(&name)
}

/// What a model may call now: until a plan is accepted, only what looks and the plan itself.
pub(crate) fn offered(context: &TurnContext) -> Vec<ToolSpec> {
    let is_offered = |tool: &&Tool| match tool.name.as_str() {
        name if is_read(name) => true,
        ASK_APPROVAL => context.plan.is_some() && !context.held.is_empty(),
        _ => context.plan.is_some(),
    };
    let mut specs = vec![plan_spec(context)];
    specs.extend(context.tools.iter().filter(is_offered).map(|tool| spec(tool, context)));
    specs
}

fn described(summary: &str, name: &str) -> String {
    format!("{summary} {}", prompts::of_tool(name)).trim().to_owned()
}

fn plan_spec(context: &TurnContext) -> ToolSpec {
    let cases = context.acceptance_cases.iter().map(|case| case.id.as_str());
    let work = context.scope.work.iter().map(String::as_str);
    let step = object(
        [
            ("id", json!({"type": "string", "description": "Short and unique, such as s1."})),
            ("summary", json!({"type": "string", "description": "What is done, in a sentence."})),
            ("work", one_of(work)),
            ("cases", json!({"type": "array", "minItems": 1, "items": one_of(cases)})),
        ],
        &["id", "summary", "work", "cases"],
    );
    ToolSpec {
        name: PROPOSE_PLAN.to_owned(),
        description: described("", PROPOSE_PLAN),
        schema: object([("steps", json!({"type": "array", "minItems": 1, "items": step}))], &["steps"]),
    }
}

fn spec(tool: &Tool, context: &TurnContext) -> ToolSpec {
    let mut properties = match tool.input.get("properties") {
        Some(Value::Object(properties)) => properties.clone(),
        _ => Map::new(),
    };
    let mut required: Vec<String> = match tool.input.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    properties.retain(|name, _| !FILLED.contains(&name.as_str()));
    required.retain(|name| !FILLED.contains(&name.as_str()));
    let mut must = |name: &str, schema: Value| {
        properties.insert(name.to_owned(), schema);
        if !required.iter().any(|known| known == name) {
            required.push(name.to_owned());
        }
    };
    match tool.name.as_str() {
        APPLY_PATCH => {
            let steps = context.plan.iter().flatten().map(|step| step.id.as_str());
            must("step", one_of(steps));
            if let Some(failed) = &context.must_explain {
                let told = format!("The cause that you suppose of the failure of {}.", failed.gate);
                must("hypothesis", json!({"type": "string", "minLength": 1, "description": told}));
            }
        }
        RUN_GATE => must("gateId", one_of(context.gates.iter().map(|gate| gate.id.as_str()))),
        ASK_APPROVAL => {
            must("proposalId", one_of(context.held.iter().map(|held| held.proposal_id.as_str())));
            let mut capabilities: Vec<&str> =
                context.held.iter().map(|held| held.capability.as_str()).collect();
            capabilities.sort_unstable();
            capabilities.dedup();
            must("capability", one_of(capabilities.into_iter()));
        }
        name if is_read(name) => {
            let told =
                "The tree as it is now, or the one that the run started from. Left out, it is current.";
            let revision = json!({"type": "string", "enum": ["current", "base"], "description": told});
            properties.insert("revision".to_owned(), revision);
        }
        _ => {}
    }
    ToolSpec {
        name: tool.name.clone(),
        description: described(&tool.summary, &tool.name),
        schema: json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }),
    }
}

fn object<const N: usize>(properties: [(&str, Value); N], required: &[&str]) -> Value {
    let properties: Map<String, Value> =
        properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// A text that is one of these names, where they are few enough to list.
fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> Value {
    let names: Vec<&str> = names.collect();
    let bytes: usize = names.iter().map(|name| name.len()).sum();
    if names.is_empty() || bytes > LISTED_BYTES {
        return json!({"type": "string"});
    }
    json!({"type": "string", "enum": names})
}
