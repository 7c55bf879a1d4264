use serde_json::Value;

/// Replaces `${name}` in every text of a value by what the context of the turn has under that name, so that a transcript
/// can name digests which it cannot know.
pub(crate) fn fill(value: &Value, context: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(fill_text(text, context)),
        Value::Array(items) => items.iter().map(|item| fill(item, context)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, member)| (name.clone(), fill(member, context))).collect()
        }
        other => other.clone(),
    }
}

fn fill_text(text: &str, context: &Value) -> String {
    let mut filled = text.to_owned();
    for (name, pointer) in NAMES {
        let mark = format!("${{{name}}}");
        if filled.contains(&mark) {
            let known = context.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            filled = filled.replace(&mark, known);
        }
    }
    filled
}

/// What a transcript can name, and where it stands in the context.
const NAMES: [(&str, &str); 6] = [
    ("project", "/project"),
    ("revision", "/revision"),
    ("baseRevision", "/baseRevision"),
    ("head", "/head"),
    ("proposal", "/last/needsApproval/proposalId"),
    ("capability", "/last/needsApproval/capability"),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_replaced_wherever_they_stand() {
        let context = json!({"head": "sha256:1", "revision": "rev-1", "last": {"needsApproval": {"proposalId": "prop_1"}}});
        let filled =
            fill(&json!({"a": ["${head}", {"b": "x ${revision} ${proposal} ${unknown}"}], "n": 1}), &context);
        assert_eq!(filled, json!({"a": ["sha256:1", {"b": "x rev-1 prop_1 ${unknown}"}], "n": 1}));
    }
}
