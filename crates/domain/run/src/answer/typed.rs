//! Values of an answer as what they should be. What is refused is told without the text that the agent wrote.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::denial::{Denial, DenialCode};

/// A value as what it should be.
pub(super) fn typed<T: DeserializeOwned>(value: Value, code: DenialCode, what: &str) -> Result<T, Denial> {
    serde_json::from_value(value).map_err(|error| Denial::new(code, misfit(&error)).about(what))
}

/// What does not fit, without the text that the agent wrote where something else belongs: it may be its reasoning, and a
/// denial is recorded.
fn misfit(error: &serde_json::Error) -> String {
    let told = error.to_string();
    let Some((before, rest)) = told.split_once("string \"") else { return told };
    let after = rest.rsplit_once("\", expected").map_or("", |(_, after)| after);
    format!("{before}a text, expected{after}")
}

/// A name that an agent made up, where it can be one; prose is not repeated.
pub(super) fn named(text: &str) -> String {
    let is_name = text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:*".contains(c));
    if is_name { format!("{text:?}") } else { format!("whose name is a text of {} bytes", text.len()) }
}
