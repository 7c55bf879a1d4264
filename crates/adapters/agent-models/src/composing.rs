//! A request to a model, within its allowance whatever the history.

use crate::allowance::{messages_bytes, request_bytes};
use crate::briefing;
use crate::dialogue::{Message, ModelRequest};
use crate::history::History;
use crate::prompts;
use crate::settings::ModelSettings;
use crate::toolbox;
use crate::turn_context::TurnContext;

/// The request of a turn; `None` where even what must always stay does not fit. What is no longer shown is forgotten.
pub(crate) fn compose(
    history: &mut History,
    context: &TurnContext,
    settings: &ModelSettings,
) -> Option<ModelRequest> {
    let limit = settings.context.bytes();
    let mut request = ModelRequest {
        system: prompts::SYSTEM.to_owned(),
        messages: Vec::new(),
        tools: toolbox::offered(context),
        max_output_tokens: settings.max_output_tokens,
    };
    let opening = briefing::opening(context, &History::default(), settings.context);
    let state = briefing::state(context, history, settings.context);
    let fixed = request_bytes(&request)
        + messages_bytes(&[Message::User(opening), Message::User(state)])
        + briefing::folded_bytes(settings.context)
        // What is no longer shown of the conversation is told in the state where it must stay.
        + 2 * briefing::last_bytes(settings.context);
    let room = limit.saturating_sub(fixed);
    history.trim(room);
    request.messages = messages(history, context, settings, room);
    if request_bytes(&request) > limit {
        history.fold_all();
        request.messages = messages(history, context, settings, room);
    }
    (request_bytes(&request) <= limit).then_some(request)
}

/// The opening, the conversation, and the state of the run at the end of whatever the platform says last.
fn messages(history: &History, context: &TurnContext, settings: &ModelSettings, room: usize) -> Vec<Message> {
    let opening = briefing::opening(context, history, settings.context);
    let state = briefing::state(context, history, settings.context);
    let mut messages = vec![Message::User(opening)];
    messages.extend(history.messages(room));
    match messages.last_mut() {
        Some(Message::User(text)) => append(text, &state),
        Some(Message::ToolResults(results)) => {
            if let Some(last) = results.last_mut() {
                append(&mut last.content, &state);
            }
        }
        // The platform always has the last word.
        Some(Message::Assistant { .. }) | None => messages.push(Message::User(state)),
    }
    messages
}

fn append(text: &mut String, state: &str) {
    text.truncate(text.trim_end().len());
    text.push_str("\n\n");
    text.push_str(state);
}
