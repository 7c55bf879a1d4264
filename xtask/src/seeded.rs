//! Choices that the same seed repeats: `SplitMix64` (Steele, Lea and Flood, 2014).

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// A seed that no earlier run had.
pub(crate) fn fresh_seed() -> u64 {
    RandomState::new().hash_one(0_u8) >> 32
}

/// The seed of a content: whoever runs the same content again repeats every choice. FNV-1a (Fowler, Noll and Vo).
pub(crate) fn seed_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> u64 {
    let bytes = texts.into_iter().flat_map(|text| text.bytes().chain([0]));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash >> 32
}

pub(crate) struct Seeded {
    state: u64,
}

impl Seeded {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// An index below `bound`; 0 where `bound` is 0. The bias of the remainder is past what anything here can see.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = bound.max(1) as u64;
        usize::try_from(self.next() % bound).unwrap_or(0)
    }

    /// `count` of the items, each at most once, in their own order.
    pub(crate) fn sample<T>(&mut self, items: Vec<T>, count: usize) -> Vec<T> {
        let mut wanted = count.min(items.len());
        let mut left = items.len();
        let mut chosen = Vec::with_capacity(wanted);
        for item in items {
            if self.below(left) < wanted {
                wanted -= 1;
                chosen.push(item);
            }
            left -= 1;
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        let mut seeded = Seeded::new(1_234_567);
        assert_eq!([seeded.next(), seeded.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    /// Whatever cargo starts in this workspace has it, these tests too.
    #[test]
    fn the_tests_of_properties_have_a_seed_that_can_be_named() {
        let seed = std::env::var("PROPTEST_RNG_SEED").unwrap();
        assert!(seed.parse::<u64>().is_ok(), "{seed}");
    }

    #[test]
    fn a_seed_follows_from_the_content() {
        assert_eq!(
            seed_of(["foobar"]),
            0x3453_1ca7,
            "the upper half of the hash of seven bytes, a zero last"
        );
        assert_ne!(seed_of(["ab", "c"]), seed_of(["a", "bc"]));
    }

    #[test]
    fn a_sample_repeats_has_its_size_and_reaches_every_item() {
        let all: Vec<u32> = (0..50).collect();
        assert_eq!(Seeded::new(7).sample(all.clone(), 10), Seeded::new(7).sample(all.clone(), 10));
        let mut seen = [false; 50];
        for seed in 0..200 {
            let sample = Seeded::new(seed).sample(all.clone(), 10);
            assert_eq!(sample.len(), 10);
            assert!(sample.windows(2).all(|pair| pair[0] < pair[1]));
            sample.iter().for_each(|item| seen[*item as usize] = true);
        }
        assert_eq!(seen, [true; 50]);
        assert_eq!(Seeded::new(1).sample(all, 80).len(), 50);
    }
}
