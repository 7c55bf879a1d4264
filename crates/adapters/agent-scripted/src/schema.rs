use ambit_blueprint::schema::document_schema;
use serde_json::{Value, json};

use crate::transcript::Conduct;

/// The kind of document that a transcript is.
pub const KIND: &str = "AgentTranscript";

/// The JSON Schema (2020-12) of a transcript, for editors.
#[must_use]
pub fn schema() -> Value {
    let dollars = json!({"type": "number", "minimum": 0});
    let turn = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "say": {"description": "A plan, a call, or several calls, exactly as an agent answers them."},
            "patch": {"type": "string", "description": "The file of a patch to the current tree."},
            "step": {"type": "string", "description": "The plan step that the patch cites."},
            "hypothesis": {"type": "string", "description": "The cause that is supposed of the last failure."},
            "gate": {"type": "string", "description": "A gate to run."},
            "key": {"type": "string", "description": "The key of the gate's execution; otherwise one of its own."},
            "text": {"type": "string", "description": "Prose."},
            "silent": {"type": "boolean", "description": "Nothing at all."},
            "reasoning": {"type": "string", "description": "What the agent thinks to itself; it is dropped."},
            "costUsd": dollars,
        },
    });
    let metadata = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {"name": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$", "maxLength": 64}},
        "required": ["name"],
    });
    let spec = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "turnQuoteUsd": dollars,
            "turns": {"type": "array", "items": turn},
            "then": {"enum": Conduct::ALL, "description": "How the agent goes on when its turns are used up."},
        },
        "required": ["turnQuoteUsd", "then"],
    });
    document_schema(KIND, "AgentTranscript: what an agent answers, turn by turn", metadata, spec)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Transcript;

    #[test]
    fn the_schema_takes_what_reading_takes_and_no_other_shape() {
        let page = include_str!("../../../../docs/documents.md");
        let block =
            page.split("```yaml transcript\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let mut value = ambit_blueprint::read_untyped("documents.md", block.as_bytes()).unwrap();
        // Amounts are numbers to an editor; Ambit reads their digits.
        value["spec"]["turnQuoteUsd"] = json!(0.05);
        for turn in value["spec"]["turns"].as_array_mut().unwrap() {
            if turn.get("costUsd").is_some() {
                turn["costUsd"] = json!(0.01);
            }
        }
        let validator = jsonschema::draft202012::new(&schema()).unwrap();
        assert!(validator.is_valid(&value), "{:?}", validator.validate(&value));
        let members: Vec<String> = value["spec"]["turns"][0].as_object().unwrap().keys().cloned().collect();
        assert!(!members.is_empty());
        for (place, wrong) in [("/spec/then", json!("improvise")), ("/spec/turns/0", json!({"shell": "ls"}))]
        {
            let mut changed = value.clone();
            *changed.pointer_mut(place).unwrap() = wrong;
            assert!(!validator.is_valid(&changed), "{place}");
            let text = changed.to_string().replace("0.05", "0");
            assert!(
                Transcript::read(Path::new("t.json"), text.as_bytes(), &|_| Some(String::new())).is_err()
            );
        }
    }
}
