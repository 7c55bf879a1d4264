use serde_json::{Map, Value, json};

use crate::requests::Limit;

/// The name under which the schema of `ambit.toml` is listed.
pub const REQUESTS_KIND: &str = "AmbitToml";

/// The JSON Schema (2020-12) of `ambit.toml`, for editors. What was agreed to bounds it further, and no schema knows that.
#[must_use]
pub fn requests_schema() -> Value {
    let limits: Map<String, Value> =
        Limit::ALL.iter().map(|limit| (limit.key().to_owned(), amount(*limit))).collect();
    let paths = json!({
        "type": "object",
        "properties": {"paths": {"type": "array", "items": {"type": "string", "pattern": "^[^/]", "maxLength": 256}}},
        "required": ["paths"],
        "additionalProperties": false,
    });
    let described = |about: &str| {
        let mut paths = paths.clone();
        paths["description"] = json!(about);
        paths
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:ambit:schema:AmbitToml:v1",
        "title": "AmbitToml: what a repository asks of every run on it, which can only be less",
        "type": "object",
        "properties": {
            "budget": {
                "type": "object",
                "properties": limits,
                "additionalProperties": false,
                "description": "Limits, at most what was agreed to.",
            },
            "scope": described("The only paths that a patch may touch."),
            "protected": described("What no patch may touch, beside what was agreed to."),
        },
        "additionalProperties": false,
    })
}

fn amount(limit: Limit) -> Value {
    let whole = json!({"type": "integer", "minimum": 0});
    match limit {
        Limit::MaxToolCostUsd => {
            json!({"anyOf": [whole, {"type": "string", "pattern": "^[0-9]+([.][0-9]{1,6})?$"}]})
        }
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Requests;

    #[test]
    fn the_schema_takes_what_reading_takes_and_no_other_shape() {
        let validator = jsonschema::draft202012::new(&requests_schema()).unwrap();
        for (text, is_good) in [
            ("", true),
            (
                "[budget]\nmaxModelSteps = 10\nmaxToolCostUsd = \"0.50\"\n[scope]\npaths = [\"src/**\"]\n",
                true,
            ),
            ("[protected]\npaths = [\"a/**\"]\n", true),
            ("[budget]\nmaxModelStep = 10\n", false),
            ("[budget]\nmaxModelSteps = -1\n", false),
            ("[budget]\nmaxModelSteps = [1]\n", false),
            ("[budget]\nmaxToolCostUsd = \"much\"\n", false),
            ("[scope]\npath = [\"src/**\"]\n", false),
            ("[scope]\npaths = [\"/src\"]\n", false),
            ("[gates]\nunit = false\n", false),
        ] {
            let value = serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap();
            assert_eq!(validator.is_valid(&value), is_good, "{text}");
            assert_eq!(Requests::read(text.as_bytes()).is_ok(), is_good, "{text}");
        }
    }
}
