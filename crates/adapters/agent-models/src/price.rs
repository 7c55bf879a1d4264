//! What tokens cost. Money is whole micro-dollars, prices are micro-dollars for a million tokens, and nothing is rounded
//! but the sum of a call, once, upwards.

use ambit_blueprint::read_typed;
use ambit_ids::{MicroUsd, UnixMs};
use serde::Deserialize;

use crate::dialogue::Usage;
use crate::error::ModelAgentError;

const TABLE: &str = include_str!("../prices.yaml");
const MILLION: u128 = 1_000_000;

/// What a million tokens cost, in micro-dollars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rates {
    /// Input that no cache had a part in.
    pub input: u64,
    /// Input that was read from a cache.
    pub cache_read: u64,
    /// Input that was written to a cache.
    pub cache_write: u64,
    /// Output, reasoning included.
    pub output: u64,
}

/// The price of a model's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    rates: Rates,
    long: Option<Long>,
}

/// Other rates for the whole of a call whose input, caches included, has more tokens than this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Long {
    above_input_tokens: u64,
    rates: Rates,
}

/// What is known of the price of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pricing {
    /// This is it.
    Priced(Price),
    /// Its tokens cost nothing.
    Free,
    /// Nothing is known; a cap of tokens bounds what it may use.
    Unknown,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    models: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    model: String,
    from: String,
    rates: Rates,
    long: Option<Long>,
    #[serde(rename = "source")]
    _source: String,
}

impl Rates {
    fn sum(&self, usage: &Usage) -> MicroUsd {
        let parts = [
            (usage.input_tokens, self.input),
            (usage.cache_read_tokens, self.cache_read),
            (usage.cache_write_tokens, self.cache_write),
            (usage.output_tokens, self.output),
        ];
        let sum: u128 = parts.iter().map(|(tokens, rate)| u128::from(*tokens) * u128::from(*rate)).sum();
        MicroUsd::new(u64::try_from(sum.div_ceil(MILLION)).unwrap_or(u64::MAX))
    }

    fn dearest_input(&self) -> u64 {
        self.input.max(self.cache_read).max(self.cache_write)
    }
}

impl Price {
    /// A price that is the same for calls of every length.
    #[must_use]
    pub const fn flat(rates: Rates) -> Self {
        Self { rates, long: None }
    }

    /// The price of a model on the day of `now`, from the table that comes with this program: the last entry of its id
    /// that had begun by then. An id with a date at its end is also found without it.
    ///
    /// # Errors
    /// [`ModelAgentError::PriceUnknown`], or [`ModelAgentError::PriceTable`] where the table is malformed.
    pub fn of_model(model: &str, now: UnixMs) -> Result<Self, ModelAgentError> {
        let mut found: Option<Entry> = None;
        let today = now.to_string();
        for entry in table()?.models {
            let later = found.as_ref().is_none_or(|found| found.from < entry.from);
            let same = entry.model == model || undated(model) == Some(entry.model.as_str());
            if same && later && entry.from.as_str() <= &today[..10] {
                found = Some(entry);
            }
        }
        let unknown = || ModelAgentError::PriceUnknown(model.to_owned());
        found.map(|entry| Self { rates: entry.rates, long: entry.long }).ok_or_else(unknown)
    }

    /// What a call cost, exact and then rounded up once.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> MicroUsd {
        let input = u128::from(usage.input_tokens)
            + u128::from(usage.cache_read_tokens)
            + u128::from(usage.cache_write_tokens);
        let long = self.long.filter(|long| input > u128::from(long.above_input_tokens));
        long.map_or(self.rates, |long| long.rates).sum(usage)
    }

    /// The most that a call of at most so many tokens can cost, however its input is divided among fresh and cached.
    #[must_use]
    pub fn quote(&self, input_tokens: u64, output_tokens: u64) -> MicroUsd {
        let most = |rates: &Rates| {
            let dearest = Rates { input: rates.dearest_input(), ..*rates };
            dearest.sum(&Usage { input_tokens, output_tokens, ..Usage::default() })
        };
        let long = self.long.filter(|long| input_tokens > long.above_input_tokens);
        let long = long.map_or(MicroUsd::ZERO, |long| most(&long.rates));
        most(&self.rates).max(long)
    }
}

impl Pricing {
    /// What a call cost; `None` where nobody can tell.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Option<MicroUsd> {
        match self {
            Self::Priced(price) => Some(price.cost(usage)),
            Self::Free => Some(MicroUsd::ZERO),
            Self::Unknown => None,
        }
    }

    /// The most that a call can cost; nothing where no price is known, since only tokens bound it then.
    #[must_use]
    pub fn quote(&self, input_tokens: u64, output_tokens: u64) -> MicroUsd {
        match self {
            Self::Priced(price) => price.quote(input_tokens, output_tokens),
            Self::Free | Self::Unknown => MicroUsd::ZERO,
        }
    }
}

fn table() -> Result<Table, ModelAgentError> {
    let read = read_typed("prices.yaml", TABLE.as_bytes());
    read.map(|(table, _)| table).map_err(|error| ModelAgentError::PriceTable(error.to_string()))
}

/// An id without the date at its end: `-20251101` or `-2025-11-01`.
fn undated(model: &str) -> Option<&str> {
    let of_form = |form: &str| {
        let at = model.len().checked_sub(form.len())?;
        let tail = model.get(at..)?;
        let fits = tail.bytes().zip(form.bytes()).all(|(found, wanted)| match wanted {
            b'0' => found.is_ascii_digit(),
            mark => found == mark,
        });
        fits.then(|| &model[..at])
    };
    of_form("-0000-00-00").or_else(|| of_form("-00000000"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    fn on(day: &str) -> UnixMs {
        format!("{day}T00:00:00.000Z").parse().unwrap()
    }

    #[test]
    fn the_table_reads_and_every_entry_is_sound() {
        let table = table().unwrap();
        assert!(table.models.len() > 20);
        let mut seen = std::collections::BTreeSet::new();
        for entry in &table.models {
            assert!(seen.insert((entry.model.clone(), entry.from.clone())), "{} stands twice", entry.model);
            on(&entry.from);
            for rates in [Some(entry.rates), entry.long.map(|long| long.rates)].into_iter().flatten() {
                assert!(rates.cache_read <= rates.input && rates.input <= rates.output, "{}", entry.model);
                assert!(rates.output < 1_000_000_000 && rates.input > 0, "{}", entry.model);
            }
        }
    }

    #[test]
    fn a_price_is_that_of_its_day() {
        let read = |day| Price::of_model("claude-sonnet-5-5", on(day)).map(|price| price.rates.cache_read);
        assert_eq!(read("2026-09-27").unwrap_err().code(), "MODEL_PRICE_UNKNOWN");
        assert_eq!(read("2026-09-28").unwrap(), 200_000);
        assert_eq!(read("2026-10-06").unwrap(), 200_000);
        assert_eq!(read("2026-10-07").unwrap(), 100_000);
    }

    #[test]
    fn a_date_at_the_end_of_an_id_is_passed_over_and_nothing_else_is() {
        let known = |model| Price::of_model(model, on("2026-11-30")).is_ok();
        assert!(known("gpt-5") && known("gpt-5-2025-08-07") && known("claude-opus-4-5-20251101"));
        for other in
            ["gpt-5-turbo", "gpt-5x", "gpt-", "", "-20251101", "GPT-5", "gpt-5-2025-08-0x", "gpt-5-é251101"]
        {
            assert!(!known(other), "{other}");
        }
    }

    #[test]
    fn a_long_call_costs_its_own_rates_from_the_first_token() {
        let price = Price::of_model("claude-haiku-5-5", on("2026-11-30")).unwrap();
        let usage = |input_tokens| Usage { input_tokens, output_tokens: 10, ..Usage::default() };
        assert_eq!(price.cost(&usage(100_000)).get(), 10_005);
        assert_eq!(price.cost(&usage(100_001)).get(), 50_026);
    }

    #[test]
    fn a_call_is_rounded_up_once() {
        let rates = Rates { input: 1, cache_read: 1, cache_write: 1, output: 1 };
        let usage = Usage {
            input_tokens: 1,
            cache_read_tokens: 1,
            cache_write_tokens: 1,
            output_tokens: 1,
            reasoning_tokens: 1,
        };
        assert_eq!(Price::flat(rates).cost(&usage).get(), 1);
        assert_eq!(Price::flat(rates).cost(&Usage::default()).get(), 0);
        let most = Rates { input: u64::MAX, ..rates };
        assert_eq!(Price::flat(most).cost(&Usage { input_tokens: u64::MAX, ..usage }).get(), u64::MAX);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

        #[test]
        fn no_call_costs_more_than_its_quote(
            rates in prop::array::uniform8(0u64..100_000_000),
            threshold in 0u64..2_000,
            tokens in prop::array::uniform4(0u64..1_000),
            spare in 0u64..1_000,
        ) {
            let of = |r: &[u64]| Rates { input: r[0], cache_read: r[1], cache_write: r[2], output: r[3] };
            let long = Some(Long { above_input_tokens: threshold, rates: of(&rates[4..]) });
            let price = Price { rates: of(&rates[..4]), long };
            let usage = Usage {
                input_tokens: tokens[0],
                cache_read_tokens: tokens[1],
                cache_write_tokens: tokens[2],
                output_tokens: tokens[3],
                reasoning_tokens: 0,
            };
            let input: u64 = tokens[..3].iter().sum();
            prop_assert!(price.cost(&usage) <= price.quote(input + spare, tokens[3] + spare));
        }
    }
}
