//! The `price` of a document.

use ambit_ids::MicroUsd;
use serde::Deserialize;

use crate::error::ModelAgentError;
use crate::price::{Price, Rates};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PriceChoice {
    Table,
    Free,
    Stated(Price),
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum PriceForm {
    Word(PriceWord),
    Stated(StatedForm),
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
