use serde_json::{Map, Value};

use crate::dialogue::{CallArguments, Message, ModelCall, ToolResult};
use crate::observation::Observed;
use crate::prompts;
use crate::quoting::in_short;
use crate::telling;
use crate::toolbox::{APPLY_PATCH, ASK_APPROVAL, PROPOSE_PLAN, RUN_GATE};

/// The longest text of an argument that is shown where only the outline is.
const BRIEF_BYTES: usize = 160;
/// The most bytes of the name of what a call is about.
const SUBJECT_BYTES: usize = 160;
/// What stands for the words of an answer that had none: no vendor takes an empty one.
const NO_WORDS: &str = "(no words)";

/// One answer of a model, with what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    /// The turn that it answered.
    pub(crate) turn: u32,
    /// Its words.
    pub(crate) text: String,
    /// Its calls.
    pub(crate) calls: Vec<MadeCall>,
    /// What is told of an answer without calls.
    pub(crate) remark: &'static str,
    /// Whether only its outline is shown.
    pub(crate) is_brief: bool,
}

/// A call, as it can be repeated to any vendor.
#[derive(Clone, Debug)]
pub(crate) struct MadeCall {
    /// Its id, unique in the run, of `[a-zA-Z0-9_-]`.
    pub(crate) id: String,
    /// The tool, of the same characters.
    pub(crate) name: String,
    /// The arguments; none where they could not be read.
    pub(crate) arguments: Map<String, Value>,
    /// What is wrong with the call, where that is not for the platform to know.
    pub(crate) flaw: Option<String>,
    /// What came of it.
    pub(crate) outcome: Option<Observed>,
}

impl MadeCall {
    /// What it is about, in a few words.
    pub(crate) fn subject(&self) -> String {
        let named = |name: &str| self.arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let text = match self.name.as_str() {
            "read_project_file" => format!("read {}{}", named("path"), self.of_base()),
            "list_project_files" => format!("list files{}{}", self.under(), self.of_base()),
            "search_project_text" => {
                format!("search {:?}{}{}", named("text"), self.under(), self.of_base())
            }
            APPLY_PATCH => format!("patch for step {}", named("step")),
            RUN_GATE => format!("gate {}", named("gateId")),
            ASK_APPROVAL => format!("ask for approval of {}", named("proposalId")),
            PROPOSE_PLAN => "plan".to_owned(),
            other => format!("call of {other}"),
        };
        in_short(&text, SUBJECT_BYTES)
    }

    fn under(&self) -> String {
        let under = self.arguments.get("under").and_then(Value::as_str).unwrap_or_default();
        if under.is_empty() { String::new() } else { format!(" under {under}") }
    }

    fn of_base(&self) -> &'static str {
        let is_base = self.arguments.get("revision").is_some_and(|revision| revision == "base");
        if is_base { " of the base" } else { "" }
    }

    fn result(&self, told: impl FnOnce(&Observed) -> String) -> ToolResult {
        let mut content =
            self.outcome.as_ref().map_or_else(|| prompts::NOT_TAKEN.trim_end().to_owned(), told);
        if let Some(flaw) = &self.flaw {
            content = format!("{flaw}\n{content}");
        }
        let is_error = self.outcome.as_ref().is_none_or(Observed::is_without_effect);
        ToolResult { call: self.id.clone(), content, is_error }
    }

    fn call(&self, arguments: Map<String, Value>) -> ModelCall {
        ModelCall {
            id: self.id.clone(),
            name: self.name.clone(),
            arguments: CallArguments::Object(arguments),
        }
    }
}

impl Exchange {
    /// Puts a reply beside the call at `index`, or beside the first that has none. Answers what the call is about, and
    /// `None` where there is no such call.
    pub(crate) fn put(&mut self, index: Option<usize>, reply: &Observed) -> Option<String> {
        if self.calls.is_empty() {
            // What is told of the answer as a whole is its remark.
            return index.map(|_| "answer".to_owned());
        }
        let call = match index {
            Some(index) => self.calls.get_mut(index),
            None => self.calls.iter_mut().find(|call| call.outcome.is_none()),
        }?;
        call.outcome = Some(reply.clone());
        Some(call.subject())
    }

    /// The two messages of the exchange, within about so many bytes.
    pub(crate) fn messages(&self, room: usize) -> Vec<Message> {
        let words = in_bytes(&self.text, if self.is_brief { BRIEF_BYTES } else { room / 16 });
        let text = if words.trim().is_empty() && self.calls.is_empty() { NO_WORDS.to_owned() } else { words };
        if self.calls.is_empty() {
            let said = Message::Assistant { text, calls: Vec::new() };
            return vec![said, Message::User(self.remark.trim_end().to_owned())];
        }
        let count = self.calls.len();
        let (of_arguments, of_result) = (room / 8 / count, (room / 4).min(room * 3 / 4 / count));
        let calls = self.calls.iter().map(|call| {
            let most = if self.is_brief { BRIEF_BYTES } else { of_arguments };
            call.call(outlined(&call.arguments, most))
        });
        let results = self.calls.iter().map(|call| {
            let subject = call.subject();
            call.result(|outcome| {
                if self.is_brief {
                    format!("{}; no longer shown", telling::in_brief(&subject, outcome))
                } else {
                    telling::in_full(&subject, outcome, of_result)
                }
            })
        });
        vec![Message::Assistant { text, calls: calls.collect() }, Message::ToolResults(results.collect())]
    }

    /// One line for each call, or for the answer where it had none.
    pub(crate) fn lines(&self) -> Vec<String> {
        if self.calls.is_empty() {
            return vec![format!("turn {}: an answer without a call", self.turn)];
        }
        let line = |call: &MadeCall| {
            let told = match &call.outcome {
                Some(outcome) => telling::in_brief(&call.subject(), outcome),
                None => format!("{}: nothing is known of it", call.subject()),
            };
            format!("turn {}: {told}", self.turn)
        };
        self.calls.iter().map(line).collect()
    }
}

/// The arguments with their long texts cut, and none where they are too many for so many bytes all the same.
fn outlined(arguments: &Map<String, Value>, room: usize) -> Map<String, Value> {
    let written =
        |members: &Map<String, Value>| serde_json::to_string(members).map_or(usize::MAX, |text| text.len());
    if written(arguments) <= room {
        return arguments.clone();
    }
    let cut: Map<String, Value> = arguments
        .iter()
        .map(|(name, value)| match value {
            Value::String(text) => (name.clone(), Value::String(in_bytes(text, room / 2))),
            other => (name.clone(), other.clone()),
        })
        .collect();
    if written(&cut) <= room * 2 { cut } else { Map::new() }
}

/// The beginning of a text, with the number of bytes that are left out.
fn in_bytes(text: &str, room: usize) -> String {
    if text.len() <= room {
        return text.to_owned();
    }
    let kept = text.floor_char_boundary(room);
    format!("{} [{} more bytes, no longer shown]", &text[..kept], text.len() - kept)
}
