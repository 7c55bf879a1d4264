//! How many tokens a request can be at the most, without the vendor's own tokenizer: one for each byte of its text, since
//! no token covers less, and an allowance for what a vendor adds around it.

use crate::dialogue::{CallArguments, Message, ModelCall, ModelRequest};
use crate::limits::{WRAPPING_PART_TOKENS, WRAPPING_TOKENS};

pub(crate) fn input_tokens(request: &ModelRequest) -> u64 {
    let tools =
        request.tools.iter().map(|tool| part(&[&tool.name, &tool.description, &tool.schema.to_string()]));
    let messages = request.messages.iter().map(message);
    WRAPPING_TOKENS + request.system.len() as u64 + tools.chain(messages).sum::<u64>()
}

fn message(message: &Message) -> u64 {
    match message {
        Message::User(text) => part(&[text]),
        Message::Assistant { text, calls } => part(&[text]) + calls.iter().map(call).sum::<u64>(),
        Message::ToolResults(results) => {
            results.iter().map(|result| part(&[&result.call, &result.content])).sum()
        }
    }
}

fn call(call: &ModelCall) -> u64 {
    match &call.arguments {
        CallArguments::Object(members) => {
            let arguments = serde_json::Value::Object(members.clone()).to_string();
            part(&[&call.id, &call.name, &arguments])
        }
        CallArguments::Unreadable(text) => part(&[&call.id, &call.name, text]),
    }
}

fn part(texts: &[&str]) -> u64 {
    texts.iter().map(|text| text.len() as u64).sum::<u64>() + WRAPPING_PART_TOKENS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialogue::{ToolResult, ToolSpec};

    #[test]
    fn every_byte_that_a_model_reads_is_counted() {
        let call = |arguments| ModelCall { id: "i".to_owned(), name: "n".to_owned(), arguments };
        let object = serde_json::json!({"a": 1}).as_object().unwrap().clone();
        let request = ModelRequest {
            system: "12345".to_owned(),
            messages: vec![
                Message::User("é".to_owned()),
                Message::Assistant {
                    text: "123".to_owned(),
                    calls: vec![
                        call(CallArguments::Object(object)),
                        call(CallArguments::Unreadable("{".to_owned())),
                    ],
                },
                Message::ToolResults(vec![ToolResult {
                    call: "i".to_owned(),
                    content: "1234".to_owned(),
                    is_error: false,
                }]),
            ],
            tools: vec![ToolSpec {
                name: "t".to_owned(),
                description: "12".to_owned(),
                schema: serde_json::json!({}),
            }],
            max_output_tokens: 7,
        };
        let bytes = 5 + (1 + 2 + 2) + 2 + 3 + (2 + 7) + (2 + 1) + (1 + 4);
        assert_eq!(input_tokens(&request), WRAPPING_TOKENS + 6 * WRAPPING_PART_TOKENS + bytes);
    }
}
