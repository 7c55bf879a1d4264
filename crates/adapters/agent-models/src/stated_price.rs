//! The `price` of a document.

use std::fmt;

use ambit_ids::MicroUsd;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::error::ModelAgentError;
use crate::price::{Price, Rates};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PriceChoice {
    Table,
    Free,
    Stated(Price),
}

pub(crate) enum PriceForm {
    Word(PriceWord),
    Stated(StatedForm),
}

/// Chosen by what is there and not by trial, so that a slip inside is told as what it is.
impl<'de> Deserialize<'de> for PriceForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PriceVisitor)
    }
}

struct PriceVisitor;

impl<'de> Visitor<'de> for PriceVisitor {
    type Value = PriceForm;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a word or a mapping of prices")
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<PriceForm, E> {
        PriceWord::deserialize(StrDeserializer::new(word)).map(PriceForm::Word)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<PriceForm, A::Error> {
        StatedForm::deserialize(MapAccessDeserializer::new(members)).map(PriceForm::Stated)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PriceWord {
    Table,
    Free,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StatedForm {
    input_usd_per_million: Dollars,
    cache_read_usd_per_million: Dollars,
    cache_write_usd_per_million: Dollars,
    output_usd_per_million: Dollars,
}

/// An amount in US dollars, with or without decimals.
#[derive(Deserialize)]
#[serde(untagged)]
enum Dollars {
    Whole(u64),
    Decimal(String),
}

impl Default for PriceForm {
    fn default() -> Self {
        Self::Word(PriceWord::Table)
    }
}

impl Dollars {
    fn read(&self) -> Result<u64, ModelAgentError> {
        let text = match self {
            Self::Whole(dollars) => dollars.to_string(),
            Self::Decimal(text) => text.clone(),
        };
        let money = MicroUsd::from_usd_decimal(&text);
        money.map(MicroUsd::get).map_err(|source| ModelAgentError::Money { text, source })
    }
}

impl PriceForm {
    pub(crate) fn read(&self) -> Result<PriceChoice, ModelAgentError> {
        Ok(match self {
            Self::Word(PriceWord::Table) => PriceChoice::Table,
            Self::Word(PriceWord::Free) => PriceChoice::Free,
            Self::Stated(stated) => PriceChoice::Stated(Price::flat(Rates {
                input: stated.input_usd_per_million.read()?,
                cache_read: stated.cache_read_usd_per_million.read()?,
                cache_write: stated.cache_write_usd_per_million.read()?,
                output: stated.output_usd_per_million.read()?,
            })),
        })
    }
}
