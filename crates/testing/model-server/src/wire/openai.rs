//! What both wires of OpenAI have in common: keys, errors, the schema of a tool.

use serde_json::{Map, Value, json};

use super::check::{Headers, MayCall, Rejection, header, is_tool_name, object, string};
use super::{Asked, DeclaredTool};

/// Longer names of tools are not taken.
const TOOL_NAME_BYTES: usize = 64;

pub(super) fn check_headers(headers: &Headers, key: Option<&str>) -> Result<(), Rejection> {
    let bearer = header(headers, "authorization").and_then(|value| value.strip_prefix("Bearer "));
    let Some(given) = bearer.filter(|given| !given.is_empty()) else {
        return Err(Rejection::new(
            401,
            "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer \
             auth.",
        ));
    };
    if key.is_some_and(|key| key != given) {
        return Err(Rejection::new(401, "Incorrect API key provided.").coded("invalid_api_key"));
    }
    Ok(())
}

pub(super) fn error(rejection: &Rejection) -> Value {
    let (kind, code) = match rejection.status {
        429 => ("requests", Some("rate_limit_exceeded")),
        500 => ("server_error", None),
        503 | 529 => ("server_error", Some("server_is_overloaded")),
        _ => ("invalid_request_error", None),
    };
    json!({"error": {
        "message": rejection.message,
        "type": kind,
        "param": rejection.param,
        "code": rejection.code.or(code),
    }})
}

pub(super) fn known_fields(fields: &Map<String, Value>, known: &[&str]) -> Result<(), Rejection> {
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        Some(unknown) => Err(Rejection::bad(format!("Unknown parameter: '{unknown}'."))
            .about(unknown)
            .coded("unknown_parameter")),
        None => Ok(()),
    }
}

/// The function that these fields declare.
pub(super) fn function(fields: &Map<String, Value>, at: &str) -> Result<DeclaredTool, Rejection> {
    let name = string(fields, "name", at)?;
    if !is_tool_name(name, TOOL_NAME_BYTES) {
        return Err(Rejection::bad(format!(
            "Invalid '{at}.name': string does not match pattern. Expected a string that matches the pattern \
             '^[a-zA-Z0-9_-]+$'."
        ))
        .about(format!("{at}.name")));
    }
    let schema = fields.get("parameters").cloned().unwrap_or(Value::Null);
    if !schema.is_null() {
        let schema = object(&schema, &format!("{at}.parameters"))?;
        if schema.get("type") != Some(&Value::from("object")) {
            return Err(invalid_schema(name, "schema must be a JSON Schema of 'type: \"object\"'."));
        }
    }
    match fields.get("strict") {
        None | Some(Value::Null | Value::Bool(false)) => {}
        Some(Value::Bool(true)) => strict(name, &schema)?,
        Some(_) => {
            return Err(Rejection::bad(format!("Invalid type for '{at}.strict': expected a boolean.")));
        }
    }
    Ok(DeclaredTool { name: name.to_owned(), schema })
}

fn invalid_schema(name: &str, says: &str) -> Rejection {
    Rejection::bad(format!("Invalid schema for function '{name}': {says}"))
        .coded("invalid_function_parameters")
}

/// What a strict schema must be, in every object of it.
fn strict(name: &str, schema: &Value) -> Result<(), Rejection> {
    match schema {
        Value::Object(fields) => {
            if fields.get("type") == Some(&Value::from("object")) {
                if fields.get("additionalProperties") != Some(&Value::Bool(false)) {
                    return Err(invalid_schema(
                        name,
                        "'additionalProperties' is required to be supplied and to be false.",
                    ));
                }
                let required = fields.get("required").and_then(Value::as_array);
                let is_required = |key: &String| {
                    required.is_some_and(|required| required.iter().any(|one| one == key.as_str()))
                };
                let properties = fields.get("properties").and_then(Value::as_object);
                if properties.is_some_and(|properties| !properties.keys().all(is_required)) {
                    return Err(invalid_schema(
                        name,
                        "'required' is required to be supplied and to be an array including every key in properties.",
                    ));
                }
            }
            fields.values().try_for_each(|value| strict(name, value))
        }
        Value::Array(items) => items.iter().try_for_each(|item| strict(name, item)),
        _ => Ok(()),
    }
}

/// `named` finds the name in a choice of one function.
pub(super) fn tool_choice(
    fields: &Map<String, Value>,
    tools: &[DeclaredTool],
    named: impl Fn(&Value) -> Option<&str>,
) -> Result<MayCall, Rejection> {
    let Some(choice) = fields.get("tool_choice").filter(|choice| !choice.is_null()) else {
        return Ok(MayCall::Any);
    };
    match choice.as_str() {
        Some("none") => return Ok(MayCall::None),
        Some(_) if tools.is_empty() => {
            return Err(Rejection::bad("'tool_choice' is only allowed when 'tools' are specified.")
                .about("tool_choice"));
        }
        Some("auto") => return Ok(MayCall::Any),
        Some("required") => return Ok(MayCall::Must),
        _ => {}
    }
    let name = named(choice)
        .ok_or_else(|| Rejection::bad("Invalid value for 'tool_choice'.").about("tool_choice"))?;
    if tools.iter().any(|tool| tool.name == name) {
        Ok(MayCall::Named(name.to_owned()))
    } else {
        Err(Rejection::bad(format!("Tool choice '{name}' not found in 'tools' parameter."))
            .about("tool_choice"))
    }
}

/// Texts, or lists of parts of these kinds that each carry a text or another thing.
pub(super) fn content(value: &Value, kinds: &[&str], at: &str) -> Result<(), Rejection> {
    let parts = match value {
        Value::String(_) => return Ok(()),
        Value::Array(parts) => parts,
        _ => {
            return Err(Rejection::bad(format!(
                "Invalid type for '{at}': expected one of a string or array of objects."
            ))
            .about(at)
            .coded("invalid_type"));
        }
    };
    for (index, part) in parts.iter().enumerate() {
        let at = format!("{at}[{index}]");
        let part = object(part, &at)?;
        let kind = string(part, "type", &at)?;
        if !kinds.contains(&kind) {
            return Err(Rejection::bad(format!(
                "Invalid value: '{kind}'. Supported values are: {}.",
                kinds.iter().map(|kind| format!("'{kind}'")).collect::<Vec<_>>().join(", ")
            ))
            .about(format!("{at}.type"))
            .coded("invalid_value"));
        }
        match kind {
            "refusal" => string(part, "refusal", &at).map(|_| ())?,
            kind if kind.ends_with("text") => string(part, "text", &at).map(|_| ())?,
            _ => {}
        }
    }
    Ok(())
}

/// The arguments of a call that the request repeats: a string, whatever it holds.
pub(super) fn repeated_call(fields: &Map<String, Value>, at: &str) -> Result<(), Rejection> {
    let name = string(fields, "name", at)?;
    if !is_tool_name(name, TOOL_NAME_BYTES) {
        return Err(Rejection::bad(format!("Invalid '{at}.name': string does not match pattern.")).about(at));
    }
    match fields.get("arguments") {
        Some(Value::String(_)) => Ok(()),
        Some(_) => Err(Rejection::bad(format!(
            "Invalid type for '{at}.arguments': expected a string, but got something else instead."
        ))
        .about(format!("{at}.arguments"))
        .coded("invalid_type")),
        None => Err(Rejection::bad(format!("Missing required parameter: '{at}.arguments'."))
            .about(format!("{at}.arguments"))
            .coded("missing_required_parameter")),
    }
}

/// Refuses what no wire of OpenAI takes of the numbers they share.
pub(super) fn sampling(fields: &Map<String, Value>) -> Result<(), Rejection> {
    super::check::within(fields, "temperature", 0.0, 2.0)?;
    super::check::within(fields, "top_p", 0.0, 1.0)
}

/// Fails where stream options are given to what is no stream.
pub(super) fn stream_options<'a>(
    fields: &'a Map<String, Value>,
    asked: &Asked,
) -> Result<Option<&'a Map<String, Value>>, Rejection> {
    match fields.get("stream_options").filter(|options| !options.is_null()) {
        None => Ok(None),
        Some(_) if !asked.stream => {
            Err(Rejection::bad("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
                .about("stream_options"))
        }
        Some(options) => object(options, "stream_options").map(Some),
    }
}
