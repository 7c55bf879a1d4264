//! The text of a request, in which patterns are searched: every string of its body as it was meant, one a line.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

/// Where the conversation stands. It comes last, so that the last match is the newest.
const CONVERSATION: [&str; 2] = ["messages", "input"];
/// Objects that one wire has and another writes as a string of JSON.
const ARGUMENTS: [&str; 2] = ["input", "arguments"];

pub(crate) fn text_of(body: &Value) -> String {
    let mut text = String::new();
    let Value::Object(fields) = body else { return text };
    for (name, value) in fields {
        if !CONVERSATION.contains(&name.as_str()) {
            gather(value, &mut text);
        }
    }
    for name in CONVERSATION {
        if let Some(value) = fields.get(name) {
            gather(value, &mut text);
        }
    }
    text
}

fn gather(value: &Value, text: &mut String) {
    match value {
        Value::String(words) => line(words, text),
        Value::Array(items) => items.iter().for_each(|item| gather(item, text)),
        Value::Object(fields) => {
            for (name, value) in fields {
                if value.is_object() && ARGUMENTS.contains(&name.as_str()) {
                    line(&value.to_string(), text);
                } else {
                    gather(value, text);
                }
            }
        }
        _ => {}
    }
}

fn line(words: &str, text: &mut String) {
    text.push_str(words);
    text.push('\n');
}

/// The last match of every pattern that matches: its first group, or the whole.
pub(crate) fn captured(patterns: &BTreeMap<String, Regex>, text: &str) -> BTreeMap<String, String> {
    let found = patterns.iter().filter_map(|(name, pattern)| {
        let last = pattern.captures_iter(text).last()?;
        let part = last.get(1).or_else(|| last.get(0))?;
        Some((name.clone(), part.as_str().to_owned()))
    });
    found.collect()
}

/// The text with every `${name}` replaced; otherwise the name that was not found.
pub(crate) fn filled(text: &str, found: &BTreeMap<String, String>) -> Result<String, String> {
    let mut whole = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, after) = rest.split_at(start);
        whole.push_str(before);
        let after = &after[2..];
        let Some(end) = after.find('}') else {
            whole.push_str("${");
            rest = after;
            continue;
        };
        let name = &after[..end];
        whole.push_str(found.get(name).ok_or_else(|| name.to_owned())?);
        rest = &after[end + 1..];
    }
    whole.push_str(rest);
    Ok(whole)
}

/// As [`filled`], in every string of the value.
pub(crate) fn filled_value(value: &Value, found: &BTreeMap<String, String>) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => Value::String(filled(text, found)?),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| filled_value(item, found)).collect::<Result<_, _>>()?)
        }
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, value)| Ok((name.clone(), filled_value(value, found)?)))
                .collect::<Result<_, String>>()?,
        ),
        other => other.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_newest_match_in_the_conversation_wins() {
        let body = json!({
            "messages": [{"content": "digest sha256:aa"}, {"content": [{"text": "digest sha256:bb \"q\""}]}],
            "system": "digest sha256:cc",
            "tools": [{"description": "digest sha256:dd"}],
        });
        let patterns = BTreeMap::from([
            ("digest".to_owned(), Regex::new("digest (sha256:[a-z]+)").unwrap()),
            ("quoted".to_owned(), Regex::new("\"[a-z]\"").unwrap()),
            ("absent".to_owned(), Regex::new("nowhere").unwrap()),
        ]);
        let found = captured(&patterns, &text_of(&body));
        assert_eq!(found.get("digest").unwrap(), "sha256:bb");
        assert_eq!(found.get("quoted").unwrap(), "\"q\"");
        assert_eq!(filled("<${digest}> $5 ${", &found).unwrap(), "<sha256:bb> $5 ${");
        assert_eq!(filled("${absent}", &found), Err("absent".to_owned()));
    }

    #[test]
    fn arguments_read_alike_in_every_wire() {
        let object = text_of(&json!({"messages": [{"input": {"path": "a"}}]}));
        let string = text_of(&json!({"messages": [{"arguments": "{\"path\":\"a\"}"}]}));
        assert_eq!(object, string);
    }
}
