//! What the checks of all wires have in common.

use serde_json::{Map, Value};

/// Header names in small letters, with their values.
pub(crate) type Headers = [(String, String)];

/// A request that the vendor would not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) status: u16,
    pub(crate) message: String,
    /// The field it is about.
    pub(crate) param: Option<String>,
    pub(crate) code: Option<&'static str>,
}

impl Rejection {
    pub(crate) fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), param: None, code: None }
    }

    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }

    pub(super) fn about(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    pub(super) fn coded(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }
}

/// A tool that the request declares.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DeclaredTool {
    pub(crate) name: String,
    pub(crate) schema: Value,
}

/// What a good request asks for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Asked {
    pub(crate) model: String,
    pub(crate) stream: bool,
    /// Whether a stream tells its usage.
    pub(crate) wants_usage: bool,
    pub(crate) max_output_tokens: Option<u64>,
    pub(crate) tools: Vec<DeclaredTool>,
    /// The answers of the model that the request repeats.
    pub(crate) answers: usize,
    pub(crate) tool_results: usize,
    pub(crate) may_call: MayCall,
}

/// What the request says of calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum MayCall {
    #[default]
    Any,
    None,
    /// At least one.
    Must,
    /// This one.
    Named(String),
}

pub(super) fn header<'a>(headers: &'a Headers, name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

pub(super) fn object<'a>(value: &'a Value, at: &str) -> Result<&'a Map<String, Value>, Rejection> {
    value.as_object().ok_or_else(|| Rejection::bad(format!("{at}: Input should be an object")).about(at))
}

pub(super) fn array<'a>(value: &'a Value, at: &str) -> Result<&'a Vec<Value>, Rejection> {
    value.as_array().ok_or_else(|| Rejection::bad(format!("{at}: Input should be a list")).about(at))
}

/// The string in this field, which must be there.
pub(super) fn string<'a>(fields: &'a Map<String, Value>, name: &str, at: &str) -> Result<&'a str, Rejection> {
    let place = joined(at, name);
    match fields.get(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(Rejection::bad(format!("{place}: Input should be a string")).about(place)),
        None => Err(Rejection::bad(format!("{place}: Field required")).about(place)),
    }
}

/// The whole number in this field, at least one, where it is there and not null.
pub(super) fn count(fields: &Map<String, Value>, name: &str) -> Result<Option<u64>, Rejection> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            match value.as_u64() {
                Some(number) if number >= 1 => Ok(Some(number)),
                _ => Err(Rejection::bad(format!("{name}: Input should be a whole number of 1 or more"))
                    .about(name)),
            }
        }
    }
}

pub(super) fn flag(fields: &Map<String, Value>, name: &str) -> Result<bool, Rejection> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(value)) => Ok(*value),
        Some(_) => Err(Rejection::bad(format!("{name}: Input should be a boolean")).about(name)),
    }
}

/// The number in this field within bounds, where it is there and not null.
pub(super) fn within(
    fields: &Map<String, Value>,
    name: &str,
    least: f64,
    most: f64,
) -> Result<(), Rejection> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(()),
        Some(value) => match value.as_f64() {
            Some(number) if (least..=most).contains(&number) => Ok(()),
            _ => Err(Rejection::bad(format!("{name}: must be between {least} and {most}")).about(name)),
        },
    }
}

pub(super) fn joined(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

/// Whether the name of a tool has only the characters that vendors take.
pub(super) fn is_tool_name(name: &str, most: usize) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !name.is_empty() && name.len() <= most && name.bytes().all(plain)
}
