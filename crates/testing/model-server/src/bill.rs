//! What the answers cost, in integers of the server's own.

use serde::Serialize;

use crate::wire::Wire;

/// Tokens of one answer by kind, as the client is told them. The three kinds of input exclude each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Input neither read from the cache nor written to it.
    pub input: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache.
    pub cache_write: u64,
    /// Output, reasoning included.
    pub output: u64,
    /// The part of the output that was reasoning.
    pub reasoning: u64,
}

impl Usage {
    /// The three kinds of input together.
    #[must_use]
    pub fn whole_input(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }
}

/// Prices in micro-dollars for a million tokens. Reasoning costs what output costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Price {
    /// For input neither read from the cache nor written to it.
    pub input: u64,
    /// For input read from the cache.
    pub cache_read: u64,
    /// For input written to the cache.
    pub cache_write: u64,
    /// For output.
    pub output: u64,
}

impl Default for Price {
    /// Three dollars in, fifteen out, a tenth for what the cache held and a quarter more for what it takes.
    fn default() -> Self {
        Self { input: 3_000_000, cache_read: 300_000, cache_write: 3_750_000, output: 15_000_000 }
    }
}

impl Price {
    /// Micro-dollars for the tokens of one call: the exact sum, rounded up once.
    #[must_use]
    pub fn of(&self, usage: &Usage) -> u128 {
        let kinds = [
            (usage.input, self.input),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
            (usage.output, self.output),
        ];
        let exact: u128 = kinds.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum();
        exact.div_ceil(1_000_000)
    }

    /// Reads `input=3000000,cache_read=300000,cache_write=3750000,output=15000000`; what is not named is free.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut price = Self { input: 0, cache_read: 0, cache_write: 0, output: 0 };
        for part in text.split(',') {
            let (kind, amount) = part.split_once('=')?;
            let place = match kind.trim() {
                "input" => &mut price.input,
                "cache_read" => &mut price.cache_read,
                "cache_write" => &mut price.cache_write,
                "output" => &mut price.output,
                _ => return None,
            };
            *place = amount.trim().parse().ok()?;
        }
        Some(price)
    }
}

/// One request that came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BillEntry {
    /// The number of the request, from 1.
    pub number: u64,
    /// The wire it spoke.
    pub wire: Wire,
    /// The model that it named; empty where it was refused before that was read.
    pub model: String,
    /// The status that it was answered with, or would have been.
    pub status: u16,
    /// Whether the vendor would charge it: an answer was begun.
    pub charged: bool,
    /// Whether the usage was sent, so that a client that reads to the end knows it.
    pub told: bool,
    /// The tokens; none where nothing is charged.
    pub usage: Usage,
    /// Micro-dollars; none where nothing is charged.
    pub cost_micro_dollars: u128,
}

/// All requests that came, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Bill {
    /// The requests.
    pub entries: Vec<BillEntry>,
}

impl Bill {
    /// Micro-dollars of all entries.
    #[must_use]
    pub fn total_micro_dollars(&self) -> u128 {
        self.entries.iter().map(|entry| entry.cost_micro_dollars).sum()
    }

    /// Tokens of all entries, by kind.
    #[must_use]
    pub fn total_usage(&self) -> Usage {
        self.entries.iter().fold(Usage::default(), |sum, entry| Usage {
            input: sum.input.saturating_add(entry.usage.input),
            cache_read: sum.cache_read.saturating_add(entry.usage.cache_read),
            cache_write: sum.cache_write.saturating_add(entry.usage.cache_write),
            output: sum.output.saturating_add(entry.usage.output),
            reasoning: sum.reasoning.saturating_add(entry.usage.reasoning),
        })
    }

    /// The entries that cost something.
    pub fn charged(&self) -> impl Iterator<Item = &BillEntry> {
        self.entries.iter().filter(|entry| entry.charged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_rounded_once_and_upwards() {
        let price = Price { input: 1, cache_read: 1, cache_write: 1, output: 1 };
        let one = Usage { input: 1, cache_read: 1, cache_write: 1, output: 1, reasoning: 1 };
        assert_eq!(price.of(&one), 1);
        assert_eq!(price.of(&Usage::default()), 0);
        assert_eq!(price.of(&Usage { input: 1_000_001, ..Usage::default() }), 2);
        let most = Price { output: u64::MAX, ..Price::default() };
        let all = Usage { output: u64::MAX, ..Usage::default() };
        assert_eq!(most.of(&all), (u128::from(u64::MAX) * u128::from(u64::MAX)).div_ceil(1_000_000));
    }

    #[test]
    fn a_price_is_read_or_refused() {
        let read = Price::parse("input=3,output=15").unwrap();
        assert_eq!(read, Price { input: 3, cache_read: 0, cache_write: 0, output: 15 });
        assert_eq!(Price::parse("input=-3"), None);
        assert_eq!(Price::parse("inputs=3"), None);
        assert_eq!(Price::parse(""), None);
    }
}
