use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use ambit_ids::MicroUsd;

use super::position::Cursor;
use super::report::{Read, Reported};
use crate::located::{Plain, Value};
use crate::problem::{Finding, ProblemCode};
use crate::suggest::{all_of, closest, quoted};
use crate::word::Word;

impl<'a> Cursor<'a> {
    /// The node as text, character by character as it stands there.
    pub(crate) fn exact_text(&self) -> Read<&'a str> {
        match &self.node.value {
            Value::Text(text) => Ok(text),
            Value::Plain(text) => match Plain::of(text) {
                Plain::Text => Ok(text),
                Plain::Ambiguous => {
                    let message = format!("{} is not text to every reader of YAML", self.name());
                    Err(self.refuse(Finding::new(ProblemCode::Ambiguous, message, "put it in quotes")))
                }
                Plain::Null => Err(self.wrong_type("text", "")),
                Plain::Boolean(_) | Plain::Integer | Plain::Decimal => {
                    Err(self.wrong_type("text", "put it in quotes"))
                }
            },
            Value::Sequence(_) | Value::Mapping(_) => Err(self.wrong_type("text", "")),
        }
    }

    /// The node as text for people, without the white space around it.
    pub(crate) fn prose(&self, bytes: RangeInclusive<usize>) -> Read<String> {
        let text = self.exact_text()?.trim();
        self.check_length(text, bytes)?;
        Ok(text.to_owned())
    }

    /// Refuses text of the wrong length.
    pub(crate) fn check_length(&self, text: &str, bytes: RangeInclusive<usize>) -> Read<()> {
        if bytes.contains(&text.len()) {
            return Ok(());
        }
        let (low, high) = (bytes.start(), bytes.end());
        let message = match text.len() {
            0 => format!("{} is empty", self.name()),
            found => format!("{} must have {low} to {high} bytes, and has {found}", self.name()),
        };
        Err(self.refuse(Finding::new(ProblemCode::OutOfRange, message, "")))
    }

    /// The node as text that a type reads.
    pub(crate) fn parsed<T: FromStr<Err: Display>>(&self) -> Read<T> {
        let text = self.exact_text()?;
        text.parse().map_err(|error: T::Err| self.malformed(text, &error))
    }

    /// Tells that text is not what it must be.
    pub(crate) fn malformed(&self, text: &str, why: &dyn Display) -> Reported {
        let message = format!("{} cannot be {}", self.name(), quoted(text));
        self.refuse(Finding::new(ProblemCode::Malformed, message, why.to_string()))
    }

    /// The node as a word of a closed vocabulary.
    pub(crate) fn word<W: Word>(&self) -> Read<W> {
        let text = self.exact_text()?;
        let words = || W::WORDS.iter().map(|word| word.spelled());
        if let Some(word) = W::WORDS.iter().find(|word| word.spelled() == text) {
            return Ok(*word);
        }
        let message = format!("{} cannot be {}", self.name(), quoted(text));
        let finding = Finding::new(
            ProblemCode::UnknownWord,
            message,
            closest(text, words()).map(|meant| format!("did you mean `{meant}`?")).unwrap_or_default(),
        );
        let valid = if W::WORDS.len() == 1 { "the only word is" } else { "the words are" };
        Err(self.refuse(finding.with_help(format!("{valid} {}", all_of(words())))))
    }

    /// The node as an integer in plain decimal digits.
    pub(crate) fn integer(&self, range: RangeInclusive<u64>) -> Read<u64> {
        let wanted = "an integer in decimal digits";
        let text = match &self.node.value {
            Value::Plain(text) if Plain::of(text) == Plain::Integer => text,
            Value::Text(_) => return Err(self.wrong_type(wanted, "remove the quotes")),
            Value::Plain(_) | Value::Sequence(_) | Value::Mapping(_) => {
                return Err(self.wrong_type(wanted, "write it as 0 or as digits without a leading zero"));
            }
        };
        let value = text.parse().ok().filter(|value| range.contains(value));
        value.ok_or_else(|| {
            let (low, high) = (range.start(), range.end());
            let message = format!("{} must be {low} to {high}, and is {}", self.name(), quoted(text));
            self.refuse(Finding::new(ProblemCode::OutOfRange, message, ""))
        })
    }

    /// The node as an integer of 32 bits.
    pub(crate) fn count(&self, range: RangeInclusive<u32>) -> Read<u32> {
        let (low, high) = range.into_inner();
        let value = self.integer(low.into()..=high.into())?;
        u32::try_from(value).map_err(|error| self.malformed(&value.to_string(), &error))
    }

    /// The node as an exact decimal amount of US dollars, read from its digits.
    pub(crate) fn us_dollars(&self, range: RangeInclusive<MicroUsd>) -> Read<MicroUsd> {
        let wanted = "an amount in US dollars";
        let text = match &self.node.value {
            Value::Plain(text) if matches!(Plain::of(text), Plain::Integer | Plain::Decimal) => text,
            Value::Text(_) => return Err(self.wrong_type(wanted, "remove the quotes")),
            Value::Plain(_) | Value::Sequence(_) | Value::Mapping(_) => {
                return Err(self.wrong_type(wanted, "write it as 4 or as 4.00"));
            }
        };
        if text.starts_with('-') {
            return Err(self.amount_out_of(&range, text));
        }
        let amount = MicroUsd::from_usd_decimal(text).map_err(|error| self.malformed(text, &error))?;
        if range.contains(&amount) { Ok(amount) } else { Err(self.amount_out_of(&range, text)) }
    }

    fn amount_out_of(&self, range: &RangeInclusive<MicroUsd>, text: &str) -> Reported {
        let (low, high) = (range.start(), range.end());
        let message = format!("{} must be {low} to {high} US dollars, and is {}", self.name(), quoted(text));
        self.refuse(Finding::new(ProblemCode::OutOfRange, message, ""))
    }

    /// The node as `true`, which is the only value that it may have.
    pub(crate) fn affirmed(&self) -> Read<()> {
        match &self.node.value {
            Value::Plain(text) if Plain::of(text) == Plain::Boolean(true) => Ok(()),
            _ => Err(self.wrong_type("`true`", "write `true`, without quotes")),
        }
    }
}
