//! What the model says, before it has the shape of a wire.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::bill::Usage;
use crate::fault::Fault;
use crate::request_text::{filled, filled_value};
use crate::script::{Stop, Turn, UsageGiven};
use crate::wire::{Asked, Wire};

/// Bytes that count as one token where the script gives no number.
const BYTES_PER_TOKEN: usize = 4;

/// A call, with arguments as they will be sent.
pub(crate) struct PlacedCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Arguments,
}

/// Arguments as they will be sent.
pub(crate) enum Arguments {
    /// The text of their JSON, which need not be JSON where that is the fault.
    Text(String),
    /// Whatever the wire has for arguments, in the shape that another wire has.
    OtherShape(Value),
}

pub(crate) struct Answer {
    /// The number of the request, of which identifiers are made.
    pub(crate) number: u64,
    pub(crate) model: String,
    pub(crate) thinking: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) refusal: Option<String>,
    pub(crate) calls: Vec<PlacedCall>,
    pub(crate) stop: Stop,
    pub(crate) usage: Usage,
    pub(crate) tells_usage: bool,
}

/// What an answer is made of beside the turn.
pub(crate) struct Ground<'a> {
    pub(crate) wire: Wire,
    pub(crate) number: u64,
    pub(crate) asked: &'a Asked,
    pub(crate) body_bytes: usize,
    pub(crate) captures: &'a BTreeMap<String, String>,
    pub(crate) fault: Option<&'a Fault>,
}

impl Answer {
    /// The answer of the turn; otherwise the name of a capture that was not found.
    pub(crate) fn of(turn: &Turn, ground: &Ground<'_>) -> Result<Self, String> {
        let fill =
            |text: &Option<String>| text.as_deref().map(|text| filled(text, ground.captures)).transpose();
        let mut answer = Self {
            number: ground.number,
            model: ground.asked.model.clone(),
            thinking: fill(&turn.thinking)?,
            text: fill(&turn.text)?,
            refusal: fill(&turn.refusal)?,
            calls: placed(turn, ground)?,
            stop: Stop::End,
            usage: Usage::default(),
            tells_usage: ground.fault != Some(&Fault::UsageMissing),
        };
        answer.spoil(ground.fault);
        answer.stop = turn.stop.unwrap_or_else(|| answer.natural_stop());
        if ground.fault == Some(&Fault::Refusal) {
            answer.stop = Stop::Refusal;
        }
        answer.usage = answer.counted(&turn.usage, ground.body_bytes);
        Ok(answer)
    }

    fn natural_stop(&self) -> Stop {
        match (self.refusal.is_some(), self.calls.is_empty()) {
            (true, _) => Stop::Refusal,
            (false, false) => Stop::Calls,
            (false, true) => Stop::End,
        }
    }

    fn spoil(&mut self, fault: Option<&Fault>) {
        match fault {
            Some(Fault::Empty) => {
                self.thinking = None;
                self.text = None;
                self.calls.clear();
            }
            Some(Fault::Endless) => {
                self.thinking = None;
                self.text.get_or_insert_with(|| "And so on.".to_owned());
                self.calls.clear();
            }
            Some(Fault::Refusal) => {
                let words = || "I can't help with that.".to_owned();
                self.refusal.get_or_insert_with(words);
                self.text = None;
                self.calls.clear();
            }
            Some(Fault::TwoCalls) => {
                let again: Vec<_> = self
                    .calls
                    .iter()
                    .map(|call| PlacedCall {
                        id: format!("{}b", call.id),
                        name: call.name.clone(),
                        arguments: match &call.arguments {
                            Arguments::Text(text) => Arguments::Text(text.clone()),
                            Arguments::OtherShape(value) => Arguments::OtherShape(value.clone()),
                        },
                    })
                    .collect();
                self.calls.extend(again);
            }
            Some(Fault::WrongToolName) => {
                self.calls.iter_mut().for_each(|call| call.name.insert_str(0, "no_such_"));
            }
            Some(fault) => self.calls.iter_mut().for_each(|call| call.spoil(fault)),
            None => {}
        }
    }

    fn counted(&self, given: &UsageGiven, body_bytes: usize) -> Usage {
        let tokens = |bytes: usize| u64::try_from(bytes.div_ceil(BYTES_PER_TOKEN)).unwrap_or(u64::MAX);
        let size = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let reasoning = given.reasoning.unwrap_or_else(|| tokens(size(&self.thinking)));
        let calls: usize = self.calls.iter().map(PlacedCall::size_bytes).sum();
        let said = tokens(size(&self.text) + size(&self.refusal) + calls);
        Usage {
            input: given.input.unwrap_or_else(|| tokens(body_bytes)),
            cache_read: given.cache_read.unwrap_or(0),
            cache_write: given.cache_write.unwrap_or(0),
            output: given.output.unwrap_or_else(|| said.saturating_add(reasoning)),
            reasoning,
        }
    }
}

impl PlacedCall {
    fn spoil(&mut self, fault: &Fault) {
        let Arguments::Text(text) = &mut self.arguments else { return };
        match fault {
            Fault::ArgumentsEncodedTwice => *text = Value::String(std::mem::take(text)).to_string(),
            Fault::InvalidArguments => text.truncate(text.len() / 2),
            Fault::ArgumentsOfTheOtherShape => {
                let value = serde_json::from_str(text).unwrap_or(Value::Null);
                self.arguments = Arguments::OtherShape(value);
            }
            _ => {}
        }
    }

    fn size_bytes(&self) -> usize {
        let arguments = match &self.arguments {
            Arguments::Text(text) => text.len(),
            Arguments::OtherShape(value) => value.to_string().len(),
        };
        self.name.len() + arguments
    }
}

fn placed(turn: &Turn, ground: &Ground<'_>) -> Result<Vec<PlacedCall>, String> {
    let place = |(index, call): (usize, &crate::script::Call)| {
        let arguments = match filled_value(&call.arguments, ground.captures)? {
            Value::Null => "{}".to_owned(),
            value => value.to_string(),
        };
        let id = match &call.id {
            Some(id) => filled(id, ground.captures)?,
            None => ground.wire.call_id(ground.number, index),
        };
        let name = filled(&call.name, ground.captures)?;
        Ok(PlacedCall { id, name, arguments: Arguments::Text(arguments) })
    };
    turn.calls.iter().enumerate().map(place).collect()
}

/// The text in pieces as a stream brings them: a few characters each, and none for no text.
pub(crate) fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(11).map(|chunk| chunk.iter().collect()).collect()
}
