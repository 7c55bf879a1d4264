//! Values made from a JSON Schema: of the keywords that schemas of tools use, those that decide what is valid.

use serde_json::{Map, Value, json};

use crate::chance::Chance;

/// Deeper values are made as small as can be.
const DEPTH: usize = 8;

pub(crate) fn arguments(schema: &Value, chance: &mut Chance) -> Value {
    let made = Sampler { root: schema, chance }.value(schema, 0);
    if made.is_object() { made } else { json!({}) }
}

struct Sampler<'a, 'b> {
    root: &'a Value,
    chance: &'b mut Chance,
}

impl<'a> Sampler<'a, '_> {
    fn value(&mut self, schema: &'a Value, depth: usize) -> Value {
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let found = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            return match found {
                Some(schema) if depth < 2 * DEPTH => self.value(schema, depth + 1),
                _ => Value::Null,
            };
        }
        if let Some(fixed) = schema.get("const") {
            return fixed.clone();
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty())
        {
            return values[self.chance.index(values.len())].clone();
        }
        for choice in ["oneOf", "anyOf"] {
            let ways = schema.get(choice).and_then(Value::as_array).filter(|ways| !ways.is_empty());
            if let Some(ways) = ways {
                let way = if depth < DEPTH { self.chance.index(ways.len()) } else { ways.len() - 1 };
                return self.value(&ways[way], depth + 1);
            }
        }
        match self.kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "integer" => self.integer(schema),
            "number" => self.integer(schema),
            "boolean" => Value::Bool(self.chance.percent(50)),
            "null" => Value::Null,
            _ => self.string(schema),
        }
    }

    fn kind(&mut self, schema: &'a Value) -> &'a str {
        match schema.get("type") {
            Some(Value::String(kind)) => kind,
            Some(Value::Array(kinds)) if !kinds.is_empty() => {
                kinds[self.chance.index(kinds.len())].as_str().unwrap_or("null")
            }
            _ if schema.get("properties").is_some() => "object",
            _ => "string",
        }
    }

    fn object(&mut self, schema: &'a Value, depth: usize) -> Value {
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let mut made = Map::new();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if required.contains(&name.as_str()) || (depth < DEPTH && self.chance.percent(50)) {
                made.insert(name.clone(), self.value(property, depth + 1));
            }
        }
        Value::Object(made)
    }

    fn array(&mut self, schema: &'a Value, depth: usize) -> Value {
        let least = bound(schema, "minItems").unwrap_or(0);
        let more = if depth < DEPTH { self.chance.up_to(2) } else { 0 };
        let most = bound(schema, "maxItems").unwrap_or(u64::MAX);
        let many = least.saturating_add(more).min(most.max(least)).min(64);
        let Some(items) = schema.get("items").filter(|items| items.is_object()) else { return json!([]) };
        (0..many).map(|_| self.value(items, depth + 1)).collect()
    }

    fn integer(&mut self, schema: &Value) -> Value {
        let whole = |name: &str| schema.get(name).and_then(Value::as_i64);
        let least = whole("minimum").or(whole("exclusiveMinimum").map(|below| below.saturating_add(1)));
        let most = whole("maximum").or(whole("exclusiveMaximum").map(|above| above.saturating_sub(1)));
        let least = least.unwrap_or_else(|| most.map_or(0, |most| most.min(0)));
        let room = most.unwrap_or_else(|| least.saturating_add(1000)).saturating_sub(least);
        let step = self.chance.up_to(u64::try_from(room).unwrap_or(0));
        json!(least.saturating_add(i64::try_from(step).unwrap_or(0)))
    }

    fn string(&mut self, schema: &Value) -> Value {
        let least = usize::try_from(bound(schema, "minLength").unwrap_or(0)).unwrap_or(0).min(4096);
        let most =
            bound(schema, "maxLength").and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
        let mut text = match (schema.get("pattern"), schema.get("format").and_then(Value::as_str)) {
            (Some(_), _) => "a".to_owned(),
            (None, Some("date-time")) => "2025-01-01T00:00:00Z".to_owned(),
            (None, Some("uri")) => "https://example.org/".to_owned(),
            _ => self.chance.words(6),
        };
        while text.chars().count() < least {
            text.push('a');
        }
        Value::String(text.chars().take(most).collect())
    }
}

fn bound(schema: &Value, name: &str) -> Option<u64> {
    schema.get(name).and_then(Value::as_u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_is_valid() {
        let schema = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["path", "lines", "mode", "edit", "flags"],
            "properties": {
                "path": {"type": "string", "minLength": 3, "maxLength": 9},
                "lines": {"type": "integer", "minimum": -2, "maximum": 5},
                "mode": {"enum": ["r", "w"]},
                "edit": {"oneOf": [
                    {"type": "object", "properties": {"op": {"const": "add"}}, "required": ["op"], "additionalProperties": false},
                    {"type": "null"},
                ]},
                "flags": {"type": "array", "items": {"$ref": "#/$defs/flag"}, "minItems": 1, "maxItems": 2},
                "ratio": {"type": "number", "exclusiveMinimum": 0},
                "why": {"type": ["string", "null"]},
            },
            "$defs": {"flag": {"type": "boolean"}},
        });
        let (mut with_ratio, mut with_null_edit) = (0, 0);
        for seed in 0..300 {
            let made = arguments(&schema, &mut Chance::of(seed, 0));
            let fields = made.as_object().unwrap();
            let known = ["path", "lines", "mode", "edit", "flags", "ratio", "why"];
            assert!(fields.keys().all(|name| known.contains(&name.as_str())), "{made}");
            assert!((3..=9).contains(&made["path"].as_str().unwrap().chars().count()), "{made}");
            assert!((-2..=5).contains(&made["lines"].as_i64().unwrap()), "{made}");
            assert!(made["mode"] == "r" || made["mode"] == "w", "{made}");
            assert!(fields["edit"].is_null() || fields["edit"] == json!({"op": "add"}), "{made}");
            let flags = made["flags"].as_array().unwrap();
            assert!((1..=2).contains(&flags.len()) && flags.iter().all(Value::is_boolean), "{made}");
            assert!(fields.get("ratio").is_none_or(|ratio| ratio.as_f64().unwrap() > 0.0), "{made}");
            assert!(fields.get("why").is_none_or(|why| why.is_string() || why.is_null()), "{made}");
            with_ratio += usize::from(fields.contains_key("ratio"));
            with_null_edit += usize::from(fields["edit"].is_null());
        }
        assert!((50..250).contains(&with_ratio) && (50..250).contains(&with_null_edit));
    }

    #[test]
    fn a_schema_that_names_itself_ends() {
        let schema = json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]});
        assert!(arguments(&schema, &mut Chance::of(1, 1)).is_object());
    }
}
