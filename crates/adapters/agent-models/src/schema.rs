use ambit_blueprint::schema::document_schema;
use serde_json::{Value, json};

use crate::wire::{OutputLimitName, Wire};

/// The kind of document that says which model answers.
pub const KIND: &str = "ModelAgent";

/// The JSON Schema (2020-12) of a [`ModelAgentDocument`](crate::ModelAgentDocument), for editors.
#[must_use]
pub fn schema() -> Value {
    let metadata = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {"name": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$", "maxLength": 64}},
        "required": ["name"],
    });
    let whole = |least: u64, most: u64, says: &str| json!({"type": "integer", "minimum": least, "maximum": most, "description": says});
    let flag =
        |or_else: bool, says: &str| json!({"type": "boolean", "default": or_else, "description": says});
    let spec = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "wire": {
                "enum": Wire::ALL,
                "description": "How the model is spoken to.",
            },
            "baseUrl": {
                "type": "string",
                "pattern": "^[Hh][Tt][Tt][Pp][Ss]?:[^\\s\\\\?#]+$",
                "maxLength": 2_048,
                "description": "Where it is. `/v1` is added unless it ends in it.",
            },
            "model": {
                "type": "string",
                "pattern": "^[!-~]+$",
                "maxLength": 200,
                "description": "The model, as its vendor names it.",
            },
            "key": {
                "type": "string",
                "pattern": "^(none|env:[A-Z][A-Z0-9_]{0,127}|file:/[\\s\\S]*)$",
                "description": "Where the key is, and never the key itself.",
            },
            "stream": flag(true, "Whether the answer is asked for as a stream."),
            "outputLimit": {
                "enum": [OutputLimitName::MaxTokens, OutputLimitName::MaxCompletionTokens],
                "description": "How `openai-chat` names the limit of output.",
            },
            "maxOutputTokens": whole(16, 1_000_000, "The most tokens of one answer, reasoning included."),
            "contextTokens": whole(20_000, 16_000_000, "The tokens of one request, by an estimate of three bytes each."),
            "price": price(),
            "tokenCap": whole(1, ambit_ids::limits::CANONICAL_INTEGER_MAX, "The most tokens of all calls of a run."),
            "timeoutSeconds": whole(1, 3_600, "How long one attempt may take; ten minutes if left out."),
            "allowPlainHttp": flag(false, "Whether http may be spoken to another machine."),
        },
        "required": ["wire", "baseUrl", "model", "key", "maxOutputTokens", "contextTokens"],
        "if": {"required": ["outputLimit"]},
        "then": {"properties": {"wire": {"const": Wire::OpenaiChat}}},
    });
    document_schema(KIND, "ModelAgent: which model answers, where, and what it may use", metadata, spec)
}

fn price() -> Value {
    let dollars = json!({"type": "number", "minimum": 0});
    let names =
        ["inputUsdPerMillion", "cacheReadUsdPerMillion", "cacheWriteUsdPerMillion", "outputUsdPerMillion"];
    let members: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), dollars.clone())).collect();
    json!({
        "description": "What tokens cost: by the table that comes with Ambit, nothing, or in US dollars for a million.",
        "default": "table",
        "oneOf": [
            {"enum": ["table", "free"]},
            {"type": "object", "additionalProperties": false, "properties": members, "required": names},
        ],
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::ModelAgentDocument;

    #[test]
    fn the_schema_takes_what_reading_takes_and_no_other_shape() {
        let page = include_str!("../../../../docs/documents.md");
        let blocks = page.split("```yaml model-agent\n").skip(1).filter_map(|rest| rest.split("```").next());
        let validator = jsonschema::draft202012::new(&schema()).unwrap();
        let mut last = Value::Null;
        for block in blocks {
            last = ambit_blueprint::read_untyped("documents.md", block.as_bytes()).unwrap();
            assert!(validator.is_valid(&last), "{:?}", validator.validate(&last));
        }
        let read =
            |value: &Value| ModelAgentDocument::read(Path::new("t.json"), value.to_string().as_bytes());
        let stated = json!({"inputUsdPerMillion": 1, "cacheReadUsdPerMillion": 0, "cacheWriteUsdPerMillion": 1, "outputUsdPerMillion": 2});
        for (name, value, taken) in [
            ("price", stated, true),
            ("price", json!({"inputUsdPerMillion": 1}), false),
            ("price", json!("cheap"), false),
            ("outputLimit", json!("max-tokens"), true),
            ("outputLimit", json!("most"), false),
            ("tokenCap", json!(1), true),
            ("tokenCap", json!(0), false),
            ("timeoutSeconds", json!(3_601), false),
            ("maxOutputTokens", json!(15), false),
            ("contextTokens", json!(20_000), true),
            ("contextTokens", json!(19_999), false),
            ("model", json!("a b"), false),
            ("model", json!("a/b:free"), true),
            ("key", json!("sk-0123456789"), false),
            ("key", json!("file:/run/key"), true),
            ("key", json!("env:key"), false),
            ("baseUrl", json!("https://a?b"), false),
            ("baseUrl", json!("https://a.example/v1"), true),
            ("baseUrl", json!("http://[::1]:8080/a@b"), true),
            ("wire", json!("smoke-signals"), false),
            ("stream", json!("yes"), false),
            ("temperature", json!(1), false),
        ] {
            let mut changed = last.clone();
            changed["spec"][name] = value;
            assert_eq!(validator.is_valid(&changed), taken, "{name} {}", changed["spec"][name]);
            assert_eq!(read(&changed).is_ok(), taken, "{name} {}", changed["spec"][name]);
        }
        let mut both = last;
        both["spec"]["outputLimit"] = json!("max-tokens");
        both["spec"]["wire"] = json!("openai-responses");
        assert!(!validator.is_valid(&both) && read(&both).is_err());
    }
}
