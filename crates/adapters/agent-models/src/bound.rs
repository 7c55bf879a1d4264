//! How many tokens a request can be at the most, without the vendor's own tokenizer.
//!
//! A token covers at least one byte of the text that a model reads. JSON may be spaced out when it is put to the model:
//! each of its marks counts once more. What a vendor adds around the text is allowed for.

use crate::dialogue::{CallArguments, Message, ModelRequest};
use crate::limits::{WRAPPING_PART_TOKENS, WRAPPING_TOKENS};

pub(crate) fn input_tokens(request: &ModelRequest) -> u64 {
    let mut count = Count { tokens: WRAPPING_TOKENS };
    count.part(&[&request.system]);
    for tool in &request.tools {
        count.part(&[&tool.name, &tool.description]);
        count.json(&tool.schema.to_string());
    }
    for message in &request.messages {
        match message {
            Message::User(text) => count.part(&[text]),
            Message::Assistant { text, calls } => {
                count.part(&[text]);
                for call in calls {
                    count.part(&[&call.id, &call.name]);
                    match &call.arguments {
                        CallArguments::Object(members) => {
                            count.json(&serde_json::Value::Object(members.clone()).to_string());
                        }
                        CallArguments::Unreadable(text) => count.json(&serde_json::json!(text).to_string()),
                    }
                }
            }
            Message::ToolResults(results) => {
                for result in results {
                    count.part(&[&result.call, &result.content]);
                }
            }
        }
    }
    count.tokens
}

struct Count {
    tokens: u64,
}

impl Count {
    fn part(&mut self, texts: &[&str]) {
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        self.tokens += bytes as u64 + WRAPPING_PART_TOKENS;
    }

    fn json(&mut self, text: &str) {
        let marks = text.bytes().filter(|b| matches!(b, b',' | b':' | b'{' | b'}' | b'[' | b']')).count();
        self.tokens += (text.len() + marks) as u64;
    }
}
