use std::sync::{Mutex, PoisonError};

use ambit_ports::runtime::{Entropy, IdGenerator};

/// Seeded chance (Steele, Lea and Flood, SplitMix64): small, and the same on every machine.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Dice that fall as `seed` says.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `sides`.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.bits() % sides
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.roll(times) == 0
    }

    /// One of several.
    ///
    /// # Panics
    /// Where there is none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let index = self.roll(from.len() as u64);
        &from[usize::try_from(index).unwrap()]
    }
}

/// Identifiers in a row: a letter, the seed, and a count. One generator serves every process of a world, as no
/// identifier may come twice in any of them.
#[derive(Debug)]
pub struct SimIds {
    seed: u64,
    made: Mutex<u64>,
}

impl SimIds {
    /// Identifiers of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed, made: Mutex::new(0) }
    }
}

impl IdGenerator for SimIds {
    fn next(&self) -> String {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        *made += 1;
        format!("s{:x}-{:06}", self.seed, *made)
    }
}

/// Chance that a seed decides.
#[derive(Debug)]
pub struct SimEntropy(Mutex<Dice>);

impl SimEntropy {
    /// The chance of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(Mutex::new(Dice::new(seed)))
    }
}

impl Entropy for SimEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        let mut dice = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&dice.bits().to_le_bytes()[..chunk.len()]);
        }
    }
}
